package render

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// The revision of the weights is no commit of the software: it gets no link to the engine's repository, and does not
// take that link from the engine.
func TestCommitOfASoftware(t *testing.T) {
	links := CommitLinks{Commit: map[string]string{"": "https://github.com/o/r/commit/{commit}"}}
	r := &Report{Input: Input{Commits: links}}
	for _, c := range []struct {
		commits    map[string]string
		text, href string
	}{
		{map[string]string{"model": "aaaaaaaaaa"}, "", ""},
		{map[string]string{"model": "aaaaaaaaaa", "vllm": "bbbbbbbbbb"}, "bbbbbbb",
			"https://github.com/o/r/commit/bbbbbbbbbb"},
		{map[string]string{"tt_metal": "cccccccccc", "vllm": "bbbbbbbbbb"}, "ccccccc", ""}, // whose link it is, is not known
	} {
		got := r.runCommit(&columns.RunHead{Commits: c.commits})
		if got.Text != c.text || string(got.Href) != c.href {
			t.Errorf("%v: %q, %q", c.commits, got.Text, got.Href)
		}
	}
}
