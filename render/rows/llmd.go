package rows

import (
	"fmt"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
)

// llmdMetric is where llm-d's benchmark report has a metric, and its unit there.
type llmdMetric struct{ metric, part, key, unit string }

var llmdMetrics = []llmdMetric{
	{"ttft", "latency", "time_to_first_token", "ms"}, {"e2el", "latency", "request_latency", "ms"},
	{"tpot", "latency", "time_per_output_token", "ms/token"}, {"itl", "latency", "inter_token_latency", "ms/token"},
	{"ntpot", "latency", "normalized_time_per_output_token", "ms/token"},
	{"output_tps", "throughput", "output_token_rate", "tokens/s"},
	{"input_tps", "throughput", "input_token_rate", "tokens/s"},
	{"total_tps", "throughput", "total_token_rate", "tokens/s"}, {"rps", "throughput", "request_rate", "queries/s"},
	{"isl", "requests", "input_length", "count"}, {"osl", "requests", "output_length", "count"},
}

// llmd writes a file for each point in llm-d's benchmark report 0.2.1 (llm-d/llm-d-benchmark,
// br_v0_2_1_json_schema.json), in JSON, which is YAML too. The report asks for a mean of every metric and for the
// number of accelerators: a metric without a mean is left out, and 0 accelerators says that the run states none.
func llmd(r *render.Report, release int) (out []Written, err error) {
	places := map[int32]int{} // of points in their runs
	for _, p := range points(r, release) {
		places[p.Run]++
		h, name := &r.Columns.Runs[p.Run], fmt.Sprintf("p%d", places[p.Run])
		results := llmdResults(r.Columns, p)
		if len(results) == 0 || p.StatusWord() == schema.StatusFailed || p.StatusWord() == schema.StatusInvalid {
			continue
		}
		run := dict{"uid": h.ID + "-" + name}
		if !h.Start.IsZero() && !h.End.IsZero() {
			run["time"] = dict{"start": h.Start.UTC().Format(time.RFC3339), "end": h.End.UTC().Format(time.RFC3339)}
		}
		scenario := dict{"stack": []dict{{
			"metadata": dict{"label": "server", "cfg_id": h.ID}, "native": dict{},
			"standardized": dict{"kind": "inference_engine", "tool": h.Engine, "tool_version": h.Version, "role": "replica",
				"replicas": 1, "model": dict{"name": modelID(h)},
				"accelerator": dict{"model": h.Device, "count": h.Chips, "parallelism": dict{}}},
		}}}
		if k := &r.Columns.Keys[p.Key]; k.ISL != nil {
			load := dict{"tool": k.Tool, "tool_version": r.Columns.Conds[p.Cond][columns.ToolVersion],
				"source": llmdSource(k.Dataset), "input_seq_len": dict{"distribution": "fixed", "value": *k.ISL}}
			if k.OSL != nil {
				load["output_seq_len"] = dict{"distribution": "fixed", "value": *k.OSL}
			}
			if k.Concurrency != nil {
				load["concurrency"] = *k.Concurrency
			}
			if k.Rate != nil {
				load["rate_qps"] = *k.Rate
			}
			scenario["load"] = dict{"metadata": dict{"cfg_id": k.String()}, "standardized": load, "native": dict{}}
		}
		w, err := document(render.RunName(h.ID)+"/"+name+".json", dict{"version": "0.2.1", "run": run,
			"scenario": scenario, "results": dict{"request_performance": dict{"aggregate": results}}})
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// llmdResults are a point's statistics by part and metric of the report.
func llmdResults(c *columns.Columns, p *columns.PointRow) dict {
	guidellm := c.Keys[p.Key].Tool == "guidellm" // its names are kept: what it calls ITL has no first token
	out := dict{}
	at := func(part string) dict {
		if out[part] == nil {
			out[part] = dict{}
		}
		return out[part].(dict)
	}
	for _, m := range llmdMetrics {
		if guidellm {
			if key := map[string]string{"tpot": "inter_token_latency", "ntpot": "time_per_output_token"}[m.metric]; key != "" {
				m.key = key
			}
		}
		block := dict{"units": m.unit}
		c.Values(p, func(s columns.StatID, v float64) {
			if s.Metric != m.metric || s.Stat == "n" || s.Stat == "se" {
				return
			}
			name := map[string]string{"value": "mean", "median": "p50", "std": "stddev"}[s.Stat]
			if name == "" {
				name = strings.Replace(s.Stat, ".", "p", 1)
			}
			block[name] = v
		})
		if block["mean"] != nil {
			at(m.part)[m.key] = block
		}
	}
	ok, _ := c.Value(p, "requests_ok", "value")
	failed, _ := c.Value(p, "requests_failed", "value")
	if n, has := ok.Get(); has {
		if bad, has := failed.Get(); has {
			at("requests")["failures"], n = int64(bad), n+bad
		}
		at("requests")["total"] = int64(n)
	} else {
		delete(out, "requests") // the report asks for their number
	}
	return out
}

// llmdSource is where prompts came from, of the two kinds that the report knows.
func llmdSource(dataset string) string {
	if dataset == "random" {
		return dataset
	}
	return "unknown"
}
