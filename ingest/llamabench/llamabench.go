// Package llamabench reads what llama-bench of llama.cpp writes (builds 1000 to 9000): JSON, JSON lines, CSV and the
// markdown table.
//
// A row is prompt processing (pp512), generation (tg128) or both (pp512+tg128) of one batch. Prompt processing gives
// the rate of input tokens, generation that of output tokens; the deviation is over the repetitions. Everything that
// was set (threads, batch, cache types, layers on the accelerator, flash attention) is a part of the workload.
package llamabench

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of the formats that this package distinguishes.
const (
	Format = "llama-bench"
	Table  = "llama-bench-md"
)

// Reader asks for a row's lengths and speed, or for the header of the table.
var Reader = draft.Format{
	Name: Format, Detail: "rows of llama-bench",
	Wants: draft.Wants("n_prompt&n_gen|0.n_prompt&0.n_gen", "avg_ts#|0.avg_ts#"),
	All: func(f *decode.File, r *schema.Reading) {
		rows := slices.Values([]decode.Value{f.First})
		if f.First.Kind() == decode.Array {
			rows = f.First.Items()
		}
		readRows(f, r, rows)
	},
	Others: []draft.Format{
		{
			Name: Format, Detail: "rows of llama-bench, as CSV", All: readCSV,
			Text: func(f *decode.File) bool { return headOfCSV.Match(f.Data) },
		},
		{
			Name: Format, Detail: "rows of llama-bench, in a text", All: readText,
			Text: func(f *decode.File) bool { return rowsInText(f.Data) != nil },
		},
		{
			Name: Table, Detail: "tables of llama-bench", All: readTable,
			Text: func(f *decode.File) bool {
				for line := range bytes.Lines(f.Data) {
					if isOfModels(draft.Cells(line, marks)) {
						return true
					}
				}
				return false
			},
		},
	},
}

// readRows reads rows, of one model or several, and returns how many there are.
func readRows(f *decode.File, out *schema.Reading, rows iter.Seq[decode.Value]) (n int) {
	runs := draft.RunsOf[[4]string](out)
	for v := range draft.Each(f, rows) {
		facts := factsOf(v)
		commit := facts.Stack.Commits["llama.cpp"]
		r := runs.Of([4]string{facts.Model.ID, facts.Device.Name, facts.Stack.Version, commit}, facts)
		r.Facts.Widen(facts.Start, facts.End, "")
		d := draft.New(f, r, v, "llama-bench")
		row := d.In
		for _, s := range schema.LlamaBenchSettings() {
			if text := row.Get(s.Name).Text(); !ordinary(s.Name, text) && len(text) < 60 {
				d.Dim(s.Dim(), text)
			}
		}
		prompt := row.Get("n_prompt").Float0()
		if m := behindPrompt.FindStringSubmatch(row.Get("test").Str()); m != nil { // the speed is of the answer alone
			d.Dim("depth", m[2])
			prompt = 0
		}
		speed(d, prompt, row.Get("n_gen").Float0(), row.Get("avg_ts").Float0(), row.Get("stddev_ts").Ptr(),
			row.Get("samples_ts").Len())
		d.Fields(row, map[string]string{ // of a fork
			"ttft ns first-content": "avg_ttf_ns", "ttft std ns first-content": "stddev_ttf_ns",
		})
		d.Start, d.End = facts.Start, facts.Start
		d.Foreign(row, "avg_ns avg_ts stddev_ns stddev_ts samples_ns samples_ts samples_ttf_ns "+
			"model_filename gpu_info cpu_info build_* test test_time")
		d.Done()
		n++
	}
	runs.Join(out.Detail)
	return n
}

// ordinary are the values of settings that a row need not say: their defaults, and what depends on the machine.
func ordinary(name, value string) bool {
	switch value {
	case "", "0", "false", "none", "auto", "0.00", "-1", "null":
		return true
	}
	return value == map[string]string{
		"n_batch": "2048", "n_ubatch": "512", "type_k": "f16", "type_v": "f16", "split_mode": "layer", "use_mmap": "true",
	}[name]
}

