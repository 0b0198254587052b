package power

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/host"
	"github.com/ttreport/ttreport/ingest/schema"
)

// Reading is what was read at one moment; NaN is not known.
type Reading struct {
	Watts   float64 // of all accelerators
	CPU     float64 // W of all processors' packages, since the reading before
	Hottest float64 // °C of the hottest accelerator
}

// Meter is what states the power of a machine.
type Meter struct {
	Of   string // what Watts is of, a definition of the schema; of the processors where only these are known
	argv []string
	read func([]byte) (watts, hottest float64, err error)
	cpu  *rapl
}

// Reader reads power from a moment on.
type Reader struct {
	meter Meter
	cpu   *rapl
}

// Begin starts the counters of energy: the power of the first reading is that since now.
func (m Meter) Begin() Reader {
	if m.cpu == nil {
		return Reader{meter: m}
	}
	cpu := *m.cpu
	cpu.watts(time.Now())
	return Reader{m, &cpu}
}

// tools are the programs that state power, each with what its numbers are of.
func tools() []Meter {
	return []Meter{
		{Of: schema.DefChips, argv: []string{"tt-smi", "-s"}, read: tenstorrent},
		{Of: schema.DefBoards, argv: []string{"nvidia-smi", "--query-gpu=power.draw,temperature.gpu",
			"--format=csv,noheader,nounits"}, read: nvidia},
		{Of: schema.DefPackages, argv: []string{"rocm-smi", "--showpower", "--showtemp", "--json"}, read: rocm},
	}
}

// Find looks for what states power on this machine; ok is false where nothing does.
func Find(ctx context.Context) (m Meter, ok bool) {
	cpu := newRAPL(os.DirFS("/sys/class/powercap"))
	for _, m := range tools() {
		if r, err := m.ask(ctx); err == nil && !math.IsNaN(r.Watts) {
			m.cpu = cpu
			return m, true
		}
	}
	return Meter{Of: schema.DefCPUs, cpu: cpu}, cpu != nil
}

// Read reads once. The error is of a program that did not answer; what is known beside it is in the reading.
func (r Reader) Read(ctx context.Context) (Reading, error) {
	out, err := unknown(), error(nil)
	if r.meter.argv != nil {
		out, err = r.meter.ask(ctx)
	}
	if r.cpu != nil {
		out.CPU = r.cpu.watts(time.Now())
	}
	return out, err
}

func unknown() Reading { return Reading{Watts: math.NaN(), CPU: math.NaN(), Hottest: math.NaN()} }

func (m Meter) ask(ctx context.Context) (Reading, error) {
	r := unknown()
	out, err := host.Ask(ctx, m.argv)
	if err != nil {
		return r, err
	}
	watts, hottest, err := m.read(out)
	if err == nil {
		r.Watts, r.Hottest = watts, hottest
	}
	return r, err
}

// errNone is returned where a program lists no device.
var errNone = errors.New("no device states its power")

// devices joins what devices state.
type devices struct {
	watts, hottest float64
	n              int
}

func (d *devices) add(watts, celsius float64) {
	if d.n++; d.n == 1 {
		d.hottest = celsius
	}
	d.watts += watts // NaN stays
	if celsius > d.hottest || math.IsNaN(d.hottest) {
		d.hottest = celsius
	}
}

func (d *devices) total() (watts, hottest float64, err error) {
	if d.n == 0 {
		return math.NaN(), math.NaN(), errNone
	}
	return d.watts, d.hottest, nil
}

// number reads a value that a program printed, NaN for "N/A" and the like. No device takes less than nothing, or more
// than a rack.
func number(text string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(v >= 0 && v < 1e5) {
		return math.NaN()
	}
	return v
}

// tenstorrent reads the snapshot of tt-smi -s.
func tenstorrent(data []byte) (watts, hottest float64, err error) {
	var s struct {
		Devices []struct {
			Telemetry struct {
				Power       string `json:"power"`
				Temperature string `json:"asic_temperature"`
			} `json:"telemetry"`
		} `json:"device_info"`
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return 0, 0, err
	}
	var d devices
	for _, x := range s.Devices {
		d.add(number(x.Telemetry.Power), number(x.Telemetry.Temperature))
	}
	return d.total()
}

// nvidia reads lines of power and temperature.
func nvidia(data []byte) (watts, hottest float64, err error) {
	r := csv.NewReader(strings.NewReader(string(data)))
	r.TrimLeadingSpace, r.FieldsPerRecord = true, 2
	rows, err := r.ReadAll()
	if err != nil {
		return 0, 0, err
	}
	var d devices
	for _, row := range rows {
		d.add(number(row[0]), number(row[1]))
	}
	return d.total()
}

// rocm reads the members card0, card1 … of rocm-smi --json.
func rocm(data []byte) (watts, hottest float64, err error) {
	var all map[string]map[string]string
	if err := json.Unmarshal(data, &all); err != nil {
		return 0, 0, err
	}
	var d devices
	for card, facts := range all {
		if !strings.HasPrefix(card, "card") {
			continue
		}
		watts, hot := math.NaN(), math.NaN()
		for name, text := range facts {
			switch {
			case strings.HasPrefix(name, "Max"): // a limit
			case strings.HasSuffix(name, "Graphics Package Power (W)") && strings.Contains(text, "Secondary die"):
				watts = 0
			case strings.HasSuffix(name, "Graphics Package Power (W)"):
				watts = number(text)
			case strings.HasPrefix(name, "Temperature (Sensor"):
				if c := number(text); c > hot || math.IsNaN(hot) {
					hot = c
				}
			}
		}
		d.add(watts, hot)
	}
	return d.total()
}

// rapl are the energy counters of the processors' packages.
type rapl struct {
	files  fs.FS
	zones  []zone
	at     time.Time
	before []float64 // µJ
}

type zone struct {
	path string
	most float64 // µJ, after which it begins anew
}

// newRAPL finds the packages; nil where there are none that may be read.
func newRAPL(files fs.FS) *rapl {
	names, err := fs.Glob(files, "intel-rapl:*")
	if err != nil {
		return nil
	}
	r := &rapl{files: files}
	for _, dir := range names {
		if name, _ := fs.ReadFile(files, dir+"/name"); !strings.HasPrefix(string(name), "package-") {
			continue // cores and memory are parts of a package
		}
		r.zones = append(r.zones, zone{dir + "/energy_uj", r.file(dir + "/max_energy_range_uj")})
	}
	r.before, r.at = r.energy(), time.Now()
	for _, e := range r.before {
		if math.IsNaN(e) {
			return nil
		}
	}
	if len(r.zones) == 0 {
		return nil
	}
	return r
}

func (r *rapl) file(name string) float64 {
	data, err := fs.ReadFile(r.files, name)
	if err != nil {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(string(data)), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

func (r *rapl) energy() []float64 {
	out := make([]float64, len(r.zones))
	for i, z := range r.zones {
		out[i] = r.file(z.path)
	}
	return out
}

// watts is the mean power since it was called before.
func (r *rapl) watts(now time.Time) float64 {
	energy, sum := r.energy(), 0.
	for i, e := range energy {
		grown := e - r.before[i]
		if grown < 0 {
			grown += r.zones[i].most
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
