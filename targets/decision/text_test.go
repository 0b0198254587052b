package decision_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/decision"
)

// A decision is added to a configuration that people wrote, and nothing else of it changes.
func TestAppend(t *testing.T) {
	d := decision.Decision{
		ID: "A-1", Kind: schema.Accept, Release: "v2", Reason: `"quoted": # yes`, Owner: "o",
		Select: decision.Select{Model: "m*: x", Metric: "{ttft,e2el}"},
	}
	item := func(indent string) string {
		return strings.ReplaceAll(`|- id: A-1
|  kind: accept
|  release: "v2"
|  select: {model: "m*: x", metric: "{ttft,e2el}"}
|  reason: "\"quoted\": # yes"
|  owner: "o"
`, "|", indent)
	}
	for name, c := range map[string][2]string{
		"nothing":    {"", "decisions:\n" + item("  ")},
		"no list":    {"title: x", "title: x\ndecisions:\n" + item("  ")},
		"empty list": {"decisions: []\ntitle: x\n", "decisions: \n" + item("  ") + "title: x\n"},
		"a list": {
			"decisions:   # ours\n  - id: D\n    kind: pin\n\n# about the title\ntitle: x\n",
			"decisions:   # ours\n  - id: D\n    kind: pin\n" + item("  ") + "\n# about the title\ntitle: x\n",
		},
		"not indented": {"decisions:\n- id: D\n  kind: pin\ntitle: x\n", "decisions:\n- id: D\n  kind: pin\n" + item("") +
			"title: x\n"},
		"at the end": {"decisions:\n    - id: D\n      kind: pin", "decisions:\n    - id: D\n      kind: pin\n" +
			item("    ")},
		"only a key":    {"decisions:", "decisions:\n" + item("  ")},
		"within a text": {"title: |\n  decisions:\n", "title: |\n  decisions:\ndecisions:\n" + item("  ")},
	} {
		if got, err := decision.Append(c[0], []decision.Decision{d}); err != nil || got != c[1] {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c[1])
		}
	}
	for _, flow := range []string{"decisions: [{id: D}]\n", "decisions: &a\n  - id: D\n", "\"decisions\":\n  - id: D\n"} {
		if got, err := decision.Append(flow, []decision.Decision{d}); !errors.Is(err, decision.ErrNotByHand) {
			t.Errorf("%q is extended: %v %s", flow, err, got)
		}
	}
}
