package llmd

import (
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Format is the name of this reader's format.
const Format = "llm-d-report"

// Detect looks for the version and the two parts of a report.
func Detect(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Format}}
	v := f.First
	version := v.Get("version").Text()
	m.Want(version != "", "version")
	m.Want(v.Get("scenario").Kind() == decode.Object, "scenario")
	m.Want(v.Get("metrics").Kind() == decode.Object || v.Get("results").Kind() == decode.Object, "metrics or results")
	if m.OK() {
		m.Detail = "version " + version
	}
	return m.Match
}

// report holds the parts that the two generations have in different places.
type report struct {
	v                          decode.Value
	tool                       string
	load                       decode.Value // of 0.2
	requests, latency, through decode.Value
}

// Read returns the point of a report.
func Read(f *decode.File) schema.Reading {
	v := f.First
	r := schema.Reading{Format: Format, Detail: Detect(f).Detail}
	p := report{v: v, load: v.At("scenario", "load", "standardized")}
	part := v.Get("metrics")
	if v.Get("results").Kind() == decode.Object {
		part = v.At("results", "request_performance", "aggregate")
		p.tool = p.load.Get("tool").Str()
	} else {
		p.tool = v.At("scenario", "load", "name").Str()
	}
	p.requests, p.latency, p.through = part.Get("requests"), part.Get("latency"), part.Get("throughput")
	if p.tool == "" {
		p.tool = "llm-d"
	}
	p.tool = strings.Replace(p.tool, "vllm-benchmark", "vllm", 1)
	d := draft.New(f, &r, v, p.tool)
	r.Facts = p.facts()
	d.Start, d.End = r.Facts.Start, r.Facts.End
	p.key(d)
	p.numbers(d)
	d.Source.ToolVersion = p.load.Get("tool_version").Text()
	d.Foreign(v, draft.Names("version run scenario metrics results"))
	d.Foreign(v.At("scenario", "metadata"), func(string) bool { return false })
	d.Done()
	return r
}

// meaning is a metric under a definition.
type meaning struct{ metric, def string }

// definitions maps the report's names to a tool's definitions.
func (p report) definitions() map[string]meaning {
	const (
		ttft, e2el = "time_to_first_token", "request_latency"
		ntpot      = "normalized_time_per_output_token"
		tpot, itl  = "time_per_output_token", "inter_token_latency"
	)
	defs := map[string]meaning{
		ttft: {"ttft", schema.DefNotStated}, e2el: {"e2el", schema.DefNotStated}, ntpot: {"ntpot", schema.DefInclFirst},
		tpot: {"tpot", schema.DefNotStated}, itl: {"itl", schema.DefNotStated},
	}
	switch p.tool {
	case "vllm":
		defs[ttft], defs[e2el] = meaning{"ttft", schema.DefFirstChunk}, meaning{"e2el", schema.DefLastChunk}
		defs[tpot], defs[itl] = meaning{"tpot", schema.DefExclFirst}, meaning{"itl", schema.DefChunkGap}
	case "guidellm":
		defs[ttft], defs[e2el] = meaning{"ttft", schema.DefFirstContent}, meaning{"e2el", schema.DefLastChunk}
		defs[tpot], defs[itl] = meaning{"ntpot", schema.DefInclFirst}, meaning{"tpot", schema.DefExclFirst}
		delete(defs, ntpot)
	case "inference-perf":
		defs[ttft], defs[e2el] = meaning{"ttft", schema.DefFirstChunk}, meaning{"e2el", schema.DefLastChunk}
		defs[tpot], defs[itl] = meaning{"tpot", schema.DefChunkMean}, meaning{"itl", schema.DefChunkGap}
	}
	return defs
}

func (p report) numbers(d *draft.Draft) {
	total, failed := p.requests.Get("total").Ptr(), p.requests.Get("failures").Ptr()
	ok := total
	if total != nil && failed != nil {
		n := *total - *failed - p.requests.Get("incomplete").Float0()
		ok = &n
	}
	for theirs, ours := range p.definitions() {
		distribution(d, p.latency.Get(theirs), ours.metric, ours.def)
		if ok != nil {
			d.Size(ours.metric, int(min(max(*ok, 0), 1e12)))
		}
	}
	for metric, names := range map[string][]string{
		"output_tps": {"output_token_rate", "output_tokens_per_sec"},
		"total_tps":  {"total_token_rate", "total_tokens_per_sec"},
		"rps":        {"request_rate", "requests_per_sec"},
	} {
		for _, name := range names {
			if !d.Of(metric, p.through.Get(name)) {
				d.Of(metric, p.through.At(name, "mean"))
			}
		}
	}
	d.Mean("isl", p.requests.At("input_length", "mean"))
	d.Mean("osl", p.requests.At("output_length", "mean"))
	if !d.Of("duration_s", p.v.At("metrics", "time", "duration")) {
		if s, have := isoDuration(p.v.At("run", "time", "duration").Str()); have {
			d.Value("duration_s", s)
		}
	}
	d.Requests(ok, failed, nil, "")
}

