package judge

import (
	"fmt"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// promptDiffers returns why two scores answer different questions, are of the model in other numbers, or may be on
// different scales; or "".
func promptDiffers(a, b *columns.ScoreRow) string {
	switch {
	case a.Outcomes != nil && b.Outcomes != nil && a.Outcomes.Items != b.Outcomes.Items:
		return "the questions or their prompts differ"
	case a.Fewshot != nil && b.Fewshot != nil && *a.Fewshot != *b.Fewshot:
		return fmt.Sprintf("few-shot %d → %d", *a.Fewshot, *b.Fewshot)
	case a.Version != "" && b.Version != "" && a.Version != b.Version:
		return "task version " + a.Version + " → " + b.Version
	}
	if _, _, known := scalesOf(&a.Score, &b.Score); !known && isShare(&a.Score) && isShare(&b.Score) {
		return "one of them may be in percent and the other a fraction"
	}
	for _, name := range schema.ModelSettings() {
		x, y := a.Unknown.Text(name), b.Unknown.Text(name)
		if x != "" && y != "" && x != y {
			return name + " " + x + " → " + y
		}
	}
	return ""
}
