package ingest

import (
	"path"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/aiperf"
	"github.com/ttreport/ttreport/ingest/evalscope"
	"github.com/ttreport/ttreport/ingest/guidellm"
	"github.com/ttreport/ttreport/ingest/inferenceperf"
	"github.com/ttreport/ttreport/ingest/lmeval"
	"github.com/ttreport/ttreport/ingest/schema"
)

// readableInPart reports the formats whose truncated files are read: what comes before the cut is complete in itself.
func readableInPart(format string) bool { return format == lmeval.Format || format == lmeval.LMMs }

// joinParts merges a summary and its parts into one measurement, for tools that write both.
func joinParts(sources []*source) {
	byDir := map[string][]*source{}
	for _, s := range sources {
		dir := path.Dir(s.shown())
		byDir[dir] = append(byDir[dir], s)
	}
	for _, s := range sources {
		near := byDir[path.Dir(s.shown())]
		switch s.reading.Format {
		case aiperf.Records:
			joinRecords(s, near)
		case lmeval.Samples:
			joinSamples(s, near)
		case evalscope.Percentiles, evalscope.Arguments:
			joinLoadTest(s, near)
		}
	}
	dropConsole(sources)
	for _, s := range sources { // after records were joined: a table repeats whatever stands beside it
		near := byDir[path.Dir(s.shown())]
		switch s.reading.Format {
		case aiperf.CSV, aiperf.GenAICSV:
			dropTable(s, near)
		case guidellm.Table:
			dropReportTable(s, near)
		case aiperf.Sweep, aiperf.SweepTable:
			dropAggregate(s, near, sources)
		case inferenceperf.Format:
			dropSummary(s, near)
		}
	}
}

// joinLoadTest puts percentiles and arguments of evalscope into the summary beside them. Alone they are no result.
func joinLoadTest(s *source, near []*source) {
	for _, own := range near {
		if own.reading.Format == evalscope.Format && own.counts() {
			unpack(own.reading.Points)
			unpack(s.reading.Points)
			evalscope.Combine(&own.reading, s.reading)
			s.drop(own.shown())
			return
		}
	}
	s.reading.Points = nil
}

// dropTable drops AIPerf's table where the summary or the records that it repeats stand beside it.
func dropTable(s *source, near []*source) {
	for _, o := range near {
		format := o.reading.Format
		repeated := format == aiperf.Format || format == aiperf.GenAI || format == aiperf.Records && o.counts()
		if repeated && (isDefault(s) && isDefault(o) || aiperfStem(s) == aiperfStem(o)) {
			s.drop(o.shown())
			return
		}
	}
}

// dropAggregate drops AIPerf's aggregate of a sweep where the runs that it is made of are below the same folder, and
// its table where the aggregate is beside it.
func dropAggregate(s *source, near, all []*source) {
	for _, o := range near {
		if s.reading.Format == aiperf.SweepTable && o.reading.Format == aiperf.Sweep && o.stem() == s.stem() {
			s.drop(o.shown())
			return
		}
	}
	sweep := path.Dir(path.Dir(s.shown()))
	for _, o := range all {
		if o.reading.Format == aiperf.Format && (sweep == "." || strings.HasPrefix(o.shown(), sweep+"/")) {
			s.drop(path.Dir(o.shown()))
			return
		}
	}
}

// dropReportTable drops GuideLLM's table where the report of the same name, which has more statistics, is beside it.
func dropReportTable(s *source, near []*source) {
	for _, o := range near {
		if o.reading.Format == guidellm.Format && o.stem() == s.stem() && o.counts() {
			s.drop(o.shown())
			return
		}
	}
}

// dropSummary drops inference-perf's summary of all stages if the stages are in the same folder.
func dropSummary(s *source, near []*source) {
	if !inferenceperf.IsSummary(s.rel) {
		return
	}
	for _, o := range near {
		if o.reading.Format == inferenceperf.Format && !inferenceperf.IsSummary(o.rel) {
			s.drop(path.Dir(o.shown()))
			return
		}
	}
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
		if !slices.ContainsFunc(near, isTable) { // the table is written with the summary
			unpack(s.reading.Points)
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
	unpack(own.reading.Points)
	unpack(s.reading.Points)
	aiperf.Combine(&own.reading, s.reading)
	s.drop(own.shown())
	s.reading.Detail += " of " + path.Base(own.rel)
}

// isTable reports AIPerf's table of a summary.
func isTable(s *source) bool { return s.reading.Format == aiperf.CSV && s.counts() }

// isDefault reports the name that AIPerf gives its files; with a prefix of one's own all files of a run have it.
func isDefault(s *source) bool { return strings.HasPrefix(s.stem(), "profile_export") }

// aiperfStem returns the part of a name that AIPerf's summary, records and table have in common.
func aiperfStem(s *source) string { return strings.TrimSuffix(s.stem(), "_aiperf") }

// joinSamples merges the items of a task into the results that they belong to: those of the same time stamp, or the
// only ones in the folder.
func joinSamples(s *source, near []*source) {
	var results []*source
	stamp := lmeval.Stamp(s.rel)
	for _, o := range near {
		if o.reading.Format == lmeval.Format || o.reading.Format == lmeval.LMMs || o.reading.Format == lmeval.Old {
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
	if len(results) > 0 { // its scores are pairs and texts that only the harness can aggregate
		s.drop(results[0].shown())
	}
}
