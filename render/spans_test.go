package render_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/render"
)

// Names in a headline are links where they stand whole, the longest first.
func TestSpans(t *testing.T) {
	links := render.Links{
		{Text: "v0.3", Href: "3"}, {Text: "v0.33.0", Href: "33"}, {Text: "m", Href: "m"}, {Text: "m on d", Href: "md"},
	}
	for text, want := range map[string]string{
		"m on d is slower since v0.33.0.": "[m on d] is slower since [v0.33.0].",
		"m on dev since v0.30.":           "[m] on dev since v0.30.",
		"em, m; v0.3":                     "em, [m]; [v0.3]",
		"ém":                              "ém",
		"":                                "",
	} {
		var b strings.Builder
		for _, s := range links.In(text) {
			if s.Href != "" {
				s.Text = "[" + s.Text + "]"
			}
			b.WriteString(s.Text)
		}
		if b.String() != want {
			t.Errorf("%q: %q, want %q", text, b.String(), want)
		}
	}
}
