package vllmoffline

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// Names of the formats that this package distinguishes.
const (
	Throughput = "vllm-throughput"
	Latency    = "vllm-latency"
	Startup    = "vllm-startup"
)

var startupKey = regexp.MustCompile(`^avg_(cold|warm)_(\w+)_time$`)

// Detect distinguishes the three by their keys.
func Detect(f *decode.File) schema.Match {
	v := f.First
	for _, x := range v.Members() {
		if startupKey.MatchString(x.Key) {
			return schema.Match{Format: Startup, Has: []string{x.Key}, Detail: "start-up times"}
		}
	}
	if v.Has("avg_latency") || v.Has("latencies") && v.Get("percentiles").Kind() == decode.Object {
		m := draft.Check{Match: schema.Match{Format: Latency, Detail: "latency of a batch"}}
		m.Want(v.Has("avg_latency"), "avg_latency")
		m.Want(v.Get("latencies").Kind() == decode.Array, "latencies")
		m.Want(v.Get("percentiles").Kind() == decode.Object, "percentiles")
		return m.Match
	}
	m := draft.Check{Match: schema.Match{Format: Throughput, Detail: "offline throughput"}}
	m.Want(v.Has("elapsed_time"), "elapsed_time")
	m.Want(v.Has("num_requests"), "num_requests")
	m.Want(v.Has("requests_per_second"), "requests_per_second")
	m.Not(v.Has("completed"), "an offline run (completed is of a client)")
	return m.Match
}

// Read returns the points of a file.
func Read(f *decode.File) schema.Reading {
	m := Detect(f)
	r := schema.Reading{Format: m.Format, Detail: m.Detail}
	switch m.Format {
	case Startup:
		startup(f, &r)
	case Latency:
		batch(f, &r)
	default:
		throughput(f, &r)
	}
	return r
}

func throughput(f *decode.File, r *schema.Reading) {
	v := f.First
	d := draft.New(f, r, v, "vllm-throughput")
	d.Key.ISL = draft.First(v, "input_len", "input")
	d.Key.OSL = draft.First(v, "output_len", "output", "ouput") // users add these by hand
	d.Dim("requests", v.Get("num_requests").Text())
	r.Facts.Model.ID = v.Get("model").Str()
	d.Fields(v, map[string]string{
		"rps": "requests_per_second", "total_tps": "tokens_per_second", "duration_s": "elapsed_time",
	})
	if d.Key.ISL == nil && d.Key.OSL == nil {
		lengthsInName(f.Path, v, d)
	}
	n, total, elapsed := v.Get("num_requests").Ptr(), v.Get("total_num_tokens").Ptr(), v.Get("elapsed_time").Ptr()
	if d.Key.ISL != nil && d.Key.OSL != nil && n != nil && total != nil && elapsed != nil && *elapsed > 0 &&
		*total == *n*(*d.Key.ISL+*d.Key.OSL) {
		d.Derived("output_tps", "", "value", *n**d.Key.OSL / *elapsed)
	}
	d.Requests(n, nil, nil, "")
	d.Foreign(v, draft.Names("elapsed_time num_requests total_num_tokens requests_per_second tokens_per_second input "+
		"output ouput input_len output_len model"))
	d.Done()
}

var inOut = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])i[np][-_]?(\d{1,9})[-_]o(?:ut|p)[-_]?(\d{1,9})`)

// lengthsInName reads lengths from the file's name if the total of tokens agrees.
func lengthsInName(name string, v decode.Value, d *draft.Draft) {
	m := inOut.FindStringSubmatch(path.Base(name))
	if m == nil {
		return
	}
	in, _ := strconv.ParseFloat(m[1], 64) // digits
	out, _ := strconv.ParseFloat(m[2], 64)
	if v.Get("num_requests").Float0()*(in+out) == v.Get("total_num_tokens").Float0() && in > 0 && out > 0 {
		d.Key.ISL, d.Key.OSL = &in, &out
		d.Stated = map[string]string{"isl": "path", "osl": "path"}
	}
}

func batch(f *decode.File, r *schema.Reading) {
	v := f.First
	d := draft.New(f, r, v, "vllm-latency")
	if x, ok := v.Get("avg_latency").Float(); ok {
		d.Stat("e2el", schema.DefBatch, "mean", x*1000)
	}
	for _, p := range v.Get("percentiles").Members() {
		if x, ok := p.Val.Float(); ok {
			d.Stat("e2el", schema.DefBatch, strings.Replace("p"+p.Key, "p50", "median", 1), x*1000)
		}
	}
	if list, ok := v.Get("latencies").Floats(); ok && len(list) > 0 {
		d.Recompute(v, draft.Family{
			Metric: "e2el", Def: schema.DefBatch, Sample: sample(list),
			Key: func(stat string) string {
				if stat == "mean" {
					return "avg_latency"
				}
				return stat
			},
		}, false)
	}
	for name, dst := range map[string]**float64{
		"batch_size": &d.Key.Concurrency, "input_len": &d.Key.ISL, "output_len": &d.Key.OSL,
	} {
		*dst = v.Get(name).Ptr()
	}
	r.Facts.Model.ID = v.Get("model").Str()
	d.Foreign(v, draft.Names("avg_latency latencies percentiles batch_size input_len output_len model"))
	d.Done()
}

// sample returns a sample in milliseconds.
func sample(seconds []float64) latency.Sample {
	ms := slices.Clone(seconds)
	for i := range ms {
		ms[i] *= 1000
	}
	return latency.NewSample(ms)
}

func startup(f *decode.File, r *schema.Reading) {
	v := f.First
	for _, x := range v.Members() {
		k := startupKey.FindStringSubmatch(x.Key)
		mean, ok := x.Val.Float()
		if k == nil || !ok {
			continue
		}
		d := draft.New(f, r, x.Val, "vllm-startup")
		d.Key.Task = "startup"
		d.Dim(schema.DimLabel, k[1]+" "+strings.ReplaceAll(k[2], "_", " "))
		d.Stat("startup_s", "", "mean", mean)
		for _, p := range v.Get(k[1] + "_" + k[2] + "_percentiles").Members() {
			if q, ok := p.Val.Float(); ok {
				d.Stat("startup_s", "", strings.Replace("p"+p.Key, "p50", "median", 1), q)
			}
		}
		if list, ok := v.Get(k[1] + "_" + k[2] + "_times").Floats(); ok && len(list) > 0 {
			d.Recompute(v, draft.Family{
				Metric: "startup_s", Sample: latency.NewSample(slices.Clone(list)), Key: func(string) string { return x.Key },
			}, false)
		}
		d.Done()
	}
	r.Extra = draft.Foreign(nil, v, func(name string) bool {
		return startupKey.MatchString(name) || strings.HasSuffix(name, "_times") || strings.HasSuffix(name, "_percentiles")
	})
	r.Detail = fmt.Sprintf("start-up times, %d parts", len(r.Points))
}
