package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/origin"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// device is what a program states of an accelerator; what it does not state is "" or NaN.
type device struct {
	name, firmware, driver string
	watts, celsius, gib    float64
}

// query asks a program, or an exporter, about the accelerators.
type query struct {
	argv  []string
	url   string
	read  func([]byte) ([]device, error)
	power string // what watts is of, a definition of the schema
}

// facts and powers are the queries for each purpose.
var (
	facts = []query{
		{argv: []string{"tt-smi", "-s"}, read: tenstorrent},
		{argv: []string{"nvidia-smi", "--query-gpu=name,driver_version,vbios_version,memory.total,power.limit",
			"--format=csv,noheader"}, read: nvidia(5, func(row []string) device {
			return device{name: row[0] + " " + row[3] + " " + row[4], driver: row[1], firmware: row[2]}
		})},
		{argv: []string{"rocm-smi", "--showproductname", "--showdriverversion", "--showvbios", "--json"}, read: rocm},
	}
	powers = []query{
		{argv: []string{"tt-smi", "-s"}, read: tenstorrent, power: schema.DefChips},
		{argv: []string{"nvidia-smi", "--query-gpu=power.draw,temperature.gpu,memory.used",
			"--format=csv,noheader,nounits"}, read: nvidia(3, func(row []string) device {
			return device{watts: number(row[0]), celsius: number(row[1]), gib: number(row[2]) / 1024}
		}), power: schema.DefBoards},
		{argv: []string{"rocm-smi", "--showpower", "--showtemp", "--showmeminfo", "vram", "--json"}, read: rocm,
			power: schema.DefPackages},
	}
)

// devices asks the program, or the exporter.
func (q query) devices(ctx context.Context) ([]device, error) {
	var out []byte
	var err error
	if q.url == "" {
		out, err = ask(ctx, q.argv)
	} else {
		ctx, cancel := context.WithTimeout(ctx, answersWithin)
		defer cancel()
		_, out, err = origin.Ask(ctx, http.MethodGet, q.url, "", nil)
	}
	if err != nil {
		return nil, err
	}
	return q.read(out)
}

// answersWithin is how long a program, or an exporter, may take.
const answersWithin = 10 * time.Second

// dcgm reads the page of DCGM's exporter: a line for each GPU and field, DCGM_FI_DEV_POWER_USAGE{gpu="0",…} 68.1. Parts
// of a GPU (MIG) repeat its values.
func dcgm(data []byte) (out []device, err error) {
	by := map[string]*device{}
	for text := range strings.Lines(string(data)) {
		m := dcgmLine.FindStringSubmatch(strings.TrimSpace(text))
		if m == nil {
			continue
		}
		d := by[m[2]]
		if d == nil {
			d = &device{watts: math.NaN(), celsius: math.NaN(), gib: math.NaN()}
			by[m[2]] = d
		}
		switch v := number(m[3]); {
		case m[1] == "POWER_USAGE":
			d.watts = v
		case m[1] == "GPU_TEMP":
			d.celsius = v
		case math.IsNaN(d.gib):
			d.gib = v / 1024
		default: // a part has its own memory
			d.gib += v / 1024
		}
	}
	for _, gpu := range slices.SortedFunc(maps.Keys(by), schema.NaturalCompare) {
		out = append(out, *by[gpu])
	}
	return out, nil
}

var dcgmLine = lazyregexp.New(`^DCGM_FI_DEV_(POWER_USAGE|GPU_TEMP|FB_USED)\{(?:.*,)?gpu="([^"]*)".*\} (\S+)$`)

// ask returns what a program prints, without warnings before a JSON object. It has ten seconds; a child of it that
// keeps its output open is not waited for.
func ask(ctx context.Context, argv []string) ([]byte, error) {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrWaitDelay) { // it ended well, its child has not
		err = nil
	}
	if i := bytes.Index(out, []byte("\n{")); i >= 0 && out[0] != '{' {
		out = out[i+1:]
	}
	return out, err
}

