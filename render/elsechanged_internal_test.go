package render

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

// What differs where a change began is said whole: the measurement, then the build.
func TestWhatElseChangedIsSaid(t *testing.T) {
	const image = "registry.example.com/team/inference-server/vllm-tt-metal-src-release-ubuntu-22.04-amd64:"
	const build = "image " + image + "0.7.0-4ab12cd0007 → " + image + "0.8.0-4ab12cd0008, version 0.7.0 → 0.8.0"
	for _, x := range []struct {
		c    schema.Change
		want string
	}{
		{schema.Change{}, "Nothing else is stated to differ."},
		{schema.Change{Build: build}, "I" + build[1:] + "."},
		{schema.Change{Differs: "num_prompts 100 → 400", Build: "version 1 → 2"}, "Num_prompts 100 → 400; version 1 → 2."},
		{schema.Change{SameBuild: "digest 0123456789ab"}, "The same build: digest 0123456789ab."},
	} {
		if got := elseChanged(x.c); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

// The beginning of a text is at least half of what there is room for, whatever its words.
func TestOpening(t *testing.T) {
	long := strings.Repeat("x", 200)
	for s, want := range map[string]string{
		"one two three four":     "one two…",
		"a " + long:              "a " + long[:8] + "…",
		"short":                  "short",
		" " + long:               " " + long[:9] + "…",
		"ééééé " + long:          "ééééé…",
		strings.Repeat("é", 200): strings.Repeat("é", 10) + "…",
	} {
		if got := opening(s, 10); got != want {
			t.Errorf("%.30q: %q, want %q", s, got, want)
		}
	}
}
