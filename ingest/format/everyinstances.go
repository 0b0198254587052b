// This file reads the instances of Every Eval Ever (instance_level_eval.schema.json 0.2): a line an answer, with its
// question, the model, and whether it is correct. They give an accuracy and its error, and which questions were right.
//
// Traps: a question may be asked several times, and nothing says which answer is which; texts are never kept.

package format

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

type everyAnswer struct {
	id, hash string
	right    bool
}

func readEveryInstances(f *decode.File, out *schema.Reading) {
	type eval struct{ model, name string }
	answers, order, without := map[eval][]everyAnswer{}, []eval{}, 0
	for v := range f.Values() {
		of := eval{v.Get("model_id").Str(), v.Get("evaluation_name").Str()}
		right, ok := v.At("evaluation", "is_correct").Truth()
		if !ok || of.name == "" || len(answers[of]) == decode.MostItems {
			without++
			continue
		}
		if answers[of] == nil {
			order = append(order, of)
		}
		answers[of] = append(answers[of], everyAnswer{v.Get("sample_id").Text(), v.Get("sample_hash").Str(), right})
	}
	runs := draft.RunsOf[string](out)
	for _, of := range order[:min(len(order), f.Limits().Results+1)] {
		r := runs.Of(of.model, func() schema.Facts { return schema.Facts{Model: schema.Model{ID: of.model}} })
		everyAccuracy(draft.Score(f, r, of.name, "accuracy", 0), answers[of])
	}
	*out = runs.Join(out.Detail)
	if without > 0 {
		draft.Problem(f, out, schema.SevWarning, "no-outcome", decode.Value{},
			fmt.Sprintf("%d answers that are neither right nor wrong, or of no eval", without), "evaluation.is_correct",
			"the other answers")
	}
}

// everyAccuracy completes the score of some answers.
func everyAccuracy(s *schema.Score, list []everyAnswer) {
	slices.SortStableFunc(list, func(a, b everyAnswer) int { return strings.Compare(a.id, b.id) })
	ids, h, isTwice, n := make([]string, len(list)), sha256.New(), false, 0.
	outcomes := &schema.Outcomes{Right: make([]bool, len(list))}
	for i, x := range list {
		ids[i], outcomes.Right[i] = x.id, x.right
		isTwice = isTwice || i > 0 && x.id == list[i-1].id
		_, _ = fmt.Fprintf(h, "%q %q\n", x.id, x.hash) // a hash never fails
		if x.right {
			n++
		}
	}
	all := float64(len(list))
	p := n / all
	s.Value, s.N, s.Direction, s.From = schema.Num(p), len(list), "higher", schema.FromRecomputed
	if s.Stderr = schema.Missing("one item"); all > 1 {
		s.Stderr = schema.Num(math.Sqrt(p * (1 - p) / (all - 1)))
	}
	if outcomes.Items = hex.EncodeToString(h.Sum(nil))[:16]; !isTwice {
		s.Outcomes, s.Items = outcomes, ids
	}
}
