package ingest

import (
	"path"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/aiperf"
	"github.com/ttreport/ttreport/ingest/format"
	"github.com/ttreport/ttreport/ingest/guidellm"
	"github.com/ttreport/ttreport/ingest/lmeval"
	"github.com/ttreport/ttreport/ingest/schema"
)

// joinParts merges a summary and its parts into one measurement, for tools that write both.
func joinParts(sources []*source) {
	byDir := map[string][]*source{}
	for _, s := range sources {
		dir := path.Dir(s.shown())
		byDir[dir] = append(byDir[dir], s)
	}
	summaries := map[string]bool{}
	for _, s := range sources {
		if s.reading.Format == format.LLMPerf.Name {
			summaries[llmperfStem(s)] = true
		}
	}
	for _, s := range sources {
		near := byDir[path.Dir(s.shown())]
		switch s.reading.Format {
		case aiperf.Records:
			joinRecords(s, near)
		case lmeval.Samples, format.EveryInstances:
			joinSamples(s, near)
		case format.EvalScopePercentiles, format.EvalScopeArguments:
			isOwn := func(o *source) bool { return o.reading.Format == format.EvalScope.Name && o.counts() }
			if i := slices.IndexFunc(near, isOwn); i >= 0 {
				format.CombineEvalScope(&near[i].reading, s.reading)
				s.drop(near[i].shown())
			} else { // percentiles and arguments alone are no result
				s.reading.Points = nil
			}
		case format.LLMPerfResponses:
			if !summaries[llmperfStem(s)] { // of their name, beside them or in another folder
				s.report(schema.Problem{
					Severity: schema.SevWarning, Path: s.shown(), Code: "records-of-nobody",
					Found: "the requests of a measurement without its summary", Used: "nothing of it",
					Hint: "llmperf writes both; keep them together",
				})
			}
		}
	}
	for _, s := range sources { // after records were joined: a table repeats whatever stands beside it
		if whole := wholeOf(s, byDir[path.Dir(s.shown())], sources); whole != "" {
			s.drop(whole)
		}
	}
}

// wholeOf is the file, or the folder of the files, that has the numbers of a table, a summary or an aggregate; "" where
// none has.
func wholeOf(s *source, near, all []*source) string {
	beside := func(is func(o *source) bool) string {
		if i := slices.IndexFunc(near, is); i >= 0 {
			return near[i].shown()
		}
		return ""
	}
	switch s.reading.Format {
	case aiperf.CSV, aiperf.GenAICSV:
		return beside(func(o *source) bool { return isSummaryOf(s, o) })
	case guidellm.Table: // of the report, which has more statistics
		return beside(func(o *source) bool {
			return o.reading.Format == guidellm.Format && o.stem() == s.stem() && o.counts()
		})
	case format.InferencePerf.Name: // the summary of all stages
		stage := beside(func(o *source) bool {
			return o.reading.Format == s.reading.Format && !format.IsInferencePerfSummary(o.rel)
		})
		if stage != "" && format.IsInferencePerfSummary(s.rel) {
			return path.Dir(stage)
		}
	case aiperf.Sweep: // of runs below the same folder
		sweep := path.Dir(path.Dir(s.shown()))
		for _, o := range all {
			if o.reading.Format == aiperf.Format && (sweep == "." || strings.HasPrefix(o.shown(), sweep+"/")) {
				return path.Dir(o.shown())
			}
		}
	}
	return ""
}

// isSummaryOf reports that AIPerf's table repeats a summary, or the records of a killed run, which has none.
func isSummaryOf(table, o *source) bool {
	format := o.reading.Format
	return (format == aiperf.Format || format == aiperf.GenAI || format == aiperf.Records && o.counts()) &&
		(isDefault(table) && isDefault(o) || aiperfStem(table) == aiperfStem(o))
}

// llmperfStem is what a summary of llmperf and its requests are both called.
func llmperfStem(s *source) string {
	return strings.TrimSuffix(strings.TrimSuffix(s.stem(), "_individual_responses"), "_summary")
}

// joinRecords merges AIPerf's records into the summary that they belong to: the one of the same name, or the only one
// in the folder. Records next to summaries of other names are a problem.
func joinRecords(s *source, near []*source) {
	var summaries []*source
	var own *source
	for _, o := range near {
		if o.reading.Format == aiperf.Format && o.counts() {
			summaries = append(summaries, o)
			if aiperfStem(o) == s.stem() {
				own = o
			}
		}
	}
	switch {
	case len(summaries) == 0:
		isTable := func(o *source) bool { return o.reading.Format == aiperf.CSV && o.counts() }
		if !slices.ContainsFunc(near, isTable) { // the table is written with the summary
			aiperf.Unfinished(&s.reading)
		}
		return
	case own == nil && len(summaries) == 1 && (isDefault(s) || isDefault(summaries[0])):
		own = summaries[0]
	case own == nil:
		s.report(schema.Problem{
			Severity: schema.SevWarning, Path: s.shown(), Code: "records-of-nobody",
			Found: "request records beside summaries of other names", Used: "the summaries alone",
			Hint: "keep each run in a folder of its own",
		})
		s.reading.Points = nil
		return
	}
	aiperf.Combine(&own.reading, s.reading)
	s.drop(own.shown())
	s.reading.Detail += " of " + path.Base(own.rel)
}

// isDefault reports the name that AIPerf gives its files; with a prefix of one's own all files of a run have it.
func isDefault(s *source) bool { return strings.HasPrefix(s.stem(), "profile_export") }

// aiperfStem returns the part of a name that AIPerf's summary, records and table have in common.
func aiperfStem(s *source) string { return strings.TrimSuffix(s.stem(), "_aiperf") }

// joinSamples merges the items of a task into the results that they belong to: those of the same time stamp, or the
// only ones in the folder; of Every Eval Ever the aggregate with whose name theirs begins.
func joinSamples(s *source, near []*source) {
	var results []*source
	stamp := lmeval.Stamp(s.rel)
	for _, o := range near {
		switch f := o.reading.Format; {
		case s.reading.Format == format.EveryInstances:
			if f == format.EveryEval.Name && strings.HasPrefix(s.stem(), o.stem()) {
				results = append(results, o)
			}
		case f == lmeval.Format, f == lmeval.LMMs, f == lmeval.Old:
			if stamp == "" || lmeval.Stamp(o.rel) == stamp || lmeval.Stamp(o.rel) == "" {
				results = append(results, o)
			}
		}
	}
	for _, own := range results {
		if lmeval.Combine(&own.reading, s.reading) {
			s.drop(own.shown())
			s.reading.Detail += " of " + path.Base(own.rel)
			return
		}
	}
	// Its scores are pairs and texts that only the harness can aggregate.
	if len(results) > 0 && s.reading.Format == lmeval.Samples {
		s.drop(results[0].shown())
	}
}
