package rows

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
)

// llmdMetrics are ours in llm-d's benchmark report: the part that a metric is in, its key and unit there. GuideLLM's
// keep its names: what it calls ITL has no first token.
var llmdMetrics = map[string][3]string{
	"ttft": {"latency", "time_to_first_token", "ms"}, "e2el": {"latency", "request_latency", "ms"},
	"tpot": {"latency", "time_per_output_token", "ms/token"}, "itl": {"latency", "inter_token_latency", "ms/token"},
	"ntpot":         {"latency", "normalized_time_per_output_token", "ms/token"},
	"guidellm tpot": {"latency", "inter_token_latency", "ms/token"}, "rps": {"throughput", "request_rate", "queries/s"},
	"guidellm ntpot": {"latency", "time_per_output_token", "ms/token"},
	"isl":            {"requests", "input_length", "count"}, "osl": {"requests", "output_length", "count"},
	"output_tps": {"throughput", "output_token_rate", "tokens/s"},
	"input_tps":  {"throughput", "input_token_rate", "tokens/s"},
	"total_tps":  {"throughput", "total_token_rate", "tokens/s"},
}

var llmdStats = strings.NewReplacer("value", "mean", "median", "p50", "std", "stddev", ".", "p") // p99p9

// llmd writes a file for each point in llm-d's benchmark report 0.2.1 (llm-d/llm-d-benchmark,
// br_v0_2_1_json_schema.json), in JSON, which is YAML too. The report asks for a mean of every metric, for the number
// of requests beside their lengths, for a length of inputs in a load, and for the number of accelerators, of which 0
// says that the run states none.
func llmd(r *render.Report, release int) (out []Written, err error) {
	fixed := func(n *float64) any {
		if n == nil {
			return nil
		}
		return dict{"distribution": "fixed", "value": *n}
	}
	places := map[int32]int{} // of points in their runs
	for _, p := range points(r, release) {
		places[p.Run]++
		h, k := &r.Columns.Runs[p.Run], &r.Columns.Keys[p.Key]
		name := render.RunName(strings.TrimPrefix(fmt.Sprintf("%s-p%d", k.Dims[schema.DimLabel], places[p.Run]), "-"))
		results := llmdResults(r.Columns, p, k.Tool)
		if len(results) == 0 || p.StatusWord() == schema.StatusFailed || p.StatusWord() == schema.StatusInvalid {
			continue
		}
		scenario := dict{"stack": []dict{{"metadata": dict{"label": "server", "cfg_id": h.ID}, "native": dict{},
			"standardized": dict{"kind": "inference_engine", "tool": h.Engine, "tool_version": h.Version, "role": "replica",
				"replicas": 1, "model": dict{"name": modelID(h)},
				"accelerator": dict{"model": h.Device, "count": h.Chips, "parallelism": dict{}}}}}}
		if k.ISL != nil {
			scenario["load"] = dict{"metadata": dict{"cfg_id": k.String()}, "native": dict{}, "standardized": dict{
				"tool": k.Tool, "tool_version": r.Columns.Conds[p.Cond][columns.ToolVersion], "concurrency": k.Concurrency,
				"source": cmp.Or(map[string]string{"random": "random"}[k.Dataset], "unknown"), "rate_qps": k.Rate,
				"input_seq_len": fixed(k.ISL), "output_seq_len": fixed(k.OSL)}}
		}
		var at dict
		if !h.Start.IsZero() && !h.End.IsZero() {
			at = dict{"start": h.Start.UTC().Truncate(time.Second), "end": h.End.UTC().Truncate(time.Second)}
		}
		file, err := document(render.RunName(h.ID)+"/"+name+".json", dict{"version": "0.2.1", "scenario": scenario,
			"run":     dict{"uid": h.ID + "-" + name, "time": at},
			"results": dict{"request_performance": dict{"aggregate": results}}})
		if err != nil {
			return nil, err
		}
		out = append(out, file)
	}
	return out, nil
}

// llmdResults are a point's statistics by part and metric of the report.
func llmdResults(c *columns.Columns, p *columns.PointRow, tool string) map[string]dict {
	out := map[string]dict{}
	c.Values(p, func(s columns.StatID, v float64) {
		at, own := llmdMetrics[tool+" "+s.Metric]
		if !own {
			at = llmdMetrics[s.Metric]
		}
		_, stat, _, _ := c.Center(p, s.Metric)
		if tool == "guidellm" && s.Metric == "itl" { // its place is that of TPOT
			return
		}
		if at[0] == "" || stat == "median" || stat == "" || s.Stat == "n" || s.Stat == "se" {
			return
		}
		if out[at[0]] == nil {
			out[at[0]] = dict{}
		}
		block, _ := out[at[0]][at[1]].(dict)
		if block == nil {
			block = dict{"units": at[2]}
		}
		block[llmdStats.Replace(s.Stat)], out[at[0]][at[1]] = v, block
	})
	ok, _ := c.Value(p, "requests_ok", "value")
	failed, _ := c.Value(p, "requests_failed", "value")
	n, counted := ok.Get()
	if !counted || len(out) == 0 {
		delete(out, "requests") // the report asks for their number
		return out
	}
	if out["requests"] == nil {
		out["requests"] = dict{}
	}
	if bad, has := failed.Get(); has {
		out["requests"]["failures"], n = int64(bad), n+bad
	}
	out["requests"]["total"] = int64(n)
	return out
}
