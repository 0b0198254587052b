package listing_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/listing"
)

// Files of which nothing was read are no answer without problems: what they resemble is named.
func TestNothingWasRead(t *testing.T) {
	for name, c := range map[string]struct {
		files []ingest.File
		want  []string
	}{
		"texts": {[]ingest.File{{Path: "a.txt", Format: ingest.NotResult}},
			[]string{"Nothing was read", "ttreport help files"}},
		"unknown": {[]ingest.File{{Path: "a", Format: ingest.Unknown, Detail: "x"}},
			[]string{"Nothing was read", "Nearest: x (1 file)"}},
		"results": {[]ingest.File{{Path: "a", Format: "vllm-serve", Points: 1}}, []string{"1 point", "no problems"}},
		"beside":  {[]ingest.File{{Path: "a", Format: "nm-vllm-copy"}}, []string{"0 points", "no problems"}},
	} {
		var b strings.Builder
		listing.Write(&b, ingest.Set{Files: c.files}, false)
		first, _, _ := strings.Cut(b.String(), "\n")
		for _, want := range c.want {
			if !strings.Contains(first, want) {
				t.Errorf("%s: %q lacks %q", name, first, want)
			}
		}
	}
}
