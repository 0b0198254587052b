package table

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Propose returns the mapping of a table as a person would begin it in ttreport.yaml, from the line of its headings:
// what a heading names with its unit. "" where no heading names a metric and its unit. Nothing is read by it until
// somebody wrote it down.
func Propose(file string, head []byte) string {
	line := csv.NewReader(bytes.NewReader(head))
	line.Comma, line.TrimLeadingSpace = separator(head), true
	headings, err := line.Read()
	if err != nil {
		return ""
	}
	var columns strings.Builder
	taken := map[string]bool{}
	metrics := 0
	for _, h := range headings {
		says, isMetric := meaning(strings.TrimSpace(h))
		if says == "" || taken[says] {
			continue
		}
		taken[says] = true
		if isMetric {
			metrics++
		}
		fmt.Fprintf(&columns, "      %s: %s\n", key(strings.TrimSpace(h)), says)
	}
	if metrics == 0 {
		return ""
	}
	return fmt.Sprintf("tables:\n  - files: %q\n    columns:\n%s", counters.ReplaceAllString(path.Base(file), "*"),
		strings.TrimSuffix(columns.String(), "\n"))
}

// counters are what tells the files of one kind apart, dates and numbers, and what a pattern would take for its own.
var counters = regexp.MustCompile(`\d[\d_.:T-]*\d|\d|[*?{}\[\]\\]+`)

// plainKey is a heading that YAML takes as it is.
var plainKey = regexp.MustCompile(`^[A-Za-z_][\w .()/%-]*$`)

func key(heading string) string {
	if plainKey.MatchString(heading) {
		return heading
	}
	return fmt.Sprintf("%q", heading)
}

// meaning is what a column holds by its heading, as a mapping says it; "" for what a person has to say. Tokens that a
// tool counted are no lengths that were asked for, and a rate without a unit is none.
func meaning(heading string) (says string, isMetric bool) {
	name := strings.Trim(separators.ReplaceAllString(strings.ToLower(heading), "_"), "_")
	for _, f := range []struct{ says, names string }{
		{"model", "model model_name model_id"}, {"device", "device gpu gpu_type gpu_name accelerator hardware"},
		{"engine", "engine backend framework serving_engine"}, {"version", "engine_version backend_version"},
		{"release", "release"}, {"start", "timestamp start_time"}, {"dataset", "dataset"}, {"task", "task"},
		{"isl", "isl input_len input_length input_tokens input_sequence_length"},
		{"osl", "osl output_len output_length output_tokens output_sequence_length"},
		{"concurrency", "concurrency max_concurrency num_concurrent users num_users"}, {"rate", "request_rate"},
		{"dim tp", "tp tp_size tensor_parallel tensor_parallel_size"}, {"dim quant", "quant quantization precision"},
	} {
		if strings.Contains(" "+f.names+" ", " "+name+" ") {
			return f.says, false
		}
	}
	for _, f := range []struct{ says, rate string }{
		{"output_tps tok/s", "output_tok"}, {"total_tps tok/s", "total_tok"}, {"rps req/s", "req"},
	} {
		if rest, is := strings.CutPrefix(name, f.rate); is && perSecond.MatchString(rest) {
			return f.says, true
		}
	}
	return latency(name)
}

// separators are what stands between the words of a heading.
var separators = regexp.MustCompile(`[^a-z0-9./]+`)

// Parts of a heading that name a rate, or a latency with its statistic and its unit: "ttft_p99_ms", "Mean ITL (ms)".
var (
	perSecond   = regexp.MustCompile(`^(en|uest)?s?(/|_per_|_)s(ec|econd)?$`)
	latencyName = regexp.MustCompile(`(?:^|_)(ttft|tpot|itl|e2el|time_to_first_token|time_per_output_token|` +
		`inter_token_latency|e2e_latency|end_to_end_latency)(?:_|$)`)
	statistic = regexp.MustCompile(`(?:^|_)(mean|avg|average|median|std|min|max|p\d\d?(?:\.\d)?)(?:_|$)`)
	timeUnit  = regexp.MustCompile(`_(ms|us|s)(?:ec|econds)?$`)
)

// latency is the mapping of a column of latencies; "" where its heading names none, or not in which unit.
func latency(name string) (says string, isMetric bool) {
	named, unit := latencyName.FindStringSubmatch(name), timeUnit.FindStringSubmatch(name)
	if named == nil || unit == nil {
		return "", false
	}
	stat := "value"
	if s := statistic.FindStringSubmatch(name); s != nil {
		stat = s[1]
	}
	short := strings.NewReplacer("time_to_first_token", "ttft", "time_per_output_token", "tpot", "inter_token_latency",
		"itl", "e2e_latency", "e2el", "end_to_end_latency", "e2el", "average", "mean", "avg", "mean", "p50", "median")
	return short.Replace(named[1] + " " + stat + " " + unit[1]), true
}
