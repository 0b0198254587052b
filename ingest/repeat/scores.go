package repeat

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// FilterMark stands between the filter of a score and what tells it from others of the same name.
const FilterMark = " | "

// SeparateScores tells scores of one run apart that have one name and were asked for in different ways: with other
// shots, limits or versions of the task. It adds what differs to the filter, in place, and returns a problem for each
// name.
func SeparateScores(scores []schema.Score) []schema.Problem {
	type name struct{ task, metric, filter string }
	groups := map[name][]*schema.Score{}
	var order []name
	for i := range scores {
		s := &scores[i]
		filter, _, _ := strings.Cut(s.Filter, FilterMark)
		n := name{s.Task, s.Metric, filter}
		if len(groups[n]) == 0 {
			order = append(order, n)
		}
		groups[n] = append(groups[n], s)
	}
	var out []schema.Problem
	for _, n := range order {
		group := groups[n]
		for _, s := range group {
			s.Filter = n.filter
		}
		if len(group) < 2 {
			continue
		}
		values := make([]map[string]string, len(group))
		for i, s := range group {
			values[i] = asked(s)
		}
		names := differing(values)
		for _, what := range names {
			for i, s := range group {
				if v := values[i][what]; v != "" {
					s.Filter += FilterMark + what + " " + v
				}
			}
		}
		if len(names) > 0 {
			out = append(out, schema.Problem{
				Severity: schema.SevNote, Path: group[0].Source.Path, Code: "told-apart",
				Found:    fmt.Sprintf("%d scores of %s with different %s", len(group), n.task, strings.Join(names, ", ")),
				Expected: "repeats to agree in what was asked", Used: "each under a name of its own",
			})
		}
	}
	return out
}

// asked is how a score was asked for.
func asked(s *schema.Score) map[string]string {
	out := map[string]string{}
	if s.Fewshot != nil {
		out["shots"] = strconv.Itoa(*s.Fewshot)
	}
	if s.Limit != nil {
		out["limit"] = strconv.FormatFloat(*s.Limit, 'g', -1, 64)
	}
	if s.Version != "" {
		out["version"] = s.Version
	}
	return out
}