// number reads a value that a program printed, NaN for "N/A" and the like.
func number(text string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(v >= 0) {
		return math.NaN()
	}
	return v
}

// tenstorrent reads the snapshot that "tt-smi -s" prints.
func tenstorrent(data []byte) (out []device, err error) {
	s, problem := decode.Document("tt-smi", data)
	if problem != nil {
		return nil, problem
	}
	for d := range s.Get("device_info").Items() {
		out = append(out, device{name: d.At("board_info", "board_type").Str(), driver: s.At("host_info", "Driver").Str(),
			firmware: d.At("firmwares", "fw_bundle_version").Str(), watts: number(d.At("telemetry", "power").Text()),
			celsius: number(d.At("telemetry", "asic_temperature").Text()), gib: math.NaN()})
	}
	return out, nil
}

// boards are the names of Tenstorrent's systems by their boards, as tt-inference-server has them
// (workflows/device_utils.py at 11ac526e, 2026-08-22). An n300 and a p300 are two chips, which tt-smi lists one by one.
var boards = map[string]string{
	"1 n150": "n150", "4 n150": "n150x4", "1 n300": "n300", "4 n300": "t3k", "32 tt-galaxy-wh": "galaxy", "1 e150": "e150",
	"1 p100": "p100", "1 p150": "p150", "4 p150": "p150x4", "8 p150": "p150x8", "1 p300": "p300", "2 p300": "p300x2",
	"32 tt-galaxy-bh": "blackhole_galaxy",
}

// Device returns the name of the Tenstorrent system that this machine is, and its boards as "4 n300"; "" where tt-smi
// is not there, or lists boards that make up none.
func Device(ctx context.Context) (name, of string) {
	list, err := facts[0].devices(ctx)
	if err != nil || len(list) == 0 {
		return "", ""
	}
	kindOf := func(d device) string {
		kind, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(d.name)), " ") // n300 L, n300 R
		return kind
	}
	kind, n := kindOf(list[0]), len(list)
	if slices.ContainsFunc(list, func(d device) bool { return kindOf(d) != kind }) {
		return "", ""
	}
	if kind == "n300" || kind == "p300" {
		if n%2 != 0 {
			return "", ""
		}
		n /= 2
	}
	of = strconv.Itoa(n) + " " + kind
	return boards[of], of
}

// nvidia reads the lines that nvidia-smi prints for a query, of so many fields.
func nvidia(fields int, of func(row []string) device) func([]byte) ([]device, error) {
	return func(data []byte) (out []device, err error) {
		r := csv.NewReader(bytes.NewReader(data))
		r.TrimLeadingSpace, r.FieldsPerRecord = true, fields
		rows, err := r.ReadAll()
		for _, row := range rows {
			out = append(out, of(row))
		}
		return out, err
	}
}

// rocm reads the object that rocm-smi prints for any query: members card0, card1 … and system.
func rocm(data []byte) (out []device, err error) {
	var all map[string]map[string]string
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	for _, card := range slices.SortedFunc(maps.Keys(all), schema.NaturalCompare) {
		if !strings.HasPrefix(card, "card") {
			continue
		}
		facts := all[card]
		d := device{
			name:     cmp.Or(facts["Card Series"], facts["Card series"], facts["Card SKU"], card),
			firmware: facts["VBIOS version"], driver: all["system"]["Driver version"],
			watts: math.NaN(), celsius: math.NaN(), gib: math.NaN(),
		}
		for name, text := range facts {
			switch {
			case strings.HasPrefix(name, "Max"): // a limit
			case strings.HasSuffix(name, "Graphics Package Power (W)") && strings.Contains(text, "Secondary die"):
				d.watts = 0
			case strings.HasSuffix(name, "Graphics Package Power (W)"):
				d.watts = number(text)
			case strings.HasPrefix(name, "Temperature (Sensor"):
				d.celsius = larger(d.celsius, number(text))
			case name == "VRAM Total Used Memory (B)":
				d.gib = number(text) / (1 << 30)
			}
		}
		out = append(out, d)
	}
	return out, nil
}
