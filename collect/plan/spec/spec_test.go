package spec_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect/plan/spec"
)

const one = `{"runtime_model_spec":{"impl":{"impl_name":"tt-transformers"},"hf_model_repo":"acme/tiny-8b",
"model_name":"tiny-8b","inference_engine":"vLLM",
"device_model_spec":{"device":"N150","max_concurrency":32,"max_context":65536,"default_impl":true,
"tensor_cache_timeout":3600.0,"vllm_args":{"data_parallel_size":4}},
"tt_metal_commit":"25305db","vllm_commit":"6e67d2d","docker_image":"registry.example/tiny:1","status":"COMPLETE",
"has_builtin_warmup":true},"runtime_config":{"model":"tiny-8b"}}`

func TestRuntimeSpec(t *testing.T) {
	got, err := spec.Read("spec.json", []byte(one))
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	m := got[0]
	if m.Model != "tiny-8b" || m.ID != "acme/tiny-8b" || m.Device != "n150" || m.Context != 65536 ||
		m.Concurrency != 32 || m.AllUsers != 4*65536 || !m.Warm || m.Commits["tt_metal"] != "25305db" ||
		m.Image != "registry.example/tiny:1" {
		t.Errorf("%+v", m)
	}
}

// A release's catalogue nests the same by model, device, engine and implementation; what is written can be read, and
// found.
func TestCatalogueRoundTrip(t *testing.T) {
	inner := strings.TrimSuffix(strings.TrimPrefix(one, `{"runtime_model_spec":`),
		`,"runtime_config":{"model":"tiny-8b"}}`)
	other := strings.NewReplacer(`"N150"`, `"T3K"`, `"default_impl":true`, `"default_impl":false`).Replace(inner)
	list, err := spec.Read("release_model_spec.json",
		[]byte(`{"schema_version":"0.1.0","model_specs":{"acme/tiny-8b":{"N150":{"vLLM":{"a":`+inner+`}},
"T3K":{"vLLM":{"b":`+other+`}}}}}`))
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	data, err := spec.File{Models: list}.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	back, err := parse(t, data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	for _, name := range []string{"tiny-8b", "acme/tiny-8b", "TINY-8B"} {
		if m, ok := back.Find(name, "t3k", ""); !ok || m.Device != "t3k" {
			t.Errorf("%s is not found: %+v", name, m)
		}
	}
	if _, ok := back.Find("tiny-8b", "n300", ""); ok {
		t.Error("found on a device that it is not on")
	}
}

func TestWhatIsNoSpec(t *testing.T) {
	if _, err := spec.Read("x.json", []byte(`{"a":{"b":[1,2]}}`)); !errors.Is(err, spec.ErrNoSpec) {
		t.Error(err)
	}
	if _, err := spec.Read("x.json", []byte(`{"a":`)); err == nil {
		t.Error("half a file was read")
	}
	if _, err := parse(t, []byte("models:\n- model: x\n")); err == nil ||
		!strings.Contains(err.Error(), "device") {
		t.Error(err)
	}
	if _, err := parse(t, []byte("models:\n- modell: x\n")); err == nil {
		t.Error("a misspelt field was taken")
	}
}

func TestLimitsOfACommand(t *testing.T) {
	m := spec.OfCommand([]string{"vllm", "serve", "x", "--max-model-len", "2048", "--max-num-seqs=8"})
	if m.Context != 2048 || m.Concurrency != 8 {
		t.Errorf("%+v", m)
	}
}

// parse reads a catalogue from a file.
func parse(t *testing.T, data []byte) (spec.File, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), spec.FileName)
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return spec.ReadCatalogue(name)
}
