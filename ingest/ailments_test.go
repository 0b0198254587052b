package ingest_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
)

// wide is a text in UTF-16.
func wide(text string, order binary.AppendByteOrder, mark bool) string {
	var out []byte
	if mark {
		out = order.AppendUint16(out, 0xfeff)
	}
	for _, u := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, u)
	}
	return string(out)
}

func TestTextsOfPowerShellAreRead(t *testing.T) {
	text := serve(`"max_concurrency":2,"label":"größer",`)
	for _, data := range []string{
		wide(text, binary.LittleEndian, true), wide(text, binary.BigEndian, true), wide(text, binary.LittleEndian, false),
	} {
		if set := load(t, ingest.Options{}, map[string]string{"a.json": data}); len(points(set)) != 1 {
			t.Errorf("%q: %+v", data[:8], set.Files)
		}
	}
}

// What version control left is named with its cure.
func TestFilesOfVersionControlAreNamed(t *testing.T) {
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
	conflict := "{\n<<<<<<< HEAD\n\"completed\": 1,\n=======\n\"completed\": 2,\n>>>>>>> other\n\"x\": 1}\n"
	for _, c := range []struct{ name, text, code, hint string }{
		{"a.json", pointer, "lfs-pointer", "git lfs pull"}, {"a.png", pointer, "", ""},
		{"a.json", conflict, "conflict", "git checkout"}, {"a.md", "a\n=======\nb\n", "", ""},
	} {
		set := load(t, ingest.Options{}, map[string]string{c.name: c.text})
		if codes(set.Problems) != c.code || c.code != "" && !strings.Contains(set.Problems[0].Hint, c.hint) {
			t.Errorf("%s: %v", c.name, set.Problems)
		}
	}
}

func TestWrappedResults(t *testing.T) {
	a := serve(`"isl":"8","osl":"8","max_concurrency":2,"request_throughput":1.25,`)
	b := serve(`"isl":"8","osl":"8","max_concurrency":4,"request_throughput":2.25,`)
	line := `{"backend":"sglang","completed":8,"mean_e2e_latency_ms":5.125,"output_throughput":5.0625,"max_concurrency":%}`
	for text, want := range map[string]int{
		`{"status":"done","result":` + a + `}`:                                                    1,
		`{"results":[` + a + `,` + b + `],"n":2}`:                                                 2,
		`[` + strings.Replace(line, "%", "2", 1) + `,` + strings.Replace(line, "%", "4", 1) + `]`: 2,
		`{"results":[{"name":"x"}]}`:                                                              0,
	} {
		set := load(t, ingest.Options{}, map[string]string{"a.json": text})
		if got := len(points(set)); got != want {
			t.Errorf("%d points of %s: %v", got, text[:30], set.Problems)
		}
	}
}

func TestHiddenFoldersWithResults(t *testing.T) {
	set := load(t, ingest.Options{}, map[string]string{
		".workflow_venvs/.venv_benchmarks_aiperf/artifacts/a.json": serve(""), ".git/b.json": serve(`"x":1,`),
	})
	if len(points(set)) != 1 {
		t.Error(set.Files)
	}
}

// A tree of 2025, without ids and specs: benchmarks and evals of one device are one run.
func TestTreeOf2025(t *testing.T) {
	set := load(t, ingest.Options{}, map[string]string{
		"workflow_logs/benchmarks_output/benchmark_x_n300_2026-01-01_00-00-00_isl-128_osl-64_maxcon-1_n-8.json": serve(""),
		"workflow_logs/evals_output/eval_x_n300/acme__x/results_2026-01-01T01-00-00.json": `{"results":{"gsm8k":` +
			`{"acc,none":0.53125}},"model_name":"acme/x","versions":{},"config":{}}`,
	})
	if len(set.Runs) != 1 || set.Runs[0].Device.Name != "n300" || len(set.Runs[0].Scores) != 1 ||
		len(set.Runs[0].Points) != 1 || *set.Runs[0].Points[0].Key.ISL != 128 {
		t.Errorf("%d runs, %+v", len(set.Runs), set.Runs[0].Device)
	}
}

// JSON that is written so is no damaged result: settings with comments, and the answers of MLPerf, which submissions
// shorten. Any other that is cut with dots is.
func TestIntendedJSON(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want schema.Severity
	}{
		"settings.json":              {"{\n// of an editor\n\"a\": 1}", schema.SevNote},
		"a/mlperf_log_accuracy.json": {"[\n{\"seq_id\": 0},\n...\n{\"seq_id\": 9}]", schema.SevNote},
		"b/mlperf_log_accuracy.json": {"[\n{\"data\": \"00FC\n...\n{ \"seq_id\": 1}]", schema.SevNote},
		"c/mlperf_log_accuracy.json": {"[\n{\"seq_id\": 0},\n{\"data\": \"00FC", schema.SevError},
		"a/results.json":             {"[\n{\"seq_id\": 0},\n...\n{\"seq_id\": 9}]", schema.SevError},
	} {
		set := load(t, ingest.Options{}, map[string]string{name: c.text})
		if len(set.Problems) != 1 || set.Problems[0].Severity != c.want {
			t.Errorf("%s: %v, want one of severity %v", name, set.Problems, c.want)
		}
	}
}
