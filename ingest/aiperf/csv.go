package aiperf

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// heading splits "Time to First Token (ms)" into name and unit.
var heading = lazyregexp.New(`(?s)^(.*?)\s*(?:\(([^()]*)\))?$`)

// readCSV reads the tables that both tools write next to their summary: that of distributions and that of single
// values, and not those of telemetry after them. They are rounded to two decimals and state no configuration, so they
// count only where the summary is missing.
func readCSV(f *decode.File, r *schema.Reading) {
	tool := "aiperf"
	if r.Format == GenAICSV {
		tool = "genai-perf"
	}
	d := draft.New(f, r, decode.Value{}, tool)
	end := bytes.LastIndexByte(f.Data, '\n') + 1 // what stands after it is half a line
	lines := csv.NewReader(bytes.NewReader(f.Data[:end]))
	lines.FieldsPerRecord, lines.LazyQuotes = -1, true
	var header []string
	tables, rows := 0, 0 // rows of the last table
	for {
		row, err := lines.Read()
		if err != nil {
			break // the end, or a line that is not CSV: what was read before it counts
		}
		rows++
		switch {
		case row[0] == "Metric":
			header = row
			tables, rows = tables+1, 0
		case len(header) < 2 || row[0] == "Endpoint":
			header = nil
		default:
			readRow(d, header, row)
		}
	}
	// The table of single values, which says how many requests there were, comes last.
	if tables < 2 || rows == 0 || end < len(f.Data) {
		d.Status = schema.StatusPartial
		d.Problem(schema.SevError, "truncated", decode.Value{}, "a table that ends before its last line",
			"distributions and then single values, each line with all of its columns", "what was whole before it",
			"copy the file again, or repeat the point")
	}
	judge(decode.Value{}, d)
	d.Done()
}

// readRow reads a row as the block that a summary has of its metric.
func readRow(d *draft.Draft, header, row []string) {
	name := heading.FindStringSubmatch(strings.TrimSpace(row[0]))
	block := map[string]any{"unit": name[2]}
	for i, text := range row[1:min(len(row), len(header))] {
		if x, ok := decode.ParseFloat(strings.ReplaceAll(text, ",", "")); ok {
			block[header[i+1]] = x
		}
	}
	for _, x := range fields {
		if strings.EqualFold(strings.ReplaceAll(x.Key, "_", " "), name[1]) {
			metric(d, decode.Of(block), x)
		}
	}
}

// Sweep is the format of what AIPerf makes of the runs of a sweep: one entry a combination of parameters, each
// statistic with its mean over the trials and the error of that mean. It counts where the runs themselves are not
// there. The table beside it (.csv) has the same without units. Source: orchestrator/aggregation/sweep.py of 0.13.
const Sweep = "aiperf-sweep"

// sweepColumn is the mean over trials of a statistic, in the header of a sweep's table.
var sweepColumn = lazyregexp.New(
	`(^|,)(request_throughput_avg|time_to_first_token_\w+|ttft_\w+|request_latency_\w+)_mean(,|\r?$)`)

func readSweep(f *decode.File, r *schema.Reading) {
	for c := range f.First.Get("per_combination_metrics").Items() {
		readCombination(f, r, c)
	}
	if failed := f.First.Get("failed_runs"); failed.Len() > 0 {
		draft.Problem(f, r, schema.SevWarning, "failed-runs", failed,
			fmt.Sprintf("%d runs of the sweep failed", failed.Len()), "", "the means of the others")
	}
	r.Detail = fmt.Sprintf("aggregate of a sweep, %d combinations", len(r.Points))
}

// readCombination makes a point of one combination of parameters.
func readCombination(f *decode.File, r *schema.Reading, c decode.Value) {
	d := draft.New(f, r, c, "aiperf")
	in := c.Get("parameters").Track()
	d.Key.Concurrency, d.Key.Rate = in.Number("concurrency"), in.Number("request_rate")
	d.Key.ISL = in.Number("isl", "prompt_input_tokens_mean")
	d.Key.OSL = in.Number("osl", "prompt_output_tokens_mean")
	for p := range in.Unread() {
		d.Dim(p.Key, p.Val.Text())
	}
	for _, m := range c.Get("metrics").Members() {
		x, stat, ok := sweepMetric(m.Key)
		mean, has := m.Val.Get("mean").Float()
		if !ok || !has {
			continue
		}
		if x.Key = m.Key; !inUnit(d, &x, m.Val.Get("unit")) {
			continue
		}
		d.Stat(x.Metric, x.Def, stat, mean*x.Scale)
		if se, ok := m.Val.Get("se").Float(); ok && se > 0 && (stat == "mean" || stat == "value") {
			whole, _ := d.Metric(x.Metric)
			whole.SetDetail(schema.Detail{SE: schema.Num(se * x.Scale)})
			d.Metrics.Put(whole)
		}
	}
	if len(d.Metrics) == 0 {
		return
	}
	if ok := d.Number("requests_ok"); ok != nil {
		d.Requests(ok, d.Number("requests_failed"), nil, "")
	}
	d.Done()
}

// sweepMetric splits "time_to_first_token_p99" into a metric and our name of its statistic.
func sweepMetric(key string) (x draft.Field, stat string, ok bool) {
	for _, x := range fields {
		rest, has := strings.CutPrefix(key, x.Key+"_")
		if stat, ok := statOf(x.Metric, rest); has && ok {
			return x, stat, true
		}
	}
	return draft.Field{}, "", false
}
