package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two models, one length, five pairs of requests and rate: ten measurements on two servers.
func TestServingConfig(t *testing.T) {
	got, err := nm("serving.json", []byte(`{"configs":[{"description":"Dense","models":["acme/a","acme/b"],
"use_all_available_gpus":"","max_model_lens":[4096],"sparsity":[],
"script_name":"benchmark_serving","script_args":{"nr-qps-pair_":["150,0.5","300,1","750,2.5","1500,5","3000,inf"],
"dataset":["sharegpt"]}}]}`), 4, func(string) int { return 0 })
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	e := got[1]
	if e.Server.String() != "command vllm serve acme/b --max-model-len 4096 --tensor-parallel-size 4" ||
		len(e.Workloads) != 5 || e.Tools[0] != "vllm" {
		t.Errorf("%+v", e)
	}
	if w := e.Workloads[2]; w.Requests != 750 || w.Rate != 2.5 || w.Dataset != "sharegpt" || w.Dims["tp"] != "4" {
		t.Errorf("%+v", w)
	}
	if w := e.Workloads[4]; w.Rate != 0 || w.Concurrency != 0 || w.Requests != 3000 {
		t.Errorf("all at once: %+v", w)
	}
}

// The engine's script has no server; its arguments are passed to it.
func TestThroughputConfig(t *testing.T) {
	got, err := nm("throughput.json", []byte(`{"configs":[{"models":["acme/a"],"max_model_lens":[2048,4096],
"sparsity":["sparse_w16a16"],"script_name":"benchmark_throughput",
"script_args":{"dataset":["sharegpt"],"output-len":[128,256],"num-prompts":[1000],"use-all-available-gpus_":[],
"enforce-eager":[]}}]}`), 2, func(string) int { return 0 })
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	e := got[1]
	if !e.Server.IsZero() || e.Tools[0] != "throughput" || e.Impl != "sparse_w16a16" || len(e.Workloads) != 2 {
		t.Fatalf("%+v", e)
	}
	w := e.Workloads[1]
	if text := strings.Join(w.Extra, " "); text != "--max-model-len 4096 --sparsity sparse_w16a16 --enforce-eager "+
		"--tensor-parallel-size 2" || w.OSL != 256 || w.Requests != 1000 || w.Dims["max_model_len"] != "4096" {
		t.Errorf("%q %+v", text, w)
	}
}

// Prompts of stated lengths need no dataset; a length above the model's is replaced, and no argument is given twice.
func TestSyntheticConfig(t *testing.T) {
	got, err := nm("x.json", []byte(`{"configs":[{"models":["acme/a"],"max_model_lens":[1024,4096,8192],
"script_name":"benchmark_throughput","script_args":{"input-len":[256],"output-len":[128],"num-prompts":[1000],
"max-model-len":[4096]}},{"models":["acme/a"],"max_model_lens":[8192],"script_name":"benchmark_serving",
"script_args":{"num-input-tokens":[64],"num-output-tokens":[8],"nr-qps-pair_":["5,inf"]}}]}`), 1,
		func(string) int { return 2048 })
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	w := got[0].Workloads[0]
	if w.Dataset != "" || w.ISL != 256 || w.OSL != 128 || strings.Join(w.Extra, " ") != "--max-model-len 4096" {
		t.Errorf("%+v", w)
	}
	if s := got[2].Server.String(); s != "command vllm serve acme/a --max-model-len 2048" {
		t.Error(s)
	}
	if w := got[2].Workloads[0]; w.ISL != 64 || w.OSL != 8 || w.Requests != 5 || w.Rate != 0 {
		t.Errorf("%+v", w)
	}
}

func TestBadConfigsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"configs":[]}`: "none with a model",
		`{"configs":[{"models":["a"],"script_name":"benchmark_serving","script_args":{}}]}`: "no lengths of synthetic",
		`{"configz":[]}`: "unknown field",
		`{"configs":[{"models":["a"],"script_name":"x"}]}`: "expected benchmark_serving",
		`{"configs":[{"models":["a"],"script_name":"benchmark_serving",
"script_args":{"dataset":"sharegpt"}}]}`: "list of values",
		`{"configs":[{"models":["a"],"script_name":"benchmark_serving","script_args":{"nr-qps-pair_":["x"],
"dataset":["s"]}}]}`: "not a pair",
		`{"configs":[{"models":["a"],"script_name":"benchmark_serving","script_args":{"new_":["x"],
"dataset":["s"]}}]}`: "unknown argument of nm-vllm",
		`{"configs":[{"models":["a"],"use_all_available_gpus":"","tensor_parallel_size":"2",
"script_name":"benchmark_serving","script_args":{"dataset":["s"]}}]}`: "cannot be combined",
		`{"configs":[{"models":["a"],"script_name":"benchmark_serving","script_args":{"request-rate_":["0"],
"dataset":["s"]}}]}`: "expected a number above zero",
	} {
		if _, err := nm("x.json", []byte(text), 1, func(string) int { return 0 }); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A list names one configuration a line, relative to itself.
func TestList(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("nightly.txt", "# all\na.json\n\n b.json  # the second\n")
	for _, name := range []string{"a", "b"} {
		write(name+".json", `{"configs":[{"models":["`+name+`"],"script_name":"benchmark_serving",
"script_args":{"input-len":[1],"output-len":[1]}}]}`)
	}
	got, err := ReadNM(filepath.Join(dir, "nightly.txt"), 0, func(string) int { return 0 })
	if err != nil || len(got) != 2 || got[0].Model != "a" || got[1].Model != "b" {
		t.Error(got, err)
	}
}
