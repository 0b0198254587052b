// Package aiperf runs NVIDIA's AIPerf.
//
// It leaves sockets and memory maps in its temporary folder, so it gets one of its own. A key could only be given on its command line,
// where every user of the machine reads it: it gets none.
package aiperf

import (
	"github.com/ttreport/ttreport/collect/tool"
)

const result = "profile_export_aiperf.json"

// Adapter is the tool.
func Adapter() tool.Adapter {
	return tool.Adapter{Name: "aiperf", Program: "aiperf", Version: []string{"--version"}, Help: []string{"profile", "--help"}, Keyless: true, Command: command, Read: read}
}

func command(j tool.Job, out string, has tool.Flags) tool.Command {
	kind := "completions"
	if j.Chat {
		kind = "chat"
	}
	argv := []string{"profile", "--model", j.Model, "--url", j.URL, "--endpoint-type", kind, "--streaming"}
	if j.Rate > 0 {
		argv = append(argv, "--request-rate", tool.Float(j.Rate))
	}
	if j.Concurrency > 0 {
		argv = append(argv, "--concurrency", tool.Int(j.Concurrency))
	}
	argv = append(argv, "--request-count", tool.Int(j.Requests), "--isl", tool.Int(j.ISL), "--isl-stddev", "0", "--osl", tool.Int(j.OSL), "--osl-stddev", "0", "--extra-inputs", "ignore_eos:true", "--random-seed", tool.Seed(j.Seed))
	if j.Tokenizer != "" {
		argv = append(argv, "--tokenizer", j.Tokenizer)
	}
	argv = append(argv, "--artifact-dir", out)
	if has.Has("--ui") {
		argv = append(argv, "--ui", "none")
	} else {
		argv = has.With(argv, "--ui-type", "none")
	}
	argv = has.With(argv, "--no-gpu-telemetry")
	argv = has.With(argv, "--no-server-metrics")
	return tool.Command{Argv: append(argv, j.Extra...), Conditions: j.Conditions("ignore_eos", "true", "endpoint", kind)}
}

func read(out string) (tool.Summary, error) {
	s := tool.Summary{File: result}
	type metric struct{ Avg *float64 }
	var r struct {
		Count    metric `json:"request_count"`
		Errors   metric `json:"error_request_count"`
		TTFT     metric `json:"time_to_first_token"`
		TPOT     metric `json:"inter_token_latency"`
		Latency  metric `json:"request_latency"`
		Duration metric `json:"benchmark_duration"`
	}
	if err := tool.ReadJSON(out, result, "aiperf left no "+result+": with no success at all it writes none", &r); err != nil {
		return s, err
	}
	get := func(m metric) float64 {
		if m.Avg == nil {
			return 0
		}
		return *m.Avg
	}
	s.Completed, s.Failed, s.TTFT, s.TPOT = int(get(r.Count)), int(get(r.Errors)), get(r.TTFT), get(r.TPOT)
	if d := get(r.Duration); d > 0 {
		s.Reached = get(r.Latency) / 1000 * get(r.Count) / d
	}
	return s, nil
}
