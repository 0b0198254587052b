package collect

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/ttreport/ttreport/collect/host"
	"github.com/ttreport/ttreport/collect/origin"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
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
func (s *session) readHost(ctx context.Context) {
	_, ours := s.srv.(server.Supervised)
	s.machine.Setting = host.Scheduler()
	u, err := url.Parse(s.end.URL)
	isHere := ours || err == nil && origin.IsHere(u.Hostname())
	if s.plan.Device == schema.Simulated || !isHere && s.plan.DCGM == "" {
		return
	}
	s.findMeter(ctx)
	if !isHere {
		return
	}
	s.machine = host.Read(ctx)
	set := s.machine.Setting
	maps.Copy(set, host.Scheduler())
	switch srv := s.srv.(type) {
	case *server.Command:
		set[SettingServer] = shellescape.QuoteCommand(redact.Argv(srv.Argv))
		name := plan.ServerName{Kind: plan.ServerCommand, Argv: srv.Argv}
		if u, err := url.Parse(srv.URL); err == nil && u.Port() != "" && name.Address(0) != srv.URL {
			set[SettingServerPort] = u.Port()
		}
	case *server.Container: // whose name differs every time
		if len(srv.Args) > 0 {
			set[SettingImageArgs] = shellescape.QuoteCommand(redact.Argv(srv.Args))
		}
	}
	if ours {
		set[schema.SettingStartup] = strconv.FormatFloat(s.took.Seconds(), 'f', 1, 64)
	}
}

// findMeter looks once for what states the power of the accelerators.
func (s *session) findMeter(ctx context.Context) {
	if s.metered {
		return
	}
	s.metered = true
	if s.plan.DCGM == "" {
		s.meter = host.FindMeter(ctx)
		return
	}
	var err error
	if s.meter, err = host.DCGM(ctx, s.plan.DCGM); err != nil {
		s.report(Event{Run: s.id, Step: "server", Note: "no power is measured: " + err.Error()})
	}
}

// gauges are the gauges of a server in the order of a sample's values, each with the servers' names for it (vLLM's and
// SGLang's documentation of metrics, llama.cpp's server README). Those that end in _total are counters, whose names at
// a server may end so, too.
var gauges = [...]gauge{
	{schema.GaugeRunning, []string{"vllm:num_requests_running", "sglang:num_running_reqs",
		"llamacpp:requests_processing"}, 0},
	{schema.GaugeWaiting, []string{"vllm:num_requests_waiting", "sglang:num_queue_reqs", "llamacpp:requests_deferred"}, 0},
	{schema.GaugeKV, []string{"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage",
		"llamacpp:kv_cache_usage_ratio"}, 0},
	{schema.CounterPreemptions, []string{"vllm:num_preemptions"}, 0},
	{schema.CounterPrefixHits, []string{"vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits"}, 0},
	{schema.CounterPrefixQueries, []string{"vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries"}, 0},
	{schema.CounterExternalHits, []string{"vllm:external_prefix_cache_hits"}, 0},
	{schema.CounterExternalQueries, []string{"vllm:external_prefix_cache_queries"}, 0},
	{schema.CounterQueueSeconds, []string{"vllm:request_queue_time_seconds_sum", "sglang:queue_time_seconds_sum"}, 0},
	{schema.CounterQueued, []string{"vllm:request_queue_time_seconds_count", "sglang:queue_time_seconds_count"}, 0},
	{schema.CounterTransferSeconds, []string{"vllm:nixl_xfer_time_seconds_sum"}, 0},
	{schema.CounterTransfers, []string{"vllm:nixl_xfer_time_seconds_count"}, 0},
	{schema.CounterDrafts, []string{"vllm:spec_decode_num_drafts", "llamacpp:spec_decode_num_drafts"}, 0},
	{schema.CounterDraftTokens, []string{"vllm:spec_decode_num_draft_tokens",
		"llamacpp:spec_decode_num_draft_tokens"}, 0},
	{schema.CounterAccepted, []string{"vllm:spec_decode_num_accepted_tokens",
		"llamacpp:spec_decode_num_accepted_tokens"}, 0},
	{schema.GaugePrefixHits, []string{"vllm:gpu_prefix_cache_hit_rate", "sglang:cache_hit_rate"}, 0},
	{schema.GaugeAcceptanceLength, []string{"sglang:spec_accept_length"}, 0},
	{schema.GaugeAcceptanceRate, []string{"sglang:spec_accept_rate"}, 0},
	acceptedAt(1), acceptedAt(2), acceptedAt(3), acceptedAt(4), acceptedAt(5), acceptedAt(6), acceptedAt(7),
	acceptedAt(schema.Places),
}

