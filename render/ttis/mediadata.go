package ttis

import (
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// mediaName is what a report calls the number of a target of media.
func mediaName(v *schema.Verdict) string {
	switch v.Metric {
	case "e2el", "ttft":
		if v.Key.Task == "embedding" && v.Metric == "e2el" {
			return "e2el_ms"
		}
		return "latency"
	case "tps_user", schema.MetricRequestsUser, schema.MetricInputUser:
		return "tput_user"
	case schema.MetricInputRate:
		return "tput_prefill"
	case schema.MetricRealTime:
		return "rtr"
	case schema.MetricSteps:
		return "inference_steps_per_second"
	}
	return v.Metric
}

// mediaMetrics are all of them, in the order of the checks.
func mediaMetrics() []string {
	return []string{"latency", "tput_user", "tput_prefill", "e2el_ms", "rtr", "inference_steps_per_second"}
}

// seconds turns milliseconds into seconds.
func seconds(n schema.Number) schema.Number {
	return of(func(v ...float64) float64 { return v[0] / 1000 }, n)
}

// mediaSummary are the results of media as the summary of v0.17 has them, with their checks.
func (in *Input) mediaSummary() []object {
	out := []object{}
	for _, k := range mediaKinds() {
		for _, r := range in.mediaOf(k.task) {
			metric := func(name string) any { return value(rounded(r.point.Metrics[name].Stat("value"), 2)) }
			o := object{
				{"timestamp", r.mediaStamp()}, {"model", in.Model}, {"model_name", in.Model}, {"model_id", in.modelID()},
				{"backend", k.backend}, {"device", in.device()}, {"num_requests", value(r.asked)},
			}
			if k.task == "embedding" {
				o = append(o, member{"ISL", value(r.isl)}, member{"concurrency", value(number(r.point.Key.Concurrency))},
					member{"tput_user", metric(schema.MetricInputUser)},
					member{"tput_prefill", value(rounded(r.point.Metrics[schema.MetricInputRate].Stat("value"), 1))},
					member{"e2el_ms", value(rounded(r.e2el.mean, 1))})
			} else {
				o = append(o, member{"num_inference_steps", value(conditionNumber(r, schema.ConditionSteps))},
					member{"latency", value(seconds(rounded(r.mediaLatency("mean"), 2)))},
					member{"inference_steps_per_second", metric(schema.MetricSteps)})
			}
			switch k.task {
			case "cnn", "image", "video":
				o.add("tput_user", value(r.point.Metrics[schema.MetricRequestsUser].Stat("value")))
			case "tts":
				o.add("latency_p90", value(seconds(rounded(r.mediaLatency("p90"), 2))))
				o.add("latency_p95", value(seconds(rounded(r.mediaLatency("p95"), 2))))
				o.add("rtr", metric(schema.MetricRealTime))
			case "asr":
				for _, name := range []string{"streaming_enabled", "preprocessing_enabled"} {
					if on, stated := r.enabled(name); stated {
						o.add(name, on)
					}
				}
			}
			o.add("filename", in.mediaCell(r, "filename"))
			o.add("task_type", k.task)
			if g := in.gradedRow(r); g != nil {
				o.add("target_checks", g.mediaChecks17())
			}
			out = append(out, o)
		}
	}
	return out
}

// mediaChecks17 are the checks as the data of v0.17 have them: a latency is in seconds, and a rate has its check alone.
func (g *graded) mediaChecks17() object {
	var out object
	embedding := g.key.Task == "embedding"
	for _, tier := range tiers(g.checks) {
		var one object
		for _, m := range []string{"latency", "tput_user", "tput_prefill", "e2el_ms", "rtr"} {
			c := g.find(tier, m)
			switch {
			case c == nil && m == "tput_user" && !embedding:
				one.add("tput_check", isNA)
			case c == nil:
			case m == "latency":
				one = append(one, member{m, value(seconds(c.target))}, member{m + "_ratio", value(c.rounded(2).ratio())},
					member{m + "_check", c.result})
			case embedding:
				places := map[string]int{"tput_user": 2, "tput_prefill": 1, "e2el_ms": 1}[m]
				one = append(one, member{m, value(c.target)}, member{m + "_ratio", value(c.rounded(places).ratio())},
					member{m + "_check", c.result})
			case m == "tput_user":
				one.add("tput_check", c.result)
			default:
				one.add(m+"_check", c.result)
			}
		}
		out.add(tier, one)
	}
	return out
}

// rounded is a check of the number as it is shown.
func (c *check) rounded(places int) *check {
	out := *c
	out.actual = rounded(c.actual, places)
	return &out
}

// media20 are the blocks of media since v0.19.
func (in *Input) media20() []block {
	var out []block
	for _, k := range mediaKinds() {
		for _, r := range in.mediaOf(k.task) {
			b := block{kind: "benchmarks", title: k.title20 + " Benchmark", task: k.backend, graded: in.gradedRow(r),
				targets: object{{"num_prompts", value(r.asked)}}}
			if sound := r.point.Key.Dims["sound"]; sound != "" {
				b.title += " — " + sound + " s of sound"
			}
			for _, name := range k.data20 {
				n := r.media20(name)
				if on, stated := r.enabled(name); stated {
					b.record = append(b.record, column{name, head20(name), on, strconv.FormatBool(on)})
				} else if _, ok := n.Get(); ok {
					b.record = append(b.record, column{name, head20(name), value(n), fixed20(name, n)})
				}
			}
			for _, c := range b.record {
				b.data.add(c.name, c.value)
			}
			b.grade()
			b.data = object{{"Benchmarks", b.data}}
			out = append(out, b)
		}
	}
	return out
}

// enabled is a setting of the client, such as "streaming_enabled", where the result states it.
func (r *row) enabled(name string) (on, stated bool) {
	setting, ok := strings.CutSuffix(name, "_enabled")
	if !ok {
		return false, false
	}
	on, err := strconv.ParseBool(r.point.Conditions[setting])
	return on, err == nil
}

func conditionNumber(r *row, name string) schema.Number {
	return parsed(r.point.Conditions[name])
}

// media20 is a number of a block: latencies in seconds, except where the name says otherwise.
func (r *row) media20(name string) schema.Number {
	switch name {
	case "num_requests":
		return r.asked
	case "num_successful", "successful_requests":
		return r.completed
	case "failed_requests":
		return r.point.Metrics["requests_failed"].Stat("value")
	case "num_inference_steps":
		return conditionNumber(r, schema.ConditionSteps)
	case "isl":
		return r.isl
	case "concurrency":
		return number(r.point.Key.Concurrency)
	case "num_concurrent_requests":
		if n := number(r.point.Key.Concurrency); whole(n, "1") != "1" {
			return n
		}
		return schema.Missing("one at a time")
	case "ttft_ms":
		return r.mediaLatency("mean")
	case "ttft":
		if r.point.Key.Task == "asr" {
			return seconds(r.ttft.mean)
		}
		return seconds(r.mediaLatency("mean"))
	case "ttft_p50":
		return seconds(r.mediaLatency("median"))
	case "ttft_p90", "ttft_p95":
		return seconds(r.mediaLatency(name[len("ttft_"):]))
	case "e2el":
		return r.e2el.mean
	}
	return r.rate20(name)
}

// rate20 is a rate of a block.
func (r *row) rate20(name string) schema.Number {
	metric := func(name string) schema.Number { return r.point.Metrics[name].Stat("value") }
	switch name {
	case "inference_steps_per_second":
		return metric(schema.MetricSteps)
	case "rtr":
		return metric(schema.MetricRealTime)
	case "t/s/u":
		return metric("tps_user")
	case "throughput_rps", "req_tput":
		return r.rps
	case "tput_prefill":
		return metric(schema.MetricInputRate)
	case "tput_user":
		if r.point.Key.Task == "embedding" {
			return metric(schema.MetricInputUser)
		}
		return metric(schema.MetricRequestsUser)
	}
	return schema.Missing("not read")
}

// head20 and fixed20 are the column of a number and its text, as report_module/display.py (v0.20) has them.
func head20(name string) string {
	if head := map[string]string{
		"num_requests": "Num Requests", "num_successful": "num_successful", "num_inference_steps": "Inference Steps",
		"num_concurrent_requests": "Num Concurrent Requests", "ttft_ms": "TTFT (ms)", "ttft": "TTFT",
		"ttft_p50": "TTFT P50 (s)", "ttft_p90": "TTFT P90 (s)", "ttft_p95": "TTFT P95 (s)", "e2el": "E2EL",
		"inference_steps_per_second": "Steps/Sec", "rtr": "RTR", "t/s/u": "T/S/U", "throughput_rps": "Req Tput (RPS)",
		"req_tput": "Req Tput (RPS)", "tput_prefill": "Tput Prefill (TPS)", "tput_user": "Tput User (TPS)", "isl": "ISL",
		"concurrency": "Concurrency", "streaming_enabled": "Streaming Enabled",
		"preprocessing_enabled": "Preprocessing Enabled",
	}[name]; head != "" {
		return head
	}
	return name
}

func fixed20(name string, n schema.Number) string {
	switch name {
	case "ttft_ms", "inference_steps_per_second", "tput_prefill":
		return fixed(n, 1, notAvailable)
	case "throughput_rps", "rtr":
		return fixed(n, 3, notAvailable)
	case "tput_user":
		if v, _ := n.Get(); v < .1 { // two places would be 0.00
			return significant(n)
		}
		return fixed(n, 2, notAvailable)
	}
	return significant(n)
}
