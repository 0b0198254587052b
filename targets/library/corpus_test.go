package library_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/targets/library"
)

// corpusFile is a real target file. Tests of such files are skipped unless TTREPORT_CORPUS names the folder of real
// files.
func corpusFile(t *testing.T, name string) []byte {
	t.Helper()
	root := os.Getenv("TTREPORT_CORPUS")
	if root == "" {
		t.Skip("TTREPORT_CORPUS does not name a folder of real files")
	}
	data, err := os.ReadFile(filepath.Join(root, "tenstorrent", "targets", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// All of the real target files are read.
func TestRealTargets(t *testing.T) {
	l := library.New()
	twice := map[string]int{}
	for _, p := range l.Add("ref.json", corpusFile(t, "model_performance_reference.json"), "", noDevice) {
		twice[p.Code]++
	}
	// Three entries of the real file are replaced by a later one of the same name.
	if want := map[string]int{"model-twice": 2, "device-twice": 1}; !maps.Equal(twice, want) {
		t.Errorf("problems %v, want %v", twice, want)
	}
	n := 0
	for _, e := range l.List() {
		n += len(e.Targets)
	}
	if pairs := len(l.List()); pairs != 375 || n < 3000 {
		t.Errorf("%d models on devices, %d targets", pairs, n)
	}
	rows := l.For(schema.Model{Name: "Llama-3.1-8B-Instruct"}, "n150", nil)
	if len(rows) == 0 || rows[0].Value != 890 {
		t.Errorf("%+v", rows)
	}
}

func TestRealOverrides(t *testing.T) {
	for _, name := range []string{
		"model_performance_targets_early.json", "test_benchmarks_override.json", "model_benchmarks_override.json",
	} {
		for _, p := range library.New().Add(name, corpusFile(t, name), "", noDevice) {
			if p.Severity == schema.SevError {
				t.Errorf("%s: %v", name, p)
			}
		}
	}
}

// The output of import is read back without a problem.
func TestExportReadsBack(t *testing.T) {
	l := library.New()
	l.Add("ref.json", corpusFile(t, "model_performance_reference.json"), "2026-01-31", everyDevice)
	exportReadsBack(t, l, 0)
}

// exportReadsBack exports a library, of which some targets are on what no tool measures, and reads the file.
func exportReadsBack(t *testing.T, l *library.Library, unmeasured int) *library.Library {
	t.Helper()
	f, left := library.Export(l.List())
	if left != unmeasured {
		t.Errorf("%d targets were left out; no tool measures %d", left, unmeasured)
	}
	files := []library.File{f}
	if _, err := f.Marshal(); errors.Is(err, decode.ErrTooMuchYAML) {
		files = nil
		for _, e := range l.List() {
			part, _ := library.Export([]library.Entry{e})
			files = append(files, part)
		}
	}
	back := library.New()
	for i, f := range files {
		text, err := f.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if p := back.Add(fmt.Sprint("own", i, ".yaml"), text, "", everyDevice); len(p) > 0 {
			t.Errorf("%d problems, the first: %v", len(p), p[0])
		}
	}
	return back
}

// The same of a few targets, number by number.
func TestExportKeepsTargets(t *testing.T) {
	l := library.New()
	l.Add("ref.json", []byte(`{"tiny":{"n150":[{"isl":128,"osl":128,"max_concurrency":1,"task_type":"text",
	  "targets":{"theoretical":{"ttft_ms":89,"tput_user":21,"tolerance":0.05,"warmth":3}}}]}}`), "2026-01-31", everyDevice)
	l.Add("own.yaml", []byte(ownFile), "2026-01-01", everyDevice)
	back := exportReadsBack(t, l, 3)
	for _, of := range l.List() {
		m := schema.Model{Name: of.Model}
		want := map[string]schema.Target{}
		for _, x := range l.For(m, of.Device, nil) {
			if info, known := schema.MetricByName(x.Metric); x.Key.IsEval() || known && info.Better != schema.Neither {
				want[x.Key.String()+x.Metric+x.Level] = x
			}
		}
		got := back.For(m, of.Device, nil)
		if len(got) != len(want) || len(want) == 0 {
			t.Errorf("%s on %s: %d targets, want %d", of.Model, of.Device, len(got), len(want))
		}
		for _, x := range got {
			o := want[x.Key.String()+x.Metric+x.Level]
			if x.Value != o.Value || x.Tolerance != o.Tolerance || x.Source != o.Source || x.AsOf != o.AsOf {
				t.Errorf("%+v, want %+v", x, o)
			}
		}
	}
}