// gauge is a gauge of a server under its names there. Of a name with a place, only that position's.
type gauge struct {
	name  string
	of    []string
	place int // of a draft, from 1 on
}

func acceptedAt(place int) gauge {
	const name = "spec_decode_num_accepted_tokens_per_pos"
	return gauge{schema.CounterAcceptedAt(place), []string{"vllm:" + name, "llamacpp:" + name}, place}
}

// readGauges reads a server's gauges once; nil where it has none. A gauge that it does not have is -1.
func readGauges(ctx context.Context, address string) (values []float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, server.Unresponsive)
	defer cancel()
	if address == "" {
		return nil, nil
	}
	_, page, err := origin.Ask(ctx, http.MethodGet, address+"/metrics", "", nil)
	return parseGauges(string(page)), err
}

// parseGauges reads the known gauges from a page in the Prometheus text format. Values of one name are summed over its
// labels, since each of several engines has its own; of shares the largest counts.
func parseGauges(page string) []float64 {
	values, any := slices.Repeat([]float64{-1}, len(gauges)), false
	for text := range strings.Lines(page) {
		text = strings.TrimRight(text, "\r\n")
		at := strings.LastIndexByte(text, ' ')
		if at < 0 || text[0] == '#' {
			continue
		}
		name, labels, _ := strings.Cut(text[:at], "{")
		name = strings.TrimSuffix(strings.TrimSpace(name), "_total")
		v, err := strconv.ParseFloat(text[at+1:], 64)
		for i, g := range gauges {
			if err != nil || !slices.Contains(g.of, name) ||
				g.place > 0 && !strings.Contains(labels, fmt.Sprintf(`position="%d"`, g.place-1)) {
				continue
			}
			switch any = true; g.name {
			case schema.GaugeKV, schema.GaugePrefixHits, schema.GaugeAcceptanceLength, schema.GaugeAcceptanceRate:
				values[i] = max(values[i], v)
			default:
				values[i] = max(values[i], 0) + v
			}
		}
	}
	if !any {
		return nil
	}
	return values
}

// sampler reads the gauges of a server and the power of the machine during a measurement.
type sampler struct {
	stop    context.CancelFunc
	began   time.Time
	readers sync.WaitGroup
	gauges  [][]float64 // seconds since the start, then the values; negative: not known
	power   [][]float64
	meter   *host.Meter // nil where nothing states power
}

// Pace of the readings. Every other row is dropped beyond the most, and the interval doubles.
const (
	mostSamples  = 120
	gaugePace    = 500 * time.Millisecond
	powerPace    = time.Second
	mostApart    = 64 // accelerators whose power is kept by itself
	powerCostsAt = 10 // a program that states power runs for at most one part of so many: tt-smi takes a second
)

// sample starts reading. A server without gauges is asked once, and one without an address not at all.
func (s *session) sample(ctx context.Context) *sampler {
	ctx, stop := context.WithCancel(ctx)
	p := &sampler{stop: stop, began: time.Now(), meter: s.meter}
	p.readers.Go(func() {
		p.follow(ctx, &p.gauges, func() ([]float64, time.Duration, bool) {
			values, err := readGauges(ctx, s.end.URL)
			return values, gaugePace, values != nil || err != nil && len(p.gauges) > 0 // it is slow under load
		})
	})
	if p.meter == nil {
		return p
	}
	meter := p.meter.Begin()
	p.readers.Go(func() {
		p.follow(ctx, &p.power, func() ([]float64, time.Duration, bool) {
			began := time.Now()
			r := meter.Read(ctx)
			row := []float64{r.Watts, r.CPU, r.Hottest, r.Memory}
			if len(r.Each) > 1 {
				row = append(row, r.Each[:min(len(r.Each), mostApart)]...)
			}
			if !slices.ContainsFunc(row, func(v float64) bool { return !math.IsNaN(v) }) {
				row = nil
			}
			for i, v := range row {
				if math.IsNaN(v) {
					row[i] = -1
				}
			}
			return row, max(powerPace, powerCostsAt*time.Since(began)), true
		})
	})
	return p
}

// edge reads the counters at an end of a measurement; nil where the server has none. Gauges are those of an idle server
// then, and not known.
func (s *session) edge(ctx context.Context) []float64 {
	values, _ := readGauges(ctx, s.end.URL) // without them those in between are known
	if values == nil {
		return nil
	}
	for i, g := range gauges {
		if !strings.HasSuffix(g.name, "_total") {
			values[i] = -1
		}
	}
	return append([]float64{0}, values...)
}

