package judge

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Scores of a model in other numbers, or with other lists of shots, are not compared. Who does not state that it was
// loaded in 8 bit did not load it so, where one tool wrote both; of two tools that is not known.
func TestPromptDiffers(t *testing.T) {
	score := func(format string, unknown schema.Unknown) *columns.ScoreRow {
		return &columns.ScoreRow{Score: schema.Score{Task: "mgsm", Metric: "acc", Value: schema.Num(.5), Unknown: unknown,
			Source: schema.Source{Format: format}}}
	}
	bits := schema.Unknown{"load_in_8bit": schema.JSONString("true")}
	list := func(text string) schema.Unknown { return schema.Unknown{"num_fewshot": schema.JSONString(text)} }
	for _, c := range []struct {
		a, b *columns.ScoreRow
		want string
	}{
		{score("lm-eval", nil), score("lm-eval", bits), "load_in_8bit false → true"},
		{score("lm-eval", nil), score("lm-eval", schema.Unknown{schema.Settings: schema.JSONString("temperature=0.6")}),
			"settings none → temperature=0.6"},
		{score("lm-eval", bits), score("lm-eval", bits), ""},
		{score("lm-eval", schema.Unknown{"load_in_8bit": schema.JSONString("False")}), score("lm-eval", nil), ""},
		{score("lighteval", nil), score("lm-eval", bits), ""},
		{score("lm-eval", list("[3,3,2]")), score("lm-eval", list("[2,3,2]")), "num_fewshot [3,3,2] → [2,3,2]"},
		{score("lm-eval", list("[3]")), score("lm-eval", nil), ""},
	} {
		if got := promptDiffers(c.a, c.b); got != c.want {
			t.Errorf("%v, %v: %q, want %q", c.a.Unknown, c.b.Unknown, got, c.want)
		}
	}
}

// The metric that papers report stands for a task, however a harness spells it; that of a report's score before any.
func TestEvalRank(t *testing.T) {
	row := func(metric string, unknown schema.Unknown) *columns.ScoreRow {
		return &columns.ScoreRow{Score: schema.Score{Metric: metric, Unknown: unknown}}
	}
	for _, c := range [][2]string{{"mean_prompt_level_strict", "mean_inst_level_loose"},
		{"prompt_level_strict_acc", "acc_norm"}, {"mean_acc", "mean_is_correct"},
		{"exact_match", "prompt_level_strict_acc"}} {
		if evalRank(row(c[0], nil)) >= evalRank(row(c[1], nil)) {
			t.Error(c)
		}
	}
	headline := schema.Unknown{schema.Headline: schema.JSONString("true")}
	if evalRank(row("mean_turn_1_prompt_level_strict", headline)) >= evalRank(row("exact_match", nil)) {
		t.Error("the score of the report is not the first")
	}
}
