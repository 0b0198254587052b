package parity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// blocker is a finding that rejects the release, or would.
type blocker struct{ Key, Message, Reason string }

// acceptance is what the gate came to, in the terms of a report.
type acceptance struct {
	Accepted, Ungraded              bool
	Status                          string   // of the model, as declared
	Enforced, Above                 []string // levels that the status requires, and the others
	Blockers, Informational, Masked []blocker
}

// Keys of a blocker in v0.17. What history and lints find has keys of its own: their reports compare with no release.
const (
	keyBenchmark = "benchmarks."
	keyEval      = "evals."
	keyTest      = "parameter_support_tests."
	keyHistory   = "history."
	keyLint      = "lint."
)

func (in *Input) acceptance(evals []eval) acceptance {
	a := acceptance{Accepted: in.Review.Result.Word != gate.Fail && in.Review.Result.Word != gate.NotGraded,
		Ungraded: in.Review.Result.Word == gate.NotGraded,
		Status:   in.fact(func(r *schema.Run) string { return r.Model.Status })}
	required := func(level string) bool { return judge.Required(a.Status, level) }
	a.Above = slices.DeleteFunc(schema.Levels(), required)
	a.Enforced = slices.DeleteFunc(schema.Levels(), func(level string) bool { return !required(level) })
	in.find(&a, evals)
	if !a.Accepted && !a.Ungraded && len(a.Blockers) == 0 { // such as one of a whole device
		a.Blockers = []blocker{{keyHistory + "decision", words.Decide(in.Review.Result).Detail, ""}}
	}
	for _, list := range [][]blocker{a.Blockers, a.Informational, a.Masked} {
		seen := map[string]int{}
		for i := range list { // equal keys are made to differ: a map has room for one
			key := list[i].Key
			if seen[key]++; seen[key] > 1 {
				list[i].Key += fmt.Sprintf(" (%d)", seen[key])
			}
		}
	}
	return a
}

// find adds the findings of verdicts and lints.
func (in *Input) find(a *acceptance, evals []eval) {
	fails := map[gate.Kind]bool{}
	for _, c := range in.Review.Result.Counts {
		fails[c.Kind] = c.Fails
	}
	first := "" // of the workloads that the summary of v0.17 has
	if list := in.summaryRows(); len(list) > 0 {
		first = list[0].key.String()
	}
	for _, v := range slices.Concat(in.Review.Targets, in.Review.History) {
		b := blocker{in.keyOf(&v, first), messageOf(v, evals), ""}
		switch kind := gate.KindOf(&v); {
		case kind != "" && kind != gate.NoCase && v.Decision.Excuses():
			b.Reason = v.Decision.Reason
			a.Masked = append(a.Masked, b)
		case fails[kind]:
			a.Blockers = append(a.Blockers, b)
		case v.Outcome == schema.Fail && !v.Required:
			a.Informational = append(a.Informational, b)
		}
	}
	for _, l := range in.Review.Lints { // those that make numbers invalid
		if fails[gate.FailInvalid] && l.Severity == schema.SevError && l.Decision == nil {
			a.Blockers = append(a.Blockers, blocker{keyLint + string(l.ID), words.Lint(l), ""})
		}
	}
}

// keyOf names a finding. Of several workloads the key says which, because a map has room for one.
func (in *Input) keyOf(v *schema.Verdict, first string) string {
	media := schema.IsMediaTask(v.Key.Task)
	switch {
	case v.Against != schema.AgainstTarget:
		return keyHistory + words.Subject(v) + "." + cmp.Or(v.Metric, "all")
	case schema.CategoryOf(v) == schema.Evals:
		return keyEval + v.Key.Dataset
	case schema.CategoryOf(v) == schema.Conformance:
		return keyTest + v.Key.Dataset
	}
	name := (&check{*v}).name()
	if name == "tput_user" && media && v.Key.Task != "embedding" {
		name = "tput"
	}
	key := keyBenchmark + cmp.Or(v.Level, "planned") + "." + name + "_check"
	if !media && first != "" && first != v.Key.String() {
		key += " (" + strings.TrimSpace(v.Key.Workload()+" "+v.Key.Tool) + ")"
	}
	return key
}

func messageOf(v schema.Verdict, evals []eval) string {
	v.Decision = nil // the reports have its reason beside the message
	i := slices.IndexFunc(evals, func(e eval) bool { return e.task == v.Key.Dataset })
	switch category := schema.CategoryOf(&v); {
	case v.Against != schema.AgainstTarget || v.Metric == "":
	case category == schema.Evals && i >= 0:
		return evals[i].failure()
	case category == schema.Benchmarks:
		return check{v}.failure()
	}
	return words.Why(v)
}

// Word is the decision; a release of which nothing was graded is not accepted.
func (a *acceptance) Word() string {
	switch {
	case a.Ungraded:
		return "NA"
	case a.Accepted:
		return "PASS"
	}
	return "FAIL"
}

func messages(list []blocker) object {
	out := object{}
	for _, b := range list {
		out.Add(b.Key, b.Message)
	}
	return out
}