// follow reads until it is stopped or there is nothing more. read returns a row, or none, and when to read again.
func (p *sampler) follow(ctx context.Context, rows *[][]float64, read func() ([]float64, time.Duration, bool)) {
	slower := time.Duration(1)
	for wait := gaugePace; ; {
		if process.Sleep(ctx, wait) != nil { // at the very start no request runs yet
			return
		}
		at := math.Round(time.Since(p.began).Seconds()*100) / 100
		row, pace, more := read()
		if !more || ctx.Err() != nil {
			return
		}
		if row != nil {
			*rows = append(*rows, append([]float64{at}, row...))
		}
		if len(*rows) >= mostSamples {
			for i := range mostSamples / 2 {
				(*rows)[i] = (*rows)[2*i]
			}
			*rows, slower = (*rows)[:mostSamples/2], 2*slower
		}
		wait = slower * pace
	}
}

// readings are what was read during a measurement, from its first request on.
type readings struct {
	gauges, power [][]float64
	powerOf       string
}

// during ends the reading and returns what was read from an instant on, for some seconds.
func (p *sampler) during(from time.Time, length float64) readings {
	p.stop()
	p.readers.Wait()
	cut := func(rows [][]float64) [][]float64 {
		var out [][]float64
		for _, row := range rows {
			if t := row[0] - from.Sub(p.began).Seconds(); t >= 0 && t <= length {
				row = slices.Clone(row)
				row[0] = math.Round(t*100) / 100
				out = append(out, row)
			}
		}
		return out
	}
	r := readings{gauges: cut(p.gauges), power: cut(p.power)}
	if p.meter != nil {
		r.powerOf = p.meter.Of
	}
	return r
}

// busy returns what was read while the server had requests, nothing where its gauges show none: when a tool sends the
// first one is not known otherwise, and the machine idles until then.
func (p *sampler) busy() readings {
	p.stop()
	p.readers.Wait()
	works := func(row []float64) bool { return row[1] > 0 || row[2] > 0 }
	first := slices.IndexFunc(p.gauges, works)
	if first < 0 {
		return readings{}
	}
	last := len(p.gauges) - 1
	for !works(p.gauges[last]) {
		last--
	}
	from := p.gauges[first][0]
	return p.during(p.began.Add(time.Duration(from*float64(time.Second))), p.gauges[last][0]-from+1e-3)
}

// into writes what was read to a sidecar, and the facts that follow.
func (r readings) into(side *manifest.Sidecar) {
	if side.Client == nil {
		side.Client = map[string]string{}
	}
	for i, g := range gauges {
		if !slices.ContainsFunc(r.gauges, func(row []float64) bool { return row[i+1] >= 0 }) {
			continue // most servers have few of them
		}
		if side.Samples == nil {
			side.Samples = &manifest.Samples{Names: []string{"s"}}
			for _, row := range r.gauges {
				side.Samples.Rows = append(side.Samples.Rows, row[:1:1])
			}
		}
		side.Samples.Names = append(side.Samples.Names, g.name)
		for at, row := range r.gauges {
			side.Samples.Rows[at] = append(side.Samples.Rows[at], row[i+1])
		}
		r.facts(side.Client, i)
	}
	if len(r.power) > 0 {
		names := []string{"s", schema.GaugePower, schema.GaugeCPUPower, schema.GaugeTemperature, schema.GaugeMemory}
		widest := slices.MaxFunc(r.power, func(a, b []float64) int { return len(a) - len(b) })
		for i := range len(widest) - len(names) { // of an accelerator
			name, sum, n := fmt.Sprintf("%s_%d", schema.GaugePower, i), 0., 0.
			for _, row := range r.power {
				if at := len(names); at < len(row) && row[at] >= 0 {
					sum, n = sum+row[at], n+1
				}
			}
			if names = append(names, name); n > 0 {
				side.Client[name+"_mean"] = strconv.FormatFloat(sum/n, 'g', 4, 64)
			}
		}
		side.Power, side.PowerOf = &manifest.Samples{Names: names, Rows: r.power}, r.powerOf
	}
}

// facts adds the mean and the peak of a gauge over a measurement, or by how much a counter grew.
func (r readings) facts(to map[string]string, i int) {
	put := func(name string, v float64) { to["server_"+name] = strconv.FormatFloat(v, 'g', 4, 64) }
	name, sum := gauges[i].name, 0.
	var list []float64
	for _, row := range r.gauges {
		if v := row[i+1]; v >= 0 {
			list, sum = append(list, v), sum+v
		}
	}
	switch {
	case len(list) == 0:
	case strings.HasPrefix(name, "prefix_"): // by time alone
	case strings.HasSuffix(name, "_total"):
		put(strings.TrimSuffix(name, "_total"), list[len(list)-1]-list[0])
	case name == schema.GaugeKV:
		put(name+"_max", slices.Max(list))
	default:
		put(name+"_mean", sum/float64(len(list)))
		put(name+"_max", slices.Max(list))
	}
}
