package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
)

// Power is what was read at one moment; NaN is not known.
type Power struct {
	Watts   float64   // of all accelerators
	CPU     float64   // W of all processors' packages, since the reading before
	Hottest float64   // °C of the hottest accelerator
	Memory  float64   // GiB of the accelerator that uses most
	Each    []float64 // W of each accelerator
}

// Meter is what states the power of a machine.
type Meter struct {
	Of    string // what Watts is of, a definition of the schema; of the processors where only these are known
	query query  // without a program where only the processors' power is known
	cpu   *rapl
}

// FindMeter looks for what states power on this machine; nil where nothing does.
func FindMeter(ctx context.Context) *Meter {
	cpu := newRAPL(os.DirFS("/sys/class/powercap"))
	for _, q := range powers {
		if p, err := power(q.devices(ctx)); err == nil && !math.IsNaN(p.Watts) {
			return &Meter{Of: q.power, query: q, cpu: cpu}
		}
	}
	if cpu == nil {
		return nil
	}
	return &Meter{Of: schema.DefCPUs, cpu: cpu}
}

// DCGM is the meter of the exporter at an address, which states the power of all boards of its machine.
func DCGM(ctx context.Context, address string) (*Meter, error) {
	m := &Meter{Of: schema.DefBoards, query: query{url: address, read: dcgm}}
	p, err := power(m.query.devices(ctx))
	if err == nil && math.IsNaN(p.Watts) {
		err = errors.New("not every GPU reports its power")
	}
	if err != nil {
		return nil, fmt.Errorf("DCGM's exporter at %s: %w", redact.URL(address), err)
	}
	return m, nil
}

// Begin returns a meter whose first reading of the processors' power is of the time since now.
func (m Meter) Begin() Meter {
	if m.cpu != nil {
		cpu := *m.cpu
		cpu.watts(time.Now())
		m.cpu = &cpu
	}
	return m
}

// Read reads once. Of a program that did not answer nothing is known.
func (m Meter) Read(ctx context.Context) Power {
	out, _ := power(nil, nil)
	if m.query.read != nil {
		out, _ = power(m.query.devices(ctx)) // it is asked again
	}
	if m.cpu != nil {
		out.CPU = m.cpu.watts(time.Now())
	}
	return out
}

// power joins what devices state.
func power(list []device, err error) (Power, error) {
	nan := math.NaN()
	out := Power{nan, nan, nan, nan, nil}
	if err == nil && len(list) == 0 {
		err = errors.New("no device reports its power")
	}
	if err != nil {
		return out, err
	}
	out.Watts = 0
	for _, d := range list {
		out.Each = append(out.Each, plausible(d.watts))
		out.Watts += plausible(d.watts) // NaN stays
		out.Hottest = larger(out.Hottest, plausible(d.celsius))
		out.Memory = larger(out.Memory, plausible(d.gib))
	}
	return out, nil
}

// larger is the larger of two numbers, of which either may be unknown.
func larger(a, b float64) float64 {
	if b > a || math.IsNaN(a) {
		return b
	}
	return a
}

// plausible is NaN for a number that no device has, as tt-smi prints where a register overflows: more than a rack.
func plausible(v float64) float64 {
	if v < 1e5 {
		return v
	}
	return math.NaN()
}

// rapl are the energy counters of the processors' packages.
type rapl struct {
	files  fs.FS
	zones  []string
	most   []float64 // µJ, after which a counter begins anew
	at     time.Time
	before []float64 // µJ
}

// newRAPL finds the packages; nil where there are none that may be read.
func newRAPL(files fs.FS) *rapl {
	names, _ := fs.Glob(files, "intel-rapl:*")
	r := &rapl{files: files}
	for _, dir := range names {
		if name, _ := fs.ReadFile(files, dir+"/name"); strings.HasPrefix(string(name), "package-") {
			r.zones = append(r.zones, dir) // cores and memory are parts of a package
		}
	}
	r.most = r.values("/max_energy_range_uj")
	r.before, r.at = r.values("/energy_uj"), time.Now()
	sum := 0.
	for _, e := range r.before {
		sum += e
	}
	if len(r.zones) == 0 || math.IsNaN(sum) {
		return nil
	}
	return r
}

// values reads a file of each package.
func (r *rapl) values(name string) []float64 {
	out := make([]float64, len(r.zones))
	for i, dir := range r.zones {
		data, _ := fs.ReadFile(r.files, dir+name) // nothing is no number
		out[i] = number(string(data))
	}
	return out
}

// watts is the mean power since it was called before.
func (r *rapl) watts(now time.Time) float64 {
	energy, sum := r.values("/energy_uj"), 0.
	for i, e := range energy {
		grown := e - r.before[i]
		if grown < 0 {
			grown += r.most[i]
		}
		sum += grown
	}
	passed := now.Sub(r.at).Seconds()
	r.before, r.at = energy, now
	if !(passed > 0) || !(sum >= 0) {
		return math.NaN()
	}
	return sum / 1e6 / passed
}
