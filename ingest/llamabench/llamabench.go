package llamabench

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of the formats that this package distinguishes.
const (
	Format = "llama-bench"
	Table  = "llama-bench-md"
)

// Detect asks for a row's lengths and speed, or for the header of the table.
func Detect(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Format, Detail: "rows of llama-bench"}}
	if f.Form == decode.Text {
		if rows, _ := rowsInText(f.Data); rows != nil {
			m.Detail += ", in a text"
			m.Want(true, "rows with n_prompt, n_gen and avg_ts")
			return m.Match
		}
		m.Format = Table
		m.Want(len(headers(f.Data)) > 0, "| model | size | … | test | t/s |")
		return m.Match
	}
	v := f.First
	if v.Kind() == decode.Array {
		v = v.Index(0)
	}
	m.Want(v.Has("n_prompt") && v.Has("n_gen"), "n_prompt and n_gen")
	m.Want(v.Get("avg_ts").Kind() == decode.Number, "avg_ts")
	return m.Match
}

// Read returns a point for each row; rows of different models are different readings.
func Read(f *decode.File) schema.Reading {
	m := Detect(f)
	if m.Format == Table {
		return readTable(f)
	}
	if f.Form == decode.Text {
		return readText(f, m)
	}
	if f.First.Kind() != decode.Array {
		out := schema.Reading{Format: m.Format, Detail: m.Detail}
		readRow(f, f.First, &out)
		return out
	}
	return readRows(f, m, f.First.Items())
}

// readRows reads rows, of one model or several.
func readRows(f *decode.File, m schema.Match, rows iter.Seq[decode.Value]) schema.Reading {
	out := schema.Reading{Format: m.Format, Detail: m.Detail}
	readings := map[string]*schema.Reading{}
	var order []string
	n := 0
	for v := range rows {
		one := schema.Reading{Format: m.Format, Detail: m.Detail}
		readRow(f, v, &one)
		key := one.Facts.Model.ID + " " + one.Facts.Device.Name + " " + one.Facts.Stack.Version
		if home := readings[key]; home == nil {
			readings[key] = &one
			order = append(order, key)
		} else {
			home.Points = append(home.Points, one.Points...)
			home.Problems = append(home.Problems, one.Problems...)
			if one.Facts.End.After(home.Facts.End) {
				home.Facts.End = one.Facts.End
			}
		}
		if n++; n > f.Limits().Results {
			break // the load says so
		}
	}
	for i, key := range order {
		if i == 0 {
			out = *readings[key]
		} else {
			out.More = append(out.More, *readings[key])
		}
	}
	return out
}

// ordinary are the values of settings that a row need not say: their defaults, and what depends on the machine.
func ordinary(name, value string) bool {
	switch value {
	case "", "0", "false", "none", "auto", "0.00", "-1", "null":
		return true
	}
	switch name {
	case "n_batch":
		return value == "2048"
	case "n_ubatch":
		return value == "512"
	case "type_k", "type_v":
		return value == "f16"
	case "split_mode":
		return value == "layer"
	case "use_mmap":
		return value == "true"
	}
	return false
}

// settings are the fields that make a row another workload.
func settings() []string {
	return []string{
		"n_threads", "n_batch", "n_ubatch", "n_gpu_layers", "n_cpu_moe", "type_k", "type_v", "flash_attn", "split_mode",
		"tensor_split", "no_kv_offload", "use_mmap", "embeddings", "n_depth", "backends", "cpu_strict",
	}
}

func readRow(f *decode.File, v decode.Value, r *schema.Reading) {
	d := draft.New(f, r, v, "llama-bench")
	prompt, gen := v.Get("n_prompt").Float0(), v.Get("n_gen").Float0()
	lengths(d, prompt, gen)
	for _, name := range settings() {
		if text := v.Get(name).Text(); !ordinary(name, text) && len(text) < 60 {
			d.Dim(strings.TrimPrefix(name, "n_"), text)
		}
	}
	speed(d, prompt, gen, v.Get("avg_ts").Float0(), v.Get("stddev_ts").Ptr(), v.Get("samples_ts"))
	r.Facts.Model.ID = strings.TrimSuffix(path.Base(v.Get("model_filename").Str()), ".gguf")
	if r.Facts.Model.ID == "." {
		r.Facts.Model.ID = ""
	}
	r.Facts.Model.Precision = precision(v.Get("model_type").Str())
	r.Facts.Device.Name = v.Get("gpu_info").Str()
	if r.Facts.Device.Name == "" || v.Get("n_gpu_layers").Text() == "0" {
		r.Facts.Device.Name = v.Get("cpu_info").Str()
	}
	r.Facts.Stack = schema.Stack{Engine: "llama.cpp", Version: v.Get("build_number").Text()}
	if commit := v.Get("build_commit").Str(); commit != "" && commit != "unknown" {
		r.Facts.Stack.Commits = map[string]string{"llama.cpp": commit}
	}
	if t, err := time.Parse(time.RFC3339, v.Get("test_time").Str()); err == nil {
		r.Facts.Start, r.Facts.End = t.UTC(), t.UTC()
		d.Start, d.End = t.UTC(), t.UTC()
	}
	d.Foreign(v, draft.Names(`n_prompt n_gen avg_* stddev_* samples_* model_filename gpu_info cpu_info build_* test_time `+
		strings.Join(settings(), " ")))
	d.Done()
}

