package judge_test

import (
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// untilDay lets runs begin and end on days.
func untilDay(h *columns.RunHead, from, to int) {
	h.Start, h.End = judgetest.Day(from), judgetest.Day(to)
}

func setting(text ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i < len(text); i += 2 {
		out[text[i]] = text[i+1]
	}
	return out
}

// pairedWith judges a history whose newest release is slower, with a pair that clears it, and which states more: of the
// pair, and of the runs of both releases.
func pairedWith(
	t *testing.T, conditions [2]columns.Conditions, pair func(baseline, candidate *columns.RunHead),
	releases func(before, newest *columns.RunHead),
) (schema.Verdict, []judge.Refused) {
	t.Helper()
	x := turnsOn(3, 1.12, 1)
	x.Conditions, x.State = conditions, pair
	c := judgetest.History{TTFT: historyOf(1.12)}.Columns()
	if releases != nil {
		releases(&c.Runs[8], &c.Runs[9])
	}
	j := judged(t, judgetest.InTurns(c, x), nil)
	at := judge.Named(j.Releases, "v9")
	return judgetest.Find(j.History(at), judgetest.Workload(4)), j.RefusedPairs(at)
}

// A pair speaks for a release only where nothing that its runs state contradicts it: two runs that were not measured in
// turns on one machine, under one load, of the builds that both releases are, are no pair. Each is refused with why.
func TestPairsThatAreNone(t *testing.T) {
	type heads = func(a, b *columns.RunHead)
	none := [2]columns.Conditions{}
	for name, c := range map[string]struct {
		conditions     [2]columns.Conditions
		pair, releases heads
		kind           schema.MismatchKind
		fact, a, b     string
	}{
		"two machines": {none, func(a, b *columns.RunHead) {
			a.Setting, b.Setting = setting("host", "lab-1"), setting("host", "lab-2")
		}, nil, schema.MismatchPlace, "host", "lab-1", "lab-2"},
		"two firmwares": {none, func(a, b *columns.RunHead) { a.Firmware, b.Firmware = "80.10", "80.11" }, nil,
			schema.MismatchPlace, "firmware", "80.10", "80.11"},
		"one after the other": {none, func(a, b *columns.RunHead) { untilDay(a, 100, 101); untilDay(b, 102, 103) }, nil,
			schema.MismatchTimes, "", "2026-04-10 00:00:00 to 2026-04-11 00:00:00",
			"2026-04-12 00:00:00 to 2026-04-13 00:00:00"},
		"two clients": {[2]columns.Conditions{{columns.ToolVersion: "2"}, {columns.ToolVersion: "3"}}, nil, nil,
			schema.MismatchLoad, columns.ToolVersion, "2", "3"},
		"two loads": {[2]columns.Conditions{{"ignore_eos": "true"}, {"ignore_eos": "false"}}, nil, nil,
			schema.MismatchLoad, "ignore_eos", "true", "false"},
		"another candidate": {none, func(a, b *columns.RunHead) { b.Digest = "sha256:c" },
			func(a, b *columns.RunHead) { a.Digest, b.Digest = "sha256:a", "sha256:b" }, schema.MismatchBuild, "digest",
			"sha256:b", "sha256:c"},
		"another baseline": {none, func(a, b *columns.RunHead) { a.Version, b.Version = "0.7", "0.9" },
			func(a, b *columns.RunHead) { a.Version, b.Version = "0.8", "0.9" }, schema.MismatchBuild, "version",
			"0.8", "0.7"},
		"another commit": {none,
			func(a, b *columns.RunHead) { b.Commits = map[string]string{"vllm": "abcdef1"} },
			func(a, b *columns.RunHead) { b.Commits = map[string]string{"vllm": "1234567"} }, schema.MismatchBuild,
			"commit of vllm", "1234567", "abcdef1"},
		"one build twice": {none, func(a, b *columns.RunHead) {
			a.Setting, b.Setting = setting("server", "serve --port 8000"), setting("server", "serve --port 8000")
		}, nil, schema.MismatchSame, "", "serve --port 8000", "serve --port 8000"},
		"one image twice": {none, func(a, b *columns.RunHead) { a.Digest, b.Digest = "sha256:a", "sha256:a" }, nil,
			schema.MismatchSame, "", "sha256:a", "sha256:a"},
	} {
		v, refused := pairedWith(t, c.conditions, c.pair, c.releases)
		if r, ok := v.Reason.(schema.Change); !ok || r.Why == schema.WhyInTurns || v.Outcome == schema.Unchanged {
			t.Errorf("%s: %s %s %+v", name, v.Outcome, v.Evidence, v.Reason)
		}
		if len(refused) != 1 || refused[0].Kind != c.kind || refused[0].Fact != c.fact || refused[0].A != c.a ||
			refused[0].B != c.b {
			t.Errorf("%s: %+v", name, refused)
		}
	}
}

// What only one of them states, or another source writes otherwise, contradicts nothing.
func TestPairsThatAreSound(t *testing.T) {
	type heads = func(a, b *columns.RunHead)
	for name, c := range map[string]struct{ pair, releases heads }{
		"nothing is stated": {},
		"one machine at one time": {pair: func(a, b *columns.RunHead) {
			untilDay(a, 100, 102)
			untilDay(b, 100, 102)
			a.Setting, b.Setting = setting("host", "lab-1"), setting("host", "lab-1")
		}},
		"an interrupted one": {pair: func(a, b *columns.RunHead) {
			untilDay(a, 100, 101)
			b.Start = b.Start.Add(72 * time.Hour)
		}},
		"one states its host": {pair: func(a, b *columns.RunHead) { a.Setting = setting("host", "lab-1") }},
		"its builds": {
			func(a, b *columns.RunHead) {
				a.Version, b.Version = "0.8.0+cu126", "v0.9.0"
				a.Commits, b.Commits = map[string]string{"vllm": "abcdef1"}, map[string]string{"vllm": "1234567"}
				a.Setting, b.Setting = setting("server", "serve --port 1"), setting("server", "serve --port 1")
			},
			func(a, b *columns.RunHead) {
				a.Version, b.Version = "0.8.0", "0.9.0"
				a.Commits, b.Commits = map[string]string{"vllm": "abcdef1234"}, map[string]string{"vllm": "1234567890"}
			},
		},
		"another command": {pair: func(a, b *columns.RunHead) {
			a.Setting, b.Setting = setting("server", "./old --port 1"), setting("server", "./new --port 1")
		}},
	} {
		v, refused := pairedWith(t, [2]columns.Conditions{}, c.pair, c.releases)
		if r, ok := v.Reason.(schema.Change); !ok || r.Why != schema.WhyInTurns || v.Outcome != schema.Unchanged ||
			len(refused) > 0 {
			t.Errorf("%s: %s %+v, %+v", name, v.Outcome, v.Reason, refused)
		}
	}
}
