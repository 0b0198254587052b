package manifest_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// A pattern is proposed as the names of most files suggest it, and every proposal is a pattern that reads what was
// asked for; names that suggest nothing give none.
func TestPropose(t *testing.T) {
	for _, c := range []struct {
		name, files, wanted, want, first string // first is what it reads of the first file, as release/device/model/impl
	}{
		{"fields of a name, in dated folders",
			"n/2026-05-03/Qwen3.5-35B-Q8__rocm-7.2__fa1.log n/2026-05-18/gpt-oss-120b__vulkan_radv__fa1.log",
			"release device model impl", "{release}/{model}__{impl}__*", "2026-05-03//Qwen3.5-35B-Q8/rocm-7.2"},
		{"the last field ends with the extension", "a/llama-7b__rocm-7.2.3.log a/qwen3-8b__cuda.log", "model impl",
			"{model}__{impl}.log", "//llama-7b/rocm-7.2.3"},
		{"where a field ends differs", "a/llama-7b__rocm.log a/qwen3-8b__cuda__ctx.log", "model impl", "{model}__*",
			"//llama-7b/"},
		{"folders of devices, files of models with their load",
			"b/results_amd-r9700/org_Qwen3-14B=org_Qwen3-14B_tp1_qps4.json b/results_nvidia-a100/x_Llama-3.1-8B_tp2_qps1.json",
			"device model", "results_{device}/{model}_tp*", "/amd-r9700/org_Qwen3-14B=org_Qwen3-14B/"},
		{"folders alone", "x/v0.17.0/n150/a.json x/v0.18.0/t3k/a.json", "release device model", "{release}/{device}/*",
			"v0.17.0/n150//"},
		{"a device that two folders share", "h100/one.json h100/two.json", "device", "{device}/*", "/h100//"},
		{"models in folders", "llm/gpt-oss-120b-F16/a.md llm/llama-2-7b.Q4_0/a.md", "model", "{model}/*",
			"//gpt-oss-120b-F16/"},
		{"models in folders, over several devices", "n/2026-05-03/Qwen3-8B_tp1/a.json n/2026-05-03/Qwen3-8B_tp2/a.json",
			"release model", "{release}/{model}_tp{tp}/*", "2026-05-03//Qwen3-8B/"},
		{"a summary beside folders of models", "r/gpt-oss-120b-F16/a.md r/llama-2-7b.Q4_0/a.md r/summary.md", "model",
			"", ""},
		{"a deeper folder, where the folder of all was read", "llama-2-7b/a.md llama-2-13b/a.md nightly/qwen2-7b/a.md",
			"model", "{model}/*", "//llama-2-7b/"},
		{"files of models", "a/OpenHermes-2.5-Mistral-7B.md a/Yi-34B-Chat.md a/phixtral.md", "model", "{model}.md",
			"//OpenHermes-2.5-Mistral-7B/"},
		{"files of models and days", "a/llama-7b_2026-01-02.json a/llama-7b_2026-01-03.json", "model", "", ""},
		{"files of models, days and repeats", "a/Qwen3-8B_2026-08-01_run1.json a/Qwen3-8B_2026-08-02_run1.json", "model", "",
			""},
		{"files of versions and models", "a/raw-v0.4.0-qwen3-8b-rep1.json a/raw-b10088-qwen3-8b-rep1.json", "model", "", ""},
		{"files of commits and models", "a/commit-abc0f3d2-qwen3-8b-1.json a/commit-abc1f3d2-qwen3-8b-1.json", "model", "",
			""},
		{"names that say nothing", "results/a.json results/b.json out/c.json", "release device model", "", ""},
		{"the version of a model is no device", "gsm8k/MiniMax-M2.5/a/x.log mmlu/MiniMax-M2.5/b/x.log", "device", "", ""},
		{"folders of a comparison", "h100_vs_mi300x/a/x.json h100_vs_mi300x/b/y.json", "device", "", ""},
		{"engines that are compared", "tgi_vs_vllm/a/x.json tgi_vs_vllm/b/y.json", "impl", "", ""},
		{"a minority", "h100/a.json one/b.json two/c.json three/d.json", "device", "", ""},
		{"a clone that is called like an engine", "vLLM-benchmarking/a.log vLLM-benchmarking/b.log", "impl", "", ""},
		{"a clone that is called after a device", "h100-fp8-bench/r/x.json h100-fp8-bench/r/y.json", "device", "", ""},
		{"a file at the top", "aaa.json llama-7b.json qwen-7b.json", "model", "{model}.json", "//aaa/"},
		{"several folders at the top", "b200_run/a/x.json h100_run/a/x.json", "device", "{device}/*/*", "/b200_run//"},
		{"versions of a model", "r/deepseek-v3.2/a.json r/deepseek-v3.2-exp/a.json", "release model", "{model}/*",
			"//deepseek-v3.2/"},
		{"how many devices", "r/gpu_1x_h200_nvl/a.json r/gpu_2x_pro_6000_blackwell/a.json", "device",
			"gpu_{chips}x_{device}/*", "/h200_nvl//"},
		{"files of a benchmark", "a/Qwen3-1.7B_int4_ppl.json a/Qwen3-1.7B_int4_fidelity.json", "model", "", ""},
		{"models and builds", "q/gemma4-12b-v0514.json q/gemma4-12b-v0515.json q/qwen3-8b-v0514.json q/qwen3-8b-v0515.json",
			"release model", "{model}-{release}.json", "v0514//gemma4-12b/"},
		{"a label, versions and models", "r/raw-v0.0-qwen3-8b.json r/raw-v0.1-qwen3-8b.json", "model", "", ""},
		{"a label, versions and models, and both are wanted", "r/raw-v0.0-qwen3-8b.json r/raw-v0.1-gemma-4b.json",
			"release model", "raw-{release}-{model}.json", "v0.0//qwen3-8b/"},
		{"builds before models and repeats", "r/bench_b6000_qwen3-8b_r1.json r/bench_b6100_qwen3-8b_r1.json",
			"release model", "bench_{release}_{model}_*", "b6000//qwen3-8b/"},
		{"builds alone", "r/bench_b6000_qwen3-8b_r1.json r/bench_b6100_qwen3-8b_r1.json", "release",
			"bench_{release}_*", "b6000///"},
		{"versions behind models", "r/llama-3.1-8b_v0.6.2_c8.json r/qwen3-8b_v0.6.3_c8.json", "release model",
			"{model}_{release}_*", "v0.6.2//llama-3.1-8b/"},
		{"versions behind what is nothing", "r/chat_v0.6.2_c8.json r/code_v0.6.3_c16.json", "release model",
			"*_{release}_*", "v0.6.2///"},
		{"versions of models", "r/deepseek-v3.2_c8.json r/deepseek-v3.1_c8.json", "release", "", ""},
		{"models, tests and loads", "r/Llama-3.1-8B_latency_bs1_in128.json r/Llama-3.1-8B_latency_bs8_in128.json", "model",
			"{model}_latency_bs*", "//Llama-3.1-8B/"},
		{"engines and precisions", "n/llamacpp_f16_run1.log n/llamacpp_gpu_q4_0_run1.log n/vllm-8b-x.log", "model", "", ""},
		{"a clone about models", "qwen_quantization/a.jsonl qwen_quantization/b.jsonl", "model", "", ""},
		{"nothing is wanted", "h100/a.json", "", "", ""},
		{"devices far above the files", "r/b/kunlun_p800/M-2.5/t/01/i8-o1/x.log r/b/hygon_bw1000/M-2.5/t/02/i8-o2/x.log",
			"device", "{device}/*/*/*/*/*", "/kunlun_p800//"},
		{"files of another kind, as deep", "r/b/h100/M/t/x.log r/b/mi300x/M/t/x.log r/b/ascend910/M/t/x.log " +
			"r/evals/lm-eval/gsm/M/x.log", "device", "b/{device}/*/*/*", "/h100//"},
		{"files of another kind, in folders of the same name", "r/b/h100/M/x.log r/b/h200/M/x.log s/b/old/M/x.log",
			"device", "{device}/*/*", "/h100//"},
		{"folders of models and loads", "r/h100/qwen3-8b-c8/x.json r/h100/qwen3-8b-c16/x.json", "device model",
			"{device}/{model}-c*/*", "/h100/qwen3-8b/"},
	} {
		var files []manifest.Named
		for _, p := range strings.Fields(c.files) {
			files = append(files, manifest.Named{Path: p})
		}
		got := manifest.Propose(files, strings.Fields(c.wanted))
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
			continue
		}
		if got == "" {
			continue
		}
		p, err := manifest.NewPattern(got)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		f, _, _, _, _ := p.Match(files[0].Path)
		if read := strings.Join([]string{f.Release, f.Device.Name, f.Model.Name, f.Impl}, "/"); read != c.first {
			t.Errorf("%s: %q reads %s, want %s", c.name, got, read, c.first)
		}
	}
}

