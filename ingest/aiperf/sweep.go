package aiperf

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Sweep is the format of what AIPerf makes of the runs of a sweep: one entry a combination of parameters, each
// statistic with its mean over the trials and the error of that mean. It counts where the runs themselves are not
// there. The table beside it (.csv) states no units; they are those of AIPerf's files. Source:
// orchestrator/aggregation/sweep.py of 0.13.
const (
	Sweep      = "aiperf-sweep"
	SweepTable = "aiperf-sweep-csv"
)

func isSweep(v decode.Value) bool {
	return v.Get("aggregation_type").Str() == "sweep" && v.Get("per_combination_metrics").Len() > 0
}

// sweepColumn is the mean over trials of a statistic, in the table of a sweep.
var sweepColumn = regexp.MustCompile(
	`(^|,)(request_throughput_avg|time_to_first_token_\w+|request_latency_\w+)_mean(,|\r?$)`)

// isSweepTable recognises the header of a sweep's table.
func isSweepTable(header []byte) bool { return sweepColumn.Match(header) }

func readSweep(f *decode.File, m schema.Match) schema.Reading {
	v := f.First
	r := schema.Reading{Format: Sweep, Detail: m.Detail}
	for c := range v.Get("per_combination_metrics").Items() {
		readCombination(f, &r, c)
	}
	if n := v.Get("failed_runs").Len(); n > 0 {
		p := f.Problem(schema.SevWarning, "failed-runs", v.Get("failed_runs"))
		p.Found, p.Used = fmt.Sprintf("%d runs of the sweep failed", n), "the means of the others"
		r.Problems = append(r.Problems, p)
	}
	r.Detail = fmt.Sprintf("aggregate of a sweep, %d combinations", len(r.Points))
	return r
}

// readCombination makes a point of one combination of parameters.
func readCombination(f *decode.File, r *schema.Reading, c decode.Value) {
	d := draft.New(f, r, c, "aiperf")
	for _, p := range c.Get("parameters").Members() {
		switch p.Key {
		case "concurrency":
			d.Key.Concurrency = p.Val.Ptr()
		case "request_rate":
			d.Key.Rate = p.Val.Ptr()
		case "isl", "prompt_input_tokens_mean":
			d.Key.ISL = p.Val.Ptr()
		case "osl", "prompt_output_tokens_mean":
			d.Key.OSL = p.Val.Ptr()
		default:
			d.Dim(p.Key, p.Val.Text())
		}
	}
	for _, m := range c.Get("metrics").Members() {
		t, stat, ok := sweepMetric(m.Key)
		mean, has := m.Val.Get("mean").Float()
		if !ok || !has {
			continue
		}
		ours := schema.Unit(t.name)
		unit := m.Val.Get("unit").Str()
		scale, known := unitScale(unit, ours)
		if unit == "" { // the table of a sweep
			scale, known = 1, true
		}
		if !known {
			p := d.Problem(schema.SevWarning, "unknown-unit", m.Val, fmt.Sprintf("unit %q of %s", unit, m.Key))
			p.Expected, p.Used = ours, "no number of this metric"
			continue
		}
		d.Stat(t.name, t.def, stat, mean*scale)
		if se, ok := m.Val.Get("se").Float(); ok && se > 0 && (stat == "mean" || stat == "value") {
			x := d.Metrics[t.name]
			x.SE = schema.Num(se * scale)
			d.Metrics[t.name] = x
		}
	}
	if len(d.Metrics) == 0 {
		return
	}
	if ok := stat(d, "requests_ok"); ok != nil {
		d.Requests(ok, stat(d, "requests_failed"), nil, "")
	}
	d.Done()
}

// sweepMetric splits "time_to_first_token_p99" into a metric and our name of its statistic.
func sweepMetric(key string) (t tag, stat string, ok bool) {
	key = strings.Replace(strings.TrimSuffix(key, "_ms"), "ttft_", "time_to_first_token_", 1)
	for _, t := range tags() {
		rest, has := strings.CutPrefix(key, t.tag+"_")
		if !has {
			continue
		}
		switch {
		case t.stat != "" && rest == "avg":
			return t, t.stat, true
		case t.stat == "" && statName(rest) != "":
			return t, statName(rest), true
		}
	}
	return tag{}, "", false
}

// readSweepTable reads the first table of a sweep's CSV; what follows the empty line repeats it.
func readSweepTable(f *decode.File, m schema.Match) schema.Reading {
	r := schema.Reading{Format: SweepTable, Detail: m.Detail}
	lines := csv.NewReader(bytes.NewReader(f.Data))
	lines.FieldsPerRecord = -1
	header, err := lines.Read()
	for err == nil {
		var row []string
		if row, err = lines.Read(); err != nil || len(row) != len(header) {
			break
		}
		combination, problem := combinationOf(header, row)
		if problem != nil {
			r.Problems = append(r.Problems, *problem)
			break
		}
		readCombination(f, &r, combination)
	}
	r.Detail = fmt.Sprintf("table of a sweep, %d combinations", len(r.Points))
	return r
}

// combinationOf puts a row of the table into the form of the aggregate.
func combinationOf(header, row []string) (decode.Value, *schema.Problem) {
	parameters, metrics := map[string]any{}, map[string]map[string]float64{}
	for i, cell := range row {
		x, err := strconv.ParseFloat(cell, 64)
		name, isMean := strings.CutSuffix(header[i], "_mean")
		_, _, known := sweepMetric(name)
		switch {
		case isMean && known && err == nil && x-x == 0:
			metrics[name] = map[string]float64{"mean": x}
		case !strings.Contains(header[i], "_avg") && !isStatistic.MatchString(header[i]) && cell != "":
			parameters[header[i]] = cell
		}
	}
	text, err := json.Marshal(map[string]any{"parameters": parameters, "metrics": metrics})
	if err != nil {
		return decode.Value{}, &schema.Problem{Severity: schema.SevWarning, Code: "bad-table", Found: err.Error()}
	}
	return decode.Document("", text)
}

// isStatistic matches the columns of a metric over the trials.
var isStatistic = regexp.MustCompile(`_(mean|std|min|max|cv)$`)
