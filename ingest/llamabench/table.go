package llamabench

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

var (
	test  = regexp.MustCompile(`^(?:pp(\d+))?\+?(?:tg(\d+))?(?: ?@ ?d(\d+))?$`)
	rate  = regexp.MustCompile(`^([\d.]+)\s*(?:±|\+/-)\s*([\d.]+)$`)
	build = regexp.MustCompile(`^build: ([0-9a-f]{7,40}) \((\d+)\)`)

	// device is what the backends of ggml print of a device, without the driver's name behind it.
	device = regexp.MustCompile(`^(?:ggml_vulkan: \d+ = ([^(|]+)|\s*Device \d+: ([^,(|]+),|` +
		`ggml_metal\w*: (?:found device|picking default device|GPU name): +([^(|\n]+))`)

	// heading is of a section: "### GPU 0 ONLY (bottom slot) ###", without the note.
	heading = regexp.MustCompile(`^#{1,6} +([^#(]*[^#( ])`)
)

// headers finds the header lines of tables: model first, test and t/s last.
func headers(data []byte) [][]string {
	var out [][]string
	for line := range bytes.Lines(data) {
		if cells := row(line); isHeader(cells) {
			out = append(out, cells)
		}
	}
	return out
}

func isHeader(cells []string) bool {
	n := len(cells)
	return n >= 4 && cells[0] == "model" && cells[n-2] == "test" && cells[n-1] == "t/s"
}

// row splits a line of a table; nil for any other.
func row(line []byte) []string {
	line = bytes.TrimSpace(line)
	if len(line) < 3 || line[0] != '|' || len(line) > 2000 {
		return nil
	}
	cells := strings.Split(strings.Trim(string(line), "|"), "|")
	for i := range cells {
		cells[i] = strings.Trim(cells[i], " \t*`_") // people set the best row in bold
	}
	return cells
}

// readTable reads the tables of a text. They state the model by its type alone.
func readTable(f *decode.File) schema.Reading {
	r := schema.Reading{Format: Table, Detail: "tables of llama-bench"}
	var header []string
	var devices []string
	section, sections := "", []string{} // sections by point
	number := 0
	for line := range bytes.Lines(f.Data) {
		number++
		cells := row(line)
		if m := heading.FindStringSubmatch(string(line[:min(len(line), longestHeading)])); m != nil {
			section = m[1]
		}
		switch {
		case isHeader(cells):
			header = cells
		case cells == nil:
			if m := device.FindStringSubmatch(string(line[:min(len(line), longestHeading)])); m != nil {
				devices = append(devices, strings.TrimSpace(m[1]+m[2]+m[3]))
			}
			if m := build.FindStringSubmatch(strings.TrimSpace(string(line))); m != nil {
				r.Facts.Stack = schema.Stack{
					Engine: "llama.cpp", Version: m[2], Commits: map[string]string{"llama.cpp": m[1]},
				}
			}
		case len(header) == len(cells) && !strings.HasPrefix(cells[0], "-"):
			if !tableRow(f, &r, header, cells) {
				r.Problems = append(r.Problems, notARow(f, number, cells))
			}
		}
		for len(sections) < len(r.Points) {
			sections = append(sections, section)
		}
		if len(r.Points) > f.Limits().Results {
			break // the load says so
		}
	}
	if len(slices.Compact(slices.Clone(devices))) == 1 { // of several kinds, nothing says which a row is of
		r.Facts.Device.Name = devices[0]
	}
	bySection(r.Points, sections)
	return r
}

const longestHeading = 120

// bySection makes the section a part of every workload of a file where one row stands under several headings: such
// tables are of different devices or settings, and no repeats.
func bySection(points []schema.Point, sections []string) {
	under, several := map[string]string{}, false
	for i := range points {
		key := points[i].Key.String()
		first, seen := under[key]
		several = several || seen && first != sections[i]
		if !seen {
			under[key] = sections[i]
		}
	}
	for i := range points {
		if k := &points[i].Key; several && sections[i] != "" {
			if k.Dims = maps.Clone(k.Dims); k.Dims == nil {
				k.Dims = map[string]string{}
			}
			k.Dims["section"] = sections[i]
		}
	}
}

// notARow is the problem about a row that has no speed.
func notARow(f *decode.File, line int, cells []string) schema.Problem {
	n := len(cells)
	return schema.Problem{
		Severity: schema.SevWarning, Path: f.Path, Line: line, Code: "row-not-read",
		Found:    fmt.Sprintf("a row with test %q and t/s %q", cells[n-2], cells[n-1]),
		Expected: "a test such as pp512 or tg128 @ d4096, and a speed such as 57.67 ± 0.03", Used: "nothing of the row",
	}
}

// tableRow reads a row; ok is false where it has no speed.
func tableRow(f *decode.File, r *schema.Reading, header, cells []string) (ok bool) {
	n := len(cells)
	m, s := test.FindStringSubmatch(cells[n-2]), rate.FindStringSubmatch(cells[n-1])
	if m == nil || s == nil || m[1]+m[2] == "" {
		return false
	}
	number := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0
		}
		return x
	}
	d := draft.New(f, r, decode.Value{}, "llama-bench")
	lengths(d, number(m[1]), number(m[2]))
	d.Dim("depth", m[3])
	d.Dim("model", cells[0])
	for i, name := range header[1 : n-2] {
		if name != "size" && name != "params" && !ordinary(name, cells[i+1]) {
			d.Dim(strings.TrimPrefix(name, "n_"), cells[i+1])
		}
	}
	std := number(s[2])
	speed(d, number(m[1]), number(m[2]), number(s[1]), &std, decode.Value{})
	if r.Facts.Model.Name == "" {
		r.Facts.Model.Name, r.Facts.Model.Precision = cells[0], precision(cells[0])
	}
	d.Done()
	return true
}
