package manifest_test

import (
	"slices"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// What was quoted is split into the same words.
func TestQuoteAndSplitAgree(t *testing.T) {
	for _, argv := range [][]string{{"a"}, {"a b", "c"}, {"", "x"}, {`{"k":"v"}`, "$HOME", "a;b"}, {"isl=1,osl=2"}, {"tab\there", "!now"}} {
		got, err := manifest.Split(manifest.Quote(argv))
		if err != nil || !slices.Equal(got, argv) {
			t.Errorf("%q became %q, %v", argv, got, err)
		}
	}
	if words, err := manifest.Split(`vllm serve 'a b`); err == nil || len(words) != 3 {
		t.Errorf("an open quotation mark: %q, %v", words, err)
	}
}
