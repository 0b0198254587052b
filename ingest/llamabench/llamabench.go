package llamabench

import (
	"fmt"
	"iter"
	"path"
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
