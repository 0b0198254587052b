package manifest_test

import (
	"maps"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

func TestProposeFacts(t *testing.T) {
	t.Parallel()
	all := []string{"model", "device", "engine", "version"}
	for name, c := range map[string]struct {
		data   string
		wanted []string
		want   map[string]string
	}{
		"flat": {`{"profile": "bf16", "model": "acme/Acme-7B", "served_name": "a", "hardware": "DGX Spark GB10",
			"vllm_version_reported": "0.26.0"}`, all,
			map[string]string{"model": "model", "device": "hardware", "version": "vllm_version_reported"}},
		"below": {`{"run": {"model_id": "acme/Acme-7B", "host": {"gpu_name": "RTX 3090"}}, "engine": "vllm"}`, all,
			map[string]string{"model": "run.model_id", "device": "run.host.gpu_name", "engine": "engine"}},
		"not wanted": {`{"model": "acme/Acme-7B", "device": "H100"}`, []string{"device"},
			map[string]string{"device": "device"}},
		"nothing like it": {`{"model": 7, "device": "cuda", "engine": "v8", "vllm_version": "main"}`, all,
			map[string]string{}},
		"the nearest first": {`{"a": {"model": "x-1b"}, "model": "y-2b"}`, all, map[string]string{"model": "model"}},
		"damaged":           {`{"model": "acme-7b", "x": [`, all, map[string]string{"model": "model"}},
	} {
		if got := manifest.ProposeFacts([]byte(c.data), c.wanted); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestMayBeOneModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"gpt-oss-20b", "gpt-oss-20b-mxfp4", true},
		{"KAT-Coder-V2.5-Dev", "kat-coder-v2-5-bf16", true},
		{"nemotron-3-super", "NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4", true},
		{"Qwen3-8B", "Qwen3-14B", false},
		{"Qwen3-8B-Q4_K_M", "Qwen3-8B-Q8_0", false},
		{"a-7b", "b-7b", false},
		{"", "x", false},
	} {
		if got := manifest.MayBeOneModel(c.a, c.b); got != c.want {
			t.Errorf("%s, %s: %v", c.a, c.b, got)
		}
	}
}