// shown are the settings that tables have under short names.
var shown = map[string]string{
	"backend": "backends", "ngl": "n_gpu_layers", "sm": "split_mode", "nkvo": "no_kv_offload", "fa": "flash_attn",
	"ts": "tensor_split", "mmap": "use_mmap", "embd": "embeddings", "threads": "n_threads", "ncmoe": "n_cpu_moe",
}

func factsOf(v decode.Value) (f schema.Facts) {
	if name := v.Get("model_filename").Str(); name != "" {
		f.Model.ID = schema.WithoutShard(strings.TrimSuffix(path.Base(name), ".gguf"))
	}
	f.Model.Precision = precision(v.Get("model_type").Str())
	f.Device.Name = withoutDriver(v.Get("gpu_info").Str())
	if f.Device.Name == "" || v.Get("n_gpu_layers").Text() == "0" {
		if f.Device.Name = v.Get("cpu_info").Str(); f.Device.Name == "CPU" {
			f.Device.Name = "" // all that Android says
		}
	}
	f.Stack = schema.Stack{Engine: "llama.cpp", Version: versionOf(v.Get("build_number").Text())}
	if commit := v.Get("build_commit").Str(); commit != "" && commit != "unknown" {
		f.Stack.Commits = map[string]string{"llama.cpp": commit}
	}
	f.Start = draft.Time(v.Get("test_time").Str())
	f.End = f.Start
	return f
}

// driver is what Vulkan puts behind a device: "AMD Radeon 8060S Graphics (RADV GFX1151)". ROCm does not, and both are
// one device.
var driver = lazyregexp.New(` \([^()]*\)`)

func withoutDriver(device string) string { return driver.ReplaceAllString(device, "") }

// precision is the word of "llama 7B Q4_K - Medium" that names one.
func precision(modelType string) string {
	for _, word := range strings.Fields(modelType) {
		if strings.HasPrefix(word, "Q") || strings.HasPrefix(word, "IQ") || word == "F16" || word == "BF16" || word == "F32" {
			return word
		}
	}
	return ""
}

// speed sets the workload of a row, one batch of so many prompt and answer tokens, and its rate. That of generation is
// the speed of one user, whose time per token follows from it.
func speed(d *draft.Draft, prompt, gen, mean float64, std *float64, samples int) {
	one, metric := 1., "total_tps"
	d.Key.ISL, d.Key.OSL, d.Key.Concurrency = &prompt, &gen, &one
	switch {
	case gen == 0:
		d.Dim("phase", "prompt")
	case prompt == 0:
		d.Dim("phase", "generation")
	}
	if prompt == 0 {
		metric = "output_tps"
	}
	d.Stat(metric, "", "value", mean)
	if std != nil {
		d.Stat(metric, "", "std", *std)
	}
	d.Size(metric, samples)
	if prompt == 0 && mean > 0 {
		d.Derived("tpot", schema.DefDecodePhase, "mean", 1000/mean)
		d.Stat("tps_user", schema.DefRecipMeanTPOT, "value", mean)
	}
	if gen == 0 && mean > 0 {
		d.Condition("test", fmt.Sprintf("pp%.0f", prompt))
	}
}

var (
	test = lazyregexp.New(`^(?:pp ?(\d+))?\+?(?:tg ?(\d+))?(?: ?@ ?d(\d+))?$`) // "pp 512" before build 2900
	// behindPrompt is a test of ik_llama.cpp: the generation behind a prompt, which is its depth
	behindPrompt = lazyregexp.New(`^tg(\d+)@pp(\d+)$`)
	rate         = lazyregexp.New(`^([\d.]+)\s*(?:±|\+/-)\s*([\d.]+)$`)
	build        = lazyregexp.New(`^build: ([0-9a-f]{7,40}) \((\d+)\)`)

	// device is what the backends of ggml print of a device.
	device = lazyregexp.New(`^(?:\s*Device \d+: ([^,(|]+),|ggml_vulkan: \d+ = ([^|]+)|` +
		`ggml_metal\w*: (?:found device|picking default device|GPU name): +([^(|\n]+))`)

	// heading is of a section: "### GPU 0 ONLY (bottom slot) ###", without the note.
	heading = lazyregexp.New(`^#{1,6} +([^#(\r\n]*[^#( \r\n])`)
)

