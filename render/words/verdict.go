package words

import (
	"cmp"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate"
)

// Verdict is a verdict's outcome with its evidence: "regressed, suspected".
func Verdict(v *schema.Verdict) string {
	return cmp.Or(OwnWord(v), OutcomeText(v.Outcome, v.Evidence))
}

// NotMeasuredAgain is the word for what an earlier release measured and this one left out. "Missing" is what was
// required, planned or tried and has no number: that fails a release, this does not by itself.
const NotMeasuredAgain = "not measured again"

// OwnWord is the word of a verdict that its outcome does not have; "" where the outcome is the word.
func OwnWord(v *schema.Verdict) string {
	switch gate.KindOf(v) {
	case gate.FailNotRemeasured, gate.FailAbsent:
		return NotMeasuredAgain
	}
	return ""
}

// OutcomeText is an outcome with its evidence, where it has any.
func OutcomeText(o schema.Outcome, e schema.Evidence) string {
	if e == "" {
		return string(o)
	}
	return string(o) + ", " + string(e)
}

// OrUnknown names what nobody stated.
func OrUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// OnDevice names a model on a device; "on unknown" would read as a name.
func OnDevice(model, device string) string {
	if model == "" {
		model = "an unknown model"
	}
	return model + " on " + Device(device)
}

// Device names a device, also behind "on".
func Device(name string) string { return cmp.Or(name, "an unknown device") }

// Capital begins a sentence.
func Capital(s string) string {
	if s == "" {
		return s
	}
	r := []rune(s)
	return strings.ToUpper(string(r[0])) + string(r[1:])
}

// Fact is a named number of a reason.
type Fact struct{ Name, Text string }

// Facts are the numbers of a reason, by name, as data files have them.
func Facts(r schema.Reason) []Fact {
	data, err := json.Marshal(r)
	if err != nil {
		return nil // a reason holds finite numbers and text
	}
	var fields map[string]any
	if json.Unmarshal(data, &fields) != nil {
		return nil
	}
	var out []Fact
	for name, v := range fields {
		out = append(out, Fact{name, fmt.Sprint(v)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}