// An organisation before the model that files state is no part of its name.
func TestProposeOrganisation(t *testing.T) {
	got := manifest.Propose([]manifest.Named{
		{Path: "h100/RedHatAI_Qwen3-14B_tp1_qps1.json", Model: "Qwen3-14B"},
		{Path: "h100/openai_gpt-oss-20b_tp2_qps1.json", Model: "gpt-oss-20b"},
	}, []string{"device", "model"})
	if got != "{device}/{_}_{model}_tp*" {
		t.Error(got)
	}
}

// Where files state their model, it is not what folders are called that are of workloads.
func TestProposeWorkloads(t *testing.T) {
	got := manifest.Propose([]manifest.Named{
		{Path: "rtx5090/rag/qwen3-8b-nvfp4-rag-c4/x.json", Model: "Qwen3-8B-NVFP4"},
		{Path: "rtx5070ti/api/qwen3-8b-nvfp4-api-c64/x.json", Model: "Qwen3-8B-NVFP4"},
	}, []string{"device", "model"})
	if got != "{device}/*/*/*" {
		t.Error(got)
	}
}

// What folders are called is a configuration, without the times that they begin with.
func TestProposeConfig(t *testing.T) {
	for files, want := range map[string]string{
		"s/oss-x2/a.json s/turbo-x4/a.json": "{config}/*", "s/2026-01-01/a.json s/2026-01-02/a.json": "",
		"s/oss-x2/2026-01-01/a.json s/turbo-x4/2026-01-02/a.json":              "{config}/*/*",
		"r/20260714-202039-a-bf16-on/x.csv r/20260715-010203-a-bf16-off/x.csv": "{_}-{_}-{config}/*",
		"r/2026-07-14_on/x.csv r/2026-07-15_off/x.csv":                         "{_}-{_}-{_}_{config}/*",
		"r/on-2026-07-14/x.csv r/off-2026-07-15/x.csv":                         "", "a.json b.json": "",
		"s/oss-x2/4-i128-o16/a.json s/turbo-x4/8-i512-o16/a.json": "{config}/*/*",
	} {
		var list []manifest.Named
		for _, p := range strings.Fields(files) {
			list = append(list, manifest.Named{Path: p})
		}
		got := manifest.ProposeConfig(list)
		if got != want {
			t.Errorf("%s: %q, want %q", files, got, want)
		}
		p, err := manifest.NewPattern(got)
		_, _, w, _, ok := p.Match(list[0].Path)
		if got != "" && (err != nil || !ok || strings.Contains(w.Dims["config"], "2026")) {
			t.Errorf("%q: %v, %v", got, w, err)
		}
	}
}

// An engine, a precision or a day is no model.
func TestSetupsAreNoModels(t *testing.T) {
	for name, want := range map[string]bool{
		"llamacpp_f16": true, "llama.cpp-gpu-q4_0": true, "vllm-0.8.5": true, "2026-01-02": true, "sglang_fp8_run2": true,
		"qwen3-8b-fp8": false, "gpt-oss-20b-mxfp4": false, "phixtral": false, "vllm-llama": false,
	} {
		if manifest.IsSetup(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// What is proposed is a pattern, whatever files are called.
func FuzzPropose(f *testing.F) {
	f.Add("a/{x}_h100/llama-7b__{y}.log", "b/{x}_h100/qwen-8b__z.log")
	f.Add("", "")
	f.Add("__", "a*[b]?_a100/x")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, files := range [][]manifest.Named{nil, {{Path: a}}, {{Path: a}, {Path: b, Model: "qwen-8b"}}} {
			text := manifest.Propose(files, strings.Fields("release device model impl"))
			if _, err := manifest.NewPattern(text); text != "" && err != nil {
				t.Errorf("%q of %q and %q: %v", text, a, b, err)
			}
		}
	})
}
