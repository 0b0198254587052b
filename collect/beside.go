package collect

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ttreport/ttreport/collect/power"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// sampler reads, beside a measurement, the gauges of its server and the power of the machine.
type sampler struct {
	stop    context.CancelFunc
	began   time.Time
	readers sync.WaitGroup
	gauges  [][]float64 // seconds since the start, then the values; negative: not known
	power   [][]float64
	meter   *power.Meter // nil where nothing states power
}

// Pace of the readings. Every other row is dropped beyond the most, and the interval doubles.
const (
	mostSamples  = 120
	gaugePace    = 500 * time.Millisecond
	powerPace    = time.Second
	powerCostsAt = 10 // a program that states power runs for at most one part of so many: tt-smi takes a second
)

// powerNames are the columns of power.
var powerNames = [...]string{schema.GaugePower, schema.GaugeCPUPower, schema.GaugeTemperature}

// sample starts reading. A server without gauges is asked once, and one without an address not at all.
func (s *session) sample(ctx context.Context) *sampler {
	ctx, stop := context.WithCancel(ctx)
	p := &sampler{stop: stop, began: time.Now(), meter: s.meter}
	p.readers.Go(func() {
		p.follow(ctx, &p.gauges, func() ([]float64, time.Duration, bool) {
			values, err := gauges(ctx, s.end.URL)
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
			r, _ := meter.Read(ctx) // a program that fails once is asked again
			return powerRow(r), max(powerPace, powerCostsAt*time.Since(began)), true
		})
	})
	return p
}

// powerRow is a reading as a row; nil where nothing is known.
func powerRow(r power.Reading) []float64 {
	row, known := []float64{r.Watts, r.CPU, r.Hottest}, false
	for i, v := range row {
		if math.IsNaN(v) {
			row[i] = -1
		} else {
			known = true
		}
	}
	if !known {
		return nil
	}
	return row
}

// follow reads until it is stopped or there is nothing more. read returns a row, or none, and when to read again.
func (p *sampler) follow(ctx context.Context, rows *[][]float64, read func() ([]float64, time.Duration, bool)) {
	slower := time.Duration(1)
	for wait := gaugePace; ; {
		select { // at the very start no request runs yet
		case <-ctx.Done():
			return
		case <-time.After(wait):
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

// beside is what was read beside a measurement, from its first request on.
type beside struct {
	gauges, power [][]float64
	powerOf       string
}

// during ends the reading and returns what was read from an instant on, for some seconds. at is the time of the instant
// in the measurement.
func (p *sampler) during(from time.Time, length, at float64) beside {
	p.stop()
	p.readers.Wait()
	cut := func(rows [][]float64) [][]float64 {
		var out [][]float64
		for _, row := range rows {
			if t := row[0] - from.Sub(p.began).Seconds(); t >= 0 && t <= length {
				row = slices.Clone(row)
				row[0] = math.Round((t+at)*100) / 100
				out = append(out, row)
			}
		}
		return out
	}
	b := beside{gauges: cut(p.gauges), power: cut(p.power)}
	if p.meter != nil {
		b.powerOf = p.meter.Of
	}
	return b
}

// of returns what was read during a load.
func (p *sampler) of(out builtin.Outcome) beside {
	return p.during(out.Began, out.Duration.Seconds(), 0)
}

// busy returns what was read while the server had requests, nothing where its gauges show none: when a tool sends the
// first one is not known otherwise, and the machine idles until then.
func (p *sampler) busy() beside {
	p.stop()
	p.readers.Wait()
	idle := func(row []float64) bool { return row[1] <= 0 && row[2] <= 0 }
	first := slices.IndexFunc(p.gauges, func(row []float64) bool { return !idle(row) })
	if first < 0 {
		return beside{}
	}
	last := len(p.gauges) - 1
	for last > first && idle(p.gauges[last]) {
		last--
	}
	from := p.gauges[first][0]
	return p.during(p.began.Add(time.Duration(from*float64(time.Second))), p.gauges[last][0]-from+1e-3, 0)
}

// and joins what was read in a later visit to the same point. Counters go on where the earlier visit left them: what
// they grew by meanwhile is of other points.
func (b beside) and(later beside) beside {
	for i, name := range gaugeNames {
		if !strings.HasSuffix(name, "_total") {
			continue
		}
		known := func(row []float64) bool { return row[i+1] >= 0 }
		first := slices.IndexFunc(later.gauges, known)
		last := len(b.gauges) - 1
		for last >= 0 && !known(b.gauges[last]) {
			last--
		}
		if first < 0 || last < 0 {
			continue
		}
		grown := later.gauges[first][i+1] - b.gauges[last][i+1]
		for _, row := range later.gauges[first:] {
			if known(row) {
				row[i+1] -= grown
			}
		}
	}
	b.gauges, b.power = slices.Concat(b.gauges, later.gauges), slices.Concat(b.power, later.power)
	b.powerOf = later.powerOf
	return b
}

// into writes what was read to a sidecar, and the facts that follow.
func (b beside) into(side *manifest.Sidecar) {
	if side.Client == nil {
		side.Client = map[string]string{}
	}
	if len(b.gauges) > 0 {
		side.Samples = &manifest.Samples{Names: append([]string{"s"}, gaugeNames[:]...), Rows: b.gauges}
		maps.Copy(side.Client, facts(b.gauges))
	}
	if len(b.power) > 0 {
		side.Power = &manifest.Samples{Names: append([]string{"s"}, powerNames[:]...), Rows: b.power}
		side.PowerOf = b.powerOf
	}
}

// findMeter looks once for what states the power of this machine.
func (s *session) findMeter(ctx context.Context) {
	if s.metered {
		return
	}
	s.metered = true
	if m, ok := power.Find(ctx); ok {
		s.meter = &m
	}
}
