package helm

import (
	"path"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Format is the name of the format.
const Format = "helm"

// Detect asks for a statistic with a nested name.
func Detect(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Format, Detail: "statistics of a scenario"}}
	one := f.First.Index(0)
	m.Want(one.Get("name").Get("name").Kind() == decode.String, "[].name.name")
	m.Want(one.Has("count") && one.Has("sum"), "[].count and [].sum")
	return m.Match
}

// scores are the statistics that grade answers.
const scores = " exact_match quasi_exact_match prefix_exact_match quasi_prefix_exact_match exact_match_indicator " +
	"final_number_exact_match f1_score classification_macro_f1 classification_micro_f1 rouge_1 rouge_2 rouge_l bleu_1 " +
	"bleu_4 math_equiv math_equiv_chain_of_thought code_eval_acc pass ndcg_10 RR@10 "

// Read returns a score for each statistic that grades answers.
func Read(f *decode.File) schema.Reading {
	r := schema.Reading{Format: Format, Detail: "statistics of a scenario"}
	task, model := run(path.Base(path.Dir(f.Path)))
	r.Facts.Model.ID = model
	items := 0
	for s := range f.First.Items() {
		if s.At("name", "name").Str() == "num_instances" && s.At("name", "split").Str() == "test" {
			items = int(s.Get("mean").Float0())
		}
	}
	for s := range f.First.Items() {
		name := s.Get("name")
		x, ok := s.Get("mean").Float()
		if !ok || !strings.Contains(scores, " "+name.Get("name").Str()+" ") || name.Get("split").Str() != "test" ||
			name.Has("perturbation") {
			continue
		}
		r.Scores = append(r.Scores, schema.Score{
			Task: task, Metric: name.Get("name").Str(), Value: schema.Num(x), N: max(items, 0),
			Stderr: schema.Missing("not in the file"), Source: f.Source(r.Format),
		})
	}
	return r
}

// run reads task and model from the name of a run: "mmlu:subject=anatomy,model=acme_m".
func run(folder string) (task, model string) {
	name, rest, _ := strings.Cut(folder, ":")
	var kept []string
	for _, arg := range strings.Split(rest, ",") {
		if id, ok := strings.CutPrefix(arg, "model="); ok {
			model = strings.Replace(id, "_", "/", 1)
		} else if arg != "" {
			kept = append(kept, arg)
		}
	}
	if len(kept) > 0 {
		name += ":" + strings.Join(kept, ",")
	}
	return name, model
}