// distribution reads {units, mean, stddev, min, p0p1 … p99p9, max}.
func distribution(d *draft.Draft, block decode.Value, metric, def string) {
	if block.Kind() != decode.Object {
		return
	}
	scale := 0.
	switch block.Get("units").Str() {
	case "ms", "ms/token":
		scale = 1
	case "s", "s/token":
		scale = 1000
	default:
		p := d.Problem(schema.SevWarning, "unknown-unit", block.Get("units"),
			"units "+strconv.Quote(block.Get("units").Text())+" of "+metric)
		p.Expected, p.Used = "s or ms", "no number of this metric"
		return
	}
	names := map[string]string{
		"mean": "mean", "stddev": "std", "min": "min", "max": "max", "p10": "p10", "p25": "p25", "p50": "median",
		"p75": "p75", "p90": "p90", "p95": "p95", "p99": "p99", "p99p9": "p99.9",
	}
	for _, m := range block.Members() {
		if x, ok := m.Val.Float(); ok && names[m.Key] != "" {
			d.Stat(metric, def, names[m.Key], x*scale)
		}
	}
}

func (p report) key(d *draft.Draft) {
	length := func(name string) *float64 {
		block := p.load.Get(name)
		if kind := block.Get("distribution").Str(); kind != "fixed" {
			if kind != "" {
				d.Condition(name+"_distribution", kind)
			}
			return nil
		}
		return block.Get("value").Ptr()
	}
	d.Key.ISL, d.Key.OSL = length("input_seq_len"), length("output_seq_len")
	d.Key.Rate, d.Key.Concurrency = p.load.Get("rate_qps").Ptr(), p.load.Get("concurrency").Ptr()
	d.Key.Dataset = p.load.Get("source").Text()
	if enabled, _ := p.load.At("multi_turn", "enabled").Truth(); enabled {
		d.Dim("turns", "several")
	}
	if n, ok := p.load.At("prefix", "prefix_len", "value").Float(); ok && n > 0 {
		d.Dim("prefix", strconv.FormatFloat(n, 'f', -1, 64))
	}
	d.Condition("stage", p.load.Get("stage").Text())
	args := p.v.At("scenario", "load", "args") // 0.1 has the tool's own arguments
	for _, name := range []string{"max-concurrency", "max_concurrency", "concurrency"} {
		if d.Key.Concurrency == nil {
			d.Key.Concurrency = args.Get(name).Ptr()
		}
	}
	for _, name := range []string{"request-rate", "qps_values", "rate"} {
		if d.Key.Rate == nil {
			d.Key.Rate = args.Get(name).Ptr()
		}
	}
	if kind := p.v.At("scenario", "load", "type").Str(); kind != "" && d.Key.ISL == nil {
		d.Dim(schema.DimLabel, kind)
	}
}

func (p report) facts() schema.Facts {
	var f schema.Facts
	s := p.v.Get("scenario")
	f.Model.ID, f.Model.Precision = s.At("model", "name").Str(), s.At("model", "quantization").Text()
	device := s.At("host", "accelerator").Index(0)
	engine := s.At("platform", "engine").Index(0)
	f.Stack.Engine, f.Stack.Version = engine.Get("name").Str(), engine.Get("version").Text()
	chips := 0
	for a := range s.At("host", "accelerator").Items() {
		n, _ := a.Get("count").Int()
		chips += max(n, 0)
	}
	for c := range s.Get("stack").Items() { // 0.2
		part := c.Get("standardized")
		if part.Get("kind").Str() != "inference_engine" {
			continue
		}
		if device.Kind() != decode.Object {
			device = part.Get("accelerator")
			f.Model.ID, f.Stack.Engine = part.At("model", "name").Str(), part.Get("tool").Str()
			if tool := part.Get("tool_version").Text(); strings.ContainsAny(tool, "/:") {
				f.Stack.Image = tool
			} else {
				f.Stack.Version = tool
			}
		}
		n, _ := part.At("accelerator", "count").Int()
		replicas, ok := part.Get("replicas").Int()
		if !ok {
			replicas = 1
		}
		chips += min(max(n, 0), 1<<20) * min(max(replicas, 0), 1<<20)
	}
	f.Device.Name, f.Device.Chips = device.Get("model").Text(), min(chips, 1<<30)
	run := p.v.Get("run")
	f.RunID = run.Get("uid").Str()
	f.Start, f.End = moment(run.At("time", "start")), moment(run.At("time", "end"))
	if f.Start.IsZero() {
		f.Start, f.End = moment(p.v.At("metrics", "time", "start")), moment(p.v.At("metrics", "time", "stop"))
	}
	return f
}

// moment reads RFC 3339 or seconds since 1970.
func moment(v decode.Value) time.Time {
	if t, err := time.Parse(time.RFC3339Nano, v.Str()); err == nil {
		return t.UTC().Truncate(time.Second)
	}
	if s, ok := v.Float(); ok && s > 1e8 && s < 1e11 {
		return time.UnixMilli(int64(s * 1000)).UTC().Truncate(time.Second)
	}
	return time.Time{}
}

// isoDuration reads ISO 8601's PT1H2M3.5S.
func isoDuration(s string) (seconds float64, ok bool) {
	rest, ok := strings.CutPrefix(s, "PT")
	if !ok || rest == "" {
		return 0, false
	}
	for rest != "" {
		i := strings.IndexAny(rest, "HMS")
		if i <= 0 {
			return 0, false
		}
		x, err := strconv.ParseFloat(rest[:i], 64)
		if err != nil {
			return 0, false
		}
		seconds += x * map[byte]float64{'H': 3600, 'M': 60, 'S': 1}[rest[i]]
		rest = rest[i+1:]
	}
	return seconds, true
}
