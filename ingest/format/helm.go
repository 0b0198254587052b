// This file reads the stats.json of Stanford's HELM: a list of statistics, each with a name, a split and a mean.
// The folder of the run states the task and the model: "mmlu:subject=anatomy,model=acme_m". Of the statistics those of
// answers on the test split without perturbations are scores.

package format

import (
	"path"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// HELM is the format: a statistic with a nested name.
var HELM = draft.Format{
	Name: "helm", Detail: "statistics of a scenario", Wants: draft.Wants(`0.name.name""`, "0.count&0.sum"), All: readHELM,
}

// helmScores are the statistics that grade answers.
var helmScores = draft.Names(`exact_match quasi_exact_match prefix_exact_match quasi_prefix_exact_match
	exact_match_indicator final_number_exact_match f1_score classification_macro_f1 classification_micro_f1 rouge_1 rouge_2
	rouge_l bleu_1 bleu_4 math_equiv math_equiv_chain_of_thought code_eval_acc pass ndcg_10 RR@10`)

func readHELM(f *decode.File, r *schema.Reading) {
	task, args, _ := strings.Cut(path.Base(path.Dir(f.Folders())), ":")
	between := ":"
	for arg := range strings.SplitSeq(args, ",") {
		if id, ok := strings.CutPrefix(arg, "model="); ok {
			r.Facts.Model.ID = strings.Replace(id, "_", "/", 1)
		} else if arg != "" {
			task, between = task+between+arg, ","
		}
	}
	items := 0
	for s := range f.First.Items() {
		name := s.Get("name")
		metric, x := name.Get("name").Str(), s.Get("mean").Ptr()
		switch {
		case name.Get("split").Str() != "test":
		case metric == "num_instances":
			items = max(int(s.Get("mean").Float0()), 0)
		case x != nil && helmScores(metric) && !name.Has("perturbation"):
			draft.Score(f, r, task, metric, *x)
		}
	}
	for i := range r.Scores {
		r.Scores[i].N = items
	}
}
