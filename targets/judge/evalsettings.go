package judge

import (
	"encoding/json"
	"fmt"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// promptDiffers returns why two scores answer different questions, or are of the model in other numbers; or "".
func promptDiffers(a, b *columns.ScoreRow) string {
	switch {
	case a.Outcomes != nil && b.Outcomes != nil && a.Outcomes.Items != b.Outcomes.Items:
		return "the questions or their prompts differ"
	case a.Fewshot != nil && b.Fewshot != nil && *a.Fewshot != *b.Fewshot:
		return fmt.Sprintf("few-shot %d → %d", *a.Fewshot, *b.Fewshot)
	case a.Version != "" && b.Version != "" && a.Version != b.Version:
		return "task version " + a.Version + " → " + b.Version
	}
	for _, name := range schema.ModelSettings() {
		x, y := text(a.Unknown[name]), text(b.Unknown[name])
		if x != "" && y != "" && x != y {
			return name + " " + x + " → " + y
		}
	}
	return ""
}

// text is a stated setting, "" where it is not one.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
