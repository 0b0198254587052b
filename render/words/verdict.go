package words

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Verdict is a verdict's outcome with its evidence: "regressed, suspected".
func Verdict(v *schema.Verdict) string { return OutcomeText(v.Outcome, v.Evidence) }

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

// OnDevice names a model on a device.
func OnDevice(model, device string) string { return OrUnknown(model) + " on " + OrUnknown(device) }

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