// marks are those of people, who set the best row in bold.
const marks = "*`_"

// isHeader reports the headings of a table; people leave columns out, also that of the model.
func isHeader(cells []string) bool {
	n := len(cells)
	return n >= 2 && cells[n-2] == "test" && cells[n-1] == "t/s"
}

// isOfModels reports the headings of a table that says which model a row is of.
func isOfModels(cells []string) bool {
	return isHeader(cells) && len(cells) >= 4 && cells[0] == "model"
}

// deviceList are the devices that backends print before each table: several of one kind are one device, called as
// gpu_info of JSON has them.
type deviceList struct {
	all     []string
	block   [3][]string     // before the next table: by CUDA or ROCm, by Vulkan, by Metal
	printed map[string]bool // lines of it, since Vulkan prints each twice
}

func (l *deviceList) read(line string) {
	m := device.FindStringSubmatch(line)
	if m == nil || l.printed[m[0]] {
		return
	}
	l.printed[m[0]] = true
	by := &l.block[slices.IndexFunc(m[1:], func(name string) bool { return name != "" })]
	if m[3] == "" || len(*by) == 0 { // Metal prints its one device in several words
		*by = append(*by, withoutDriver(strings.TrimSpace(m[1]+m[2]+m[3])))
	}
}

// end takes the longest list of a backend, and what only others have: two backends list one device twice.
func (l *deviceList) end() {
	block := slices.MaxFunc(l.block[:], func(a, b []string) int { return len(a) - len(b) })
	for _, name := range slices.Concat(l.block[:]...) {
		if !slices.ContainsFunc(block, func(has string) bool { return strings.EqualFold(has, name) }) {
			block = append(block, name)
		}
	}
	if len(slices.Compact(slices.Clone(block))) == 1 {
		block = []string{strings.Join(block, ", ")}
	}
	l.all, l.block = append(l.all, block...), [3][]string{}
	clear(l.printed)
}

// buildList are the builds that stand between the tables of a text: llama-bench prints one below its table, people
// write it above theirs.
type buildList struct {
	said  map[string][]string // what the expression matches, by all of it
	above []string            // the build of the rows that follow
	begun int                 // the first row below the last build
}

func (l *buildList) read(line string, rows []row) {
	m := build.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return
	}
	l.said[m[0]] = m
	if l.above != nil || l.begun == len(rows) {
		l.above = m
	}
	for i := l.begun; i < len(rows) && l.above == nil; i++ {
		rows[i].build = m
	}
	l.begun = len(rows)
}

// end gives all rows the build of a text that names one, wherever it stands.
func (l *buildList) end(rows []row) {
	if len(l.said) > 1 {
		return
	}
	for _, m := range l.said {
		for i := range rows {
			rows[i].build = m
		}
	}
}

// row is a row of a table, with the headings that it stands under.
type row struct {
	header, cells []string
	section       string
	test, speed   []string // what their expressions match
	build         []string // that too; nil where nothing says of which one the row is
	isQuoted      bool     // as an answer repeats a table
}