// precision is the last word of "llama 7B Q4_K - Medium".
func precision(modelType string) string {
	for _, word := range strings.Fields(modelType) {
		if strings.HasPrefix(word, "Q") || strings.HasPrefix(word, "IQ") || word == "F16" || word == "BF16" || word == "F32" {
			return word
		}
	}
	return ""
}

// lengths sets the workload of a row: one batch of so many prompt and answer tokens.
func lengths(d *draft.Draft, prompt, gen float64) {
	one := 1.
	d.Key.ISL, d.Key.OSL, d.Key.Concurrency = &prompt, &gen, &one
	switch {
	case gen == 0:
		d.Dim("phase", "prompt")
	case prompt == 0:
		d.Dim("phase", "generation")
	}
}

// speed sets the rates of a row. That of generation is the speed of one user, whose time per token follows from it.
func speed(d *draft.Draft, prompt, gen, mean float64, std *float64, samples decode.Value) {
	metric := "total_tps"
	switch {
	case prompt == 0:
		metric = "output_tps"
	}
	d.Stat(metric, "", "value", mean)
	if std != nil {
		d.Stat(metric, "", "std", *std)
	}
	d.Size(metric, samples.Len())
	if prompt == 0 && mean > 0 {
		d.Derived("tpot", schema.DefDecodePhase, "mean", 1000/mean)
		d.Stat("tps_user", schema.DefRecipMeanTPOT, "value", mean)
	}
	if gen == 0 && mean > 0 {
		d.Condition("test", fmt.Sprintf("pp%.0f", prompt))
	}
}

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

// rowsInText finds the rows of a text that has other lines as well, as llama-bench -o jsonl > FILE 2>&1 writes: the
// backends of ggml print devices before the first row. It returns the text with the other lines replaced by blanks, so
// that positions stay the same, and their number; nil where no line is a row.
func rowsInText(text []byte) (rows []byte, others int) {
	if !bytes.Contains(text, []byte(`"avg_ts"`)) {
		return nil, 0
	}
	if rows, others = arrayInText(text); rows != nil {
		return rows, others
	}
	rows = make([]byte, 0, len(text))
	found := false
	for line := range bytes.Lines(text) {
		trimmed := bytes.TrimSpace(line)
		switch {
		case isRow(trimmed):
			found = true
			rows = append(rows, line...)
			continue
		case len(trimmed) > 0:
			others++
		}
		for range bytes.TrimRight(line, "\r\n") {
			rows = append(rows, ' ')
		}
		rows = append(rows, '\n')
	}
	if !found {
		return nil, 0
	}
	return rows[:min(len(rows), len(text))], others
}

// arrayInText is the same for llama-bench -o json > FILE 2>&1: an array between lines of text, whose brackets have
// lines of their own.
func arrayInText(text []byte) (rows []byte, others int) {
	first, last, at := -1, -1, 0
	for line := range bytes.Lines(text) {
		switch string(bytes.TrimRight(line, "\r\n")) { // brackets within rows are indented
		case "[":
			if first < 0 {
				first = at
			}
		case "]":
			last = at
		}
		at += len(line)
	}
	if first < 0 || last < first || !bytes.HasPrefix(bytes.TrimSpace(text[first+1:]), []byte("{")) {
		return nil, 0
	}
	rows, at = bytes.Clone(text), 0
	for line := range bytes.Lines(text) {
		if at < first || at > last {
			others += min(1, len(bytes.TrimSpace(line)))
			for i := range bytes.TrimRight(line, "\r\n") {
				rows[at+i] = ' '
			}
		}
		at += len(line)
	}
	return rows, others
}

func isRow(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("{")) {
		return false
	}
	for _, name := range []string{`"n_prompt"`, `"n_gen"`, `"avg_ts"`} {
		if !bytes.Contains(line, []byte(name)) {
			return false
		}
	}
	return true
}

// readText reads the rows of such a text.
func readText(f *decode.File, m schema.Match) schema.Reading {
	text, others := rowsInText(f.Data)
	rows := decode.NewFile(f.Path, text, f.ModTime, f.Limits())
	rows.SHA256, rows.Content, rows.Size = f.SHA256, f.Content, f.Size
	n, values := 0, rows.Values()
	if rows.First.Kind() == decode.Array {
		values = rows.First.Items()
	}
	r := readRows(&rows, m, counted(values, &n))
	p := f.Problem(schema.SevNote, "text-between-rows", decode.Value{})
	p.Found, p.Expected = fmt.Sprintf("%d lines of text among %d rows", others, n), "the rows alone"
	p.Used, p.Hint = "the rows", "write stderr elsewhere: llama-bench -o jsonl > FILE, without 2>&1"
	r.Problems = append(r.Problems, rows.Problems...)
	r.Problems = append(r.Problems, p)
	return r
}

// counted counts the values that are taken.
func counted(values iter.Seq[decode.Value], n *int) iter.Seq[decode.Value] {
	return func(yield func(decode.Value) bool) {
		for v := range values {
			if *n++; !yield(v) {
				return
			}
		}
	}
}
