package collect

import (
	"bufio"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/ttreport/ttreport/collect/host"
	"github.com/ttreport/ttreport/collect/origin"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
)

// Facts of a manifest's setting that state how the server was started, for a shell: the command line of a program, the
// arguments of an image.
const (
	SettingServer     = "server"
	SettingServerPort = "server_port" // where the command line does not state it
	SettingImageArgs  = "image_args"
)

// readHost reads facts about the host if the server runs on this machine, and the start time of a server that we
// started.
func (s *session) readHost(ctx context.Context, srv server.Server, took time.Duration) {
	_, ours := srv.(server.Supervised)
	s.machine.Setting = host.Scheduler()
	if s.plan.Device == schema.Simulated || !ours && !local(s.end.URL) {
		return
	}
	s.machine = host.Read(ctx)
	s.findMeter(ctx)
	maps.Copy(s.machine.Setting, host.Scheduler())
	switch srv := srv.(type) {
	case *server.Command:
		s.machine.Setting[SettingServer] = shellescape.QuoteCommand(redact.Argv(srv.Argv))
		name := plan.ServerName{Kind: plan.ServerCommand, Argv: srv.Argv}
		if u, err := url.Parse(srv.URL); err == nil && u.Port() != "" && name.Address(0) != srv.URL {
			s.machine.Setting[SettingServerPort] = u.Port()
		}
	case *server.Container: // whose name differs every time
		if len(srv.Args) > 0 {
			s.machine.Setting[SettingImageArgs] = shellescape.QuoteCommand(redact.Argv(srv.Args))
		}
	}
	if ours {
		s.machine.Setting[schema.SettingStartup] = strconv.FormatFloat(took.Seconds(), 'f', 1, 64)
	}
}

// local reports whether an address is on this machine's loopback interface.
func local(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// gaugeNames are the gauges in the order of a sample's values. Those that end in _total are counters.
var gaugeNames = [...]string{
	schema.GaugeRunning, schema.GaugeWaiting, schema.GaugeKV, schema.CounterPreemptions,
	schema.CounterPrefixHits, schema.CounterPrefixQueries, schema.GaugePrefixHits,
}

// gaugeOf maps the servers' names of the gauges to our order (vLLM's and SGLang's documentation of metrics,
// llama.cpp's server README).
func gaugeOf(name string) int {
	switch name {
	case "vllm:num_requests_running", "sglang:num_running_reqs", "llamacpp:requests_processing":
		return 0
	case "vllm:num_requests_waiting", "sglang:num_queue_reqs", "llamacpp:requests_deferred":
		return 1
	case "vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage", "llamacpp:kv_cache_usage_ratio":
		return 2
	case "vllm:num_preemptions_total", "vllm:num_preemptions":
		return 3
	case "vllm:prefix_cache_hits_total", "vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits_total":
		return 4
	case "vllm:prefix_cache_queries_total", "vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries_total":
		return 5
	case "vllm:gpu_prefix_cache_hit_rate", "sglang:cache_hit_rate":
		return 6
	}
	return -1
}

// readGauges reads the known gauges from a page in the Prometheus text format. Values of one name are summed over its
// labels, since each of several engines has its own; of the KV cache usage the largest counts.
func readGauges(r io.Reader) (values [len(gaugeNames)]float64, known [len(gaugeNames)]bool) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		text := lines.Text()
		at := strings.LastIndexByte(text, ' ')
		if at < 0 || text[0] == '#' {
			continue
		}
		name, _, _ := strings.Cut(text[:at], "{")
		i := gaugeOf(strings.TrimSpace(name))
		v, err := strconv.ParseFloat(text[at+1:], 64)
		if i < 0 || err != nil {
			continue
		}
		if known[i] = true; gaugeNames[i] == schema.GaugeKV || gaugeNames[i] == schema.GaugePrefixHits {
			values[i] = max(values[i], v)
		} else {
			values[i] += v
		}
	}
	return values, known
}

// gauges reads a server's gauges once; nil where it has none. A gauge that it does not have is -1.
func gauges(ctx context.Context, address string) (values []float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, server.Unresponsive)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/metrics", nil)
	if err != nil || address == "" {
		return nil, nil
	}
	resp, err := origin.Client(0).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	list, known := readGauges(io.LimitReader(resp.Body, 4<<20))
	any := false
	for i := range list {
		if !known[i] {
			list[i] = -1
		}
		any = any || known[i]
	}
	if !any {
		return nil, nil
	}
	return list[:], nil
}

// facts are the means and peaks of gauges over a measurement, and by how much counters grew.
func facts(rows [][]float64) map[string]string {
	out := map[string]string{}
	if len(rows) == 0 {
		return out
	}
	put := func(name string, v float64) { out["server_"+name] = strconv.FormatFloat(v, 'g', 4, 64) }
	for i, name := range gaugeNames {
		sum, peak, first, last := 0., -1., rows[0][i+1], -1.
		for _, row := range rows {
			sum, peak, last = sum+row[i+1], max(peak, row[i+1]), row[i+1]
		}
		switch {
		case first < 0 || last < 0:
		case strings.HasPrefix(name, "prefix_"): // by time alone
		case strings.HasSuffix(name, "_total"):
			put(strings.TrimSuffix(name, "_total"), last-first)
		case name == schema.GaugeKV:
			put(name+"_max", peak)
		default:
			put(name+"_mean", sum/float64(len(rows)))
			put(name+"_max", peak)
		}
	}
	return out
}
