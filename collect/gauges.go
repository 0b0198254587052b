package collect

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/origin"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// gauge names, in the order of a sample's values.
var gaugeNames = [...]string{"running", "waiting", "kv", "preemptions"}

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
		if known[i] = true; gaugeNames[i] == "kv" {
			values[i] = max(values[i], v)
		} else {
			values[i] += v
		}
	}
	return values, known
}

// sampler reads a server's gauges while a point is measured.
type sampler struct {
	stop    context.CancelFunc
	ended   chan struct{}
	began   time.Time
	samples [][]float64 // seconds since the start, then the values; -1 for one that the server does not have
}

// mostSamples is the most samples kept: beyond that every other one is dropped and the interval doubles.
const mostSamples = 120

// sample starts reading once a second; a server without metrics is tried once, and one without an address not at all.
func (s *session) sample(ctx context.Context) *sampler {
	ctx, stop := context.WithCancel(ctx)
	p := &sampler{stop: stop, ended: make(chan struct{}), began: time.Now()}
	go func() {
		defer close(p.ended)
		every := time.Second
		select { // at the very start no request runs yet
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
		for p.one(ctx, s.end.URL) {
			if len(p.samples) >= mostSamples {
				for i := range mostSamples / 2 {
					p.samples[i] = p.samples[2*i]
				}
				p.samples, every = p.samples[:mostSamples/2], 2*every
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(every):
			}
		}
	}()
	return p
}

func (p *sampler) one(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, server.Unresponsive)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/metrics", nil)
	if err != nil || address == "" {
		return false
	}
	at := time.Since(p.began).Seconds()
	resp, err := origin.Client(0).Do(req)
	if err != nil {
		return len(p.samples) > 0 // a server that answers slowly under load is tried again
	}
	defer resp.Body.Close()
	values, known := readGauges(io.LimitReader(resp.Body, 4<<20))
	row, any := []float64{float64(int(at*10)) / 10}, false
	for i, v := range values {
		if !known[i] {
			v = -1
		}
		any = any || known[i]
		row = append(row, v)
	}
	if any {
		p.samples = append(p.samples, row)
	}
	return any
}

// into ends the sampling and writes the series, its means and its peaks to a sidecar.
func (p *sampler) into(side *manifest.Sidecar) {
	p.stop()
	<-p.ended
	if len(p.samples) == 0 {
		return
	}
	side.Samples = &manifest.Samples{Names: append([]string{"s"}, gaugeNames[:]...), Rows: p.samples}
	if side.Client == nil {
		side.Client = map[string]string{}
	}
	put := func(name string, v float64) {
		side.Client["server_"+name] = strconv.FormatFloat(v, 'g', 4, 64)
	}
	for i, name := range gaugeNames {
		sum, peak, first, last := 0., -1., p.samples[0][i+1], -1.
		for _, row := range p.samples {
			sum, peak, last = sum+row[i+1], max(peak, row[i+1]), row[i+1]
		}
		switch {
		case first < 0 || last < 0:
		case name == "preemptions":
			put(name, last-first)
		case name == "kv":
			put(name+"_max", peak)
		default:
			put(name+"_mean", sum/float64(len(p.samples)))
			put(name+"_max", peak)
		}
	}
}
