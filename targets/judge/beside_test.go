package judge_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// What else differs stands beside a change: how it was measured, what it was built from, or that nothing of the build
// differs.
func TestWhatElseDiffers(t *testing.T) {
	for name, c := range map[string]struct {
		change                 func(before, now *columns.RunHead)
		differs, build, shared string
	}{
		"nothing stated": {func(_, _ *columns.RunHead) {}, "num_prompts 100 → 400", "", ""},
		"an image": {func(a, b *columns.RunHead) { a.Image, b.Image = "x:1", "x:2" },
			"num_prompts 100 → 400", "image x:1 → x:2", ""},
		"firmware": {func(a, b *columns.RunHead) { a.Firmware, b.Firmware = "18.0", "18.1" },
			"num_prompts 100 → 400, firmware 18.0 → 18.1", "", ""},
		"the machine": {func(a, b *columns.RunHead) {
			a.Setting = map[string]string{"host": "a", "kernel": "6.1", "server_startup_s": "3"}
			b.Setting = map[string]string{"host": "b", "kernel": "6.1", "server_startup_s": "4"}
		}, "num_prompts 100 → 400, host a → b", "", ""},
		"other flags of one commit": {func(a, b *columns.RunHead) {
			a.Commits, b.Commits = map[string]string{"vllm": "aaaa"}, map[string]string{"vllm": "aaaa"}
			a.Setting, b.Setting = map[string]string{"server": "serve"}, map[string]string{"server": "serve --eager"}
		}, "num_prompts 100 → 400", "server serve → serve --eager", ""},
		"a commit": {func(a, b *columns.RunHead) {
			a.Commits, b.Commits = map[string]string{"vllm": "aaaa"}, map[string]string{"vllm": "bbbb"}
		}, "num_prompts 100 → 400", "commit vllm aaaa → bbbb", ""},
		"the same digest": {func(a, b *columns.RunHead) {
			a.Digest, b.Digest = "sha256:0123456789abcdef", "sha256:0123456789abcdef"
		}, "num_prompts 100 → 400", "", "digest 0123456789ab"},
		"the same image by its digest": {func(a, b *columns.RunHead) {
			a.Digest, b.Image = "sha256:0123456789abcdef", "x:2@sha256:0123456789abcdef"
		}, "num_prompts 100 → 400", "", "digest 0123456789ab"},
		"the same commit": {func(a, b *columns.RunHead) {
			a.Commits, b.Commits = map[string]string{"vllm": "aaaa"}, map[string]string{"vllm": "aaaa"}
		}, "num_prompts 100 → 400", "", ""},
		"the same commit in another image": {func(a, b *columns.RunHead) {
			a.Commits, b.Commits = map[string]string{"vllm": "aaaa"}, map[string]string{"vllm": "aaaa"}
			a.Image, b.Image = "x:1", "x:2"
		}, "num_prompts 100 → 400", "image x:1 → x:2", ""},
		"a pull request's claim": {func(a, b *columns.RunHead) {
			a.Digest, b.Digest = "sha256:0123456789abcdef", "sha256:0123456789abcdef"
			b.Release, b.Channel = "PR-1", schema.ChannelPR
		}, "num_prompts 100 → 400", "", ""},
		"the same model": {func(a, b *columns.RunHead) {
			a.Commits, b.Commits = map[string]string{"model": "aaaa"}, map[string]string{"model": "aaaa"}
		}, "num_prompts 100 → 400", "", ""},
		"changed without a commit": {func(a, b *columns.RunHead) {
			a.Commits, b.Commits, b.Dirty = map[string]string{"vllm": "aaaa"}, map[string]string{"vllm": "aaaa"}, true
		}, "num_prompts 100 → 400", "", ""},
	} {
		values := judgetest.Steady(6)
		values[5][3] *= 1.3
		few, many := columns.Conditions{"num_prompts": "100"}, columns.Conditions{"num_prompts": "400"}
		cols := judgetest.History{TTFT: values, Conditions: []columns.Conditions{few, few, few, few, few, many}}.Columns()
		c.change(&cols.Runs[4], &cols.Runs[5])
		v := judgetest.Find(judged(t, cols, nil).History(5), judgetest.Workload(4))
		why, _ := v.Reason.(schema.Change)
		if why.Differs != c.differs || why.Build != c.build || why.SameBuild != c.shared {
			t.Errorf("%s: %q, %q, %q", name, why.Differs, why.Build, why.SameBuild)
		}
		if same := name == "the same commit"; same != (why.SameCommit == "commit vllm aaaa") {
			t.Errorf("%s: %q", name, why.SameCommit)
		}
		if claims := name == "a pull request's claim"; claims != (why.StatedBuild != "") {
			t.Errorf("%s: stated %q", name, why.StatedBuild)
		}
	}
}
