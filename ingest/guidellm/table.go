package guidellm

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Table is benchmarks.csv: one row a benchmark. Up to 0.3 it has one line of headings ("Successful Time to first token
// ms mean"), from 0.4 on three (group, status and unit, statistic). It states what the report does, with fewer
// percentiles, so that a row is read as the benchmark that it was written from. Sources: benchmark/output.py of 0.3,
// benchmark/outputs/csv.py of 0.6.
const Table = "guidellm-csv"

// row is one benchmark of a table: its cells by heading, and the numbers of its metrics in the form of a report.
type row struct {
	cells   map[string]string
	metrics map[string]map[string]any
}

func readTable(f *decode.File, out *schema.Reading) {
	lines := csv.NewReader(bytes.NewReader(f.Data))
	lines.FieldsPerRecord = -1
	table, err := lines.ReadAll()
	depth := 1
	if bytes.HasPrefix(f.Data, []byte("Run Info,")) {
		depth = 3
	}
	if err != nil || len(table) <= depth || len(table[len(table)-1]) < len(table[0]) {
		draft.Problem(f, out, schema.SevError, "truncated", decode.Value{}, "a table that is cut or damaged",
			"a line of as many columns as the headings for each benchmark", "no number of it",
			"copy the file again, or read the report beside it")
		return
	}
	for _, line := range table[depth:] {
		one := row{map[string]string{}, map[string]map[string]any{}}
		for i, cell := range line[:min(len(line), len(table[0]))] {
			one.put(table[:depth], i, cell)
		}
		as := f.With(one.report())
		as.Form = decode.JSON
		part := schema.Reading{Format: Table}
		readReport(as, &part)
		out.Points = append(out.Points, part.Points...)
		out.Problems = append(out.Problems, part.Problems...)
		if out.Facts.Model.ID == "" {
			out.Facts.Model = part.Facts.Model
		}
		out.Facts.Widen(part.Facts.Start, part.Facts.End, "local time of the host, zone not stated")
	}
	out.Detail = fmt.Sprintf("table of %d benchmarks", len(out.Points))
}

// put files one cell: a statistic under its metric, anything else under its heading.
func (r *row) put(headings [][]string, column int, cell string) {
	at := func(line int) string {
		if column < len(headings[line]) {
			return headings[line][column]
		}
		return ""
	}
	if len(headings) == 1 {
		if name, statistic, ok := splitHeading(at(0)); ok {
			r.statistic(name, statistic, cell)
		} else {
			r.cells[at(0)] = cell
		}
		return
	}
	unit, done := strings.CutPrefix(at(1), "Successful ")
	if name := groups[at(0)+"|"+unit]; name != "" && done {
		r.statistic(name, strings.ToLower(at(2)), cell)
	} else {
		r.cells[at(0)+" "+at(1)] = cell
	}
}

// groups names the metrics of a report by the group and the unit of their columns.
var groups = map[string]string{
	"Request Latency|Sec": "request_latency", "Time to First Token|ms": "time_to_first_token_ms",
	"Time per Output Token|ms": "time_per_output_token_ms", "Inter Token Latency|ms": "inter_token_latency_ms",
	"Server Throughput|Requests/Sec": "requests_per_second", "Server Throughput|Concurrency": "request_concurrency",
	"Token Metrics|Input Tokens": "prompt_token_count", "Token Metrics|Output Tokens": "output_token_count",
	"Token Throughput|Output Tokens/Sec": "output_tokens_per_second",
	"Token Throughput|Total Tokens/Sec":  "tokens_per_second",
}

// splitHeading splits "Successful Time to first token ms mean" into the metric of a report and its statistic.
func splitHeading(text string) (name, statistic string, ok bool) {
	rest, done := strings.CutPrefix(text, "Successful ")
	for suffix, of := range map[string]string{
		" mean": "mean", " median": "median", " std dev": "std dev",
		" [min, 0.1, 1, 5, 10, 25, 75, 90, 95, 99, max]": "percentiles",
	} {
		if metric, is := strings.CutSuffix(rest, suffix); is && done {
			return strings.ReplaceAll(strings.ToLower(metric), " ", "_"), of, true
		}
	}
	return "", "", false
}

// statistic puts a number, or the list of percentiles, into the block of its metric.
func (r *row) statistic(metric, name, cell string) {
	b := r.metrics[metric]
	if b == nil {
		b = map[string]any{}
		r.metrics[metric] = b
	}
	if name != "percentiles" {
		if x, err := strconv.ParseFloat(cell, 64); err == nil && x-x == 0 {
			b[strings.ReplaceAll(name, "std dev", "std_dev")] = x
		}
		return
	}
	var list []float64
	if json.Unmarshal([]byte(cell), &list) != nil || len(list) != 11 {
		return
	}
	b["min"], b["max"] = list[0], list[10]
	b["percentiles"] = map[string]float64{
		"p001": list[1], "p01": list[2], "p05": list[3], "p10": list[4], "p25": list[5], "p75": list[6], "p90": list[7],
		"p95": list[8], "p99": list[9],
	}
}

// report makes the report of one benchmark.
func (r *row) report() decode.Value {
	metrics := map[string]any{}
	done := r.number("Successful Requests", "Request Counts Successful")
	for name, b := range r.metrics {
		b["count"] = done
		metrics[name] = map[string]any{"successful": b}
	}
	metrics["request_totals"] = map[string]any{
		"successful": done, "errored": r.number("Errored Requests", "Request Counts Errored"),
		"incomplete": r.number("Incomplete Requests", "Request Counts Incomplete"),
	}
	benchmark := map[string]any{
		"metrics": metrics, "args": r.object("Args"), "worker": r.object("Worker"),
		"request_loader": r.object("Request Loader"),
	}
	strategy := strategyOf(r.object("Run Info Profile"), r.cells["Benchmark Strategy"])
	if strategy["type_"] != "" { // up to 0.3 it is in the arguments
		benchmark["config"] = map[string]any{"strategy": strategy, "backend": r.object("Run Info Backend")}
		if kind := strategy["type_"]; len(strategy) == 1 && kind != "synchronous" && kind != "throughput" {
			benchmark["row"] = r.cells["Run Info Run Index"] // rows of one sweep are no repeats
		}
	}
	start, err := time.Parse(time.DateTime, cmp.Or(r.cells["Start Time"], r.cells["Timings Start Time"]))
	if seconds := r.number("Duration", "Timings Duration"); err == nil && seconds > 0 {
		benchmark["start_time"], benchmark["end_time"] = start.Unix(), float64(start.Unix())+seconds
	}
	arguments := r.object("Runtime Info Arguments")
	return decode.Of(map[string]any{
		"benchmarks": []any{benchmark}, "metadata": r.object("Runtime Info Metadata"),
		"args": arguments, "config": arguments, // until 0.6, and since
	})
}

// number is 0 where there is none, for counts. headings are of either form.
func (r *row) number(headings ...string) float64 {
	for _, h := range headings {
		if x, err := strconv.ParseFloat(r.cells[h], 64); err == nil && x-x == 0 {
			return x
		}
	}
	return 0
}

// object is the JSON of a cell, null where there is none.
func (r *row) object(heading string) json.RawMessage {
	if text := r.cells[heading]; json.Valid([]byte(text)) && text != "" {
		return json.RawMessage(text)
	}
	return json.RawMessage("null")
}

// strategyOf returns the strategy of a benchmark: "concurrent@8" or, up to 0.6, its type alone. Then its profile states
// the load where it has one; where it has several (a sweep) a row does not say which of them it is of.
func strategyOf(profile json.RawMessage, text string) map[string]any {
	kind, load, _ := strings.Cut(text, "@")
	out := map[string]any{"type_": kind}
	name := "rate"
	if kind == "concurrent" {
		name = "streams"
	}
	v := decode.Of(profile)
	stated := v.Get(name)
	if stated.Len() == 1 {
		stated = stated.Index(0)
	}
	if x, err := strconv.ParseFloat(load, 64); err == nil && x > 0 {
		out[name] = x
	} else if stated.Kind() == decode.Number && stated.Float0() > 0 {
		out[name] = stated.Float0()
	}
	return out
}