// readTable reads the tables of a text. They state a model by its type alone, and each type is a run: a file may have
// tables of several models.
func readTable(f *decode.File, r *schema.Reading) {
	var header []string
	var rows []row
	devices, builds := deviceList{printed: map[string]bool{}}, buildList{said: map[string][]string{}}
	section, number, unnamed := "", 0, 0
lines:
	for line := range bytes.Lines(f.Data) {
		number++
		cells, begin := draft.Cells(line, marks), string(line[:min(len(line), 120)])
		if m := heading.FindStringSubmatch(begin); m != nil {
			section = m[1]
		}
		switch n := len(cells); {
		case isHeader(cells):
			header = cells
			devices.end()
		case cells == nil:
			devices.read(begin)
			builds.read(begin, rows)
		case len(header) == n && !strings.HasPrefix(cells[0], "-"):
			x := row{
				header, cells, section, testOf(cells[n-2]), rate.FindStringSubmatch(cells[n-1]), builds.above,
				strings.HasPrefix(begin, ">"),
			}
			if !isOfModels(header) {
				unnamed++
				continue
			}
			if x.test != nil && x.speed != nil && x.test[1]+x.test[2] != "" {
				if rows = append(rows, x); len(rows) <= f.Limits().Results { // else the load says so
					continue
				}
				break lines
			}
			draft.Problem(f, r, schema.SevWarning, "row-not-read", decode.Value{},
				fmt.Sprintf("a row with test %q and t/s %q", cells[n-2], cells[n-1]),
				"a test such as pp512 or tg128 @ d4096, and a speed such as 57.67 ± 0.03", "nothing from the row")
			r.Problems[len(r.Problems)-1].Line = number
		}
	}
	if unnamed > 0 { // a person left the column out, often beside the whole table
		draft.Problem(f, r, schema.SevWarning, "no-model", decode.Value{},
			plaintext.Plural(unnamed, "row")+" of tables without a column of the model",
			"the column that llama-bench prints", "nothing of these rows",
			"put the whole table there, as llama-bench -o md prints it")
	}
	if len(rows) == 0 {
		draft.Problem(f, r, schema.SevWarning, "empty-table", decode.Value{}, "a table of llama-bench without a result",
			"a row for each test", "nothing: what was to be measured is missing",
			"the end of the file says why it stopped; measure it again")
		return
	}
	devices.end()                                            // Metal prints its device below the headings
	if len(slices.Compact(slices.Clone(devices.all))) == 1 { // of several kinds, nothing says which a row is of
		r.Facts.Device.Name = devices.all[0]
	}
	builds.end(rows)
	points(f, r, once(f, r, rows))
}

// once are rows without those that stood under another heading before, number for number: a notebook shows them again.
func once(f *decode.File, r *schema.Reading, rows []row) []row {
	printed := map[string]string{} // the section where a row stood first
	return slices.DeleteFunc(rows, func(x row) bool {
		text := strings.Join(slices.Concat(x.header, x.cells), "|")
		first, isAgain := printed[text]
		if !isAgain {
			printed[text] = x.section
		}
		if isAgain = isAgain && (x.isQuoted || first != x.section); isAgain {
			draft.Problem(f, r, schema.SevNote, "printed-again", decode.Value{},
				fmt.Sprintf("the row of %s, %s t/s, under %q and %q", x.test[0], x.speed[0], first, x.section),
				"each measurement once", "it once")
		}
		return isAgain
	})
}

// testOf are the lengths of the prompt and of the answer, and the depth, by the name of a test; nil for any other.
func testOf(name string) []string {
	if m := behindPrompt.FindStringSubmatch(name); m != nil {
		return []string{name, "", m[1], m[2]}
	}
	return test.FindStringSubmatch(name)
}

// versionOf is the number of a build; "" for what a build without the history of the repository calls itself.
func versionOf(number string) string {
	if number == "0" || number == "1" {
		return ""
	}
	return number
}

// points makes a point of each row. Where one row stands under several headings, the section is a part of every
// workload: such tables are of different devices or settings, and no repeats.
func points(f *decode.File, r *schema.Reading, rows []row) {
	runs := draft.RunsOf[[3]string](r)
	var drafts []*draft.Draft
	under, several := map[string]string{}, false
	for _, x := range rows {
		facts, number, commit := r.Facts, "", ""
		facts.Model.Name, facts.Model.Precision = x.cells[0], precision(x.cells[0])
		if x.build != nil {
			number, commit = versionOf(x.build[2]), x.build[1]
			facts.Stack = schema.Stack{Engine: "llama.cpp", Version: number, Commits: map[string]string{"llama.cpp": commit}}
		}
		d := draft.New(f, runs.Of([3]string{x.cells[0], number, commit}, facts), decode.Value{}, "llama-bench")
		x.read(d)
		drafts = append(drafts, d)
		key := number + " " + d.Key.String()
		first, seen := under[key]
		if several = several || seen && first != x.section; !seen {
			under[key] = x.section
		}
	}
	for i, d := range drafts {
		if several {
			d.Dim("section", rows[i].section)
		}
		d.Done()
	}
	runs.Join(r.Detail)
}

// read takes what a row states.
func (x *row) read(d *draft.Draft) {
	number := func(text string) float64 { x, _ := strconv.ParseFloat(text, 64); return x }
	d.Dim("depth", x.test[3])
	d.Condition("model_type", x.cells[0])
	for i, name := range x.header[1 : len(x.cells)-2] {
		name = cmp.Or(shown[name], name)
		if name != "size" && name != "params" && !ordinary(name, x.cells[i+1]) {
			d.Dim(strings.TrimPrefix(name, "n_"), x.cells[i+1])
		}
	}
	std := number(x.speed[2])
	speed(d, number(x.test[1]), number(x.test[2]), number(x.speed[1]), &std, 0)
}

// rowsInText are the rows of a text that has other lines as well, as llama-bench -o jsonl > FILE 2>&1 writes: the
// backends of ggml print devices before the first row.
func rowsInText(text []byte) (rows []byte) {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) && bytes.Contains(line, []byte(`"n_prompt"`)) &&
			bytes.Contains(line, []byte(`"avg_ts"`)) {
			rows = append(rows, line...)
		}
	}
	return rows
}

// headOfCSV matches the headings of llama-bench -o csv, which are the names of the fields of its JSON.
var headOfCSV = lazyregexp.New(`(?m)^\w+,.*\bmodel_filename,.*\bn_prompt,n_gen,.*\bavg_ts,stddev_ts`)

// readCSV reads rows whose cells are all in quotes: numbers and switches are those of the JSON.
func readCSV(f *decode.File, r *schema.Reading) {
	cells, err := draft.Rows(string(f.Data[headOfCSV.FindIndex(f.Data)[0]:]))
	var rows []decode.Value
	for _, v := range cells {
		row := map[string]any{}
		for _, m := range v.Members() {
			text := m.Val.Str()
			switch x, err := strconv.ParseFloat(text, 64); {
			case slices.Contains(switches, m.Key):
				row[m.Key] = text == "1"
			case err == nil && !strings.HasPrefix(m.Key, "model_") && m.Key != "build_commit":
				row[m.Key] = x
			default:
				row[m.Key] = text
			}
		}
		rows = append(rows, decode.Of(row))
	}
	readRows(f, r, slices.Values(rows))
	if err != nil {
		draft.Problem(f, r, schema.SevError, "truncated", decode.Value{}, fmt.Sprintf("a damaged line: %v", err),
			"as many cells as headings", "the rows before it", "copy the file again")
	}
}

// switches are true or false in JSON, and 1 or 0 in CSV; flash_attn is a number in both since it may be automatic.
var switches = strings.Fields("cpu_strict no_kv_offload use_mmap use_direct_io embeddings no_op_offload no_host")

// readText reads the rows of such a text.
func readText(f *decode.File, r *schema.Reading) {
	rows := f.Within(string(rowsInText(f.Data)))
	n := readRows(rows, r, rows.Values())
	r.Problems = append(r.Problems, rows.Problems...)
	draft.Problem(f, r, schema.SevNote, "text-between-rows", decode.Value{},
		fmt.Sprintf("other lines around %d rows", n), "the rows alone", "the rows",
		"write stderr elsewhere: llama-bench -o jsonl > FILE, without 2>&1")
}
