package render

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

// A workload of llama-bench that has no number has the command that measures it, with all its settings or not at all.
func TestCommandOfLlamaBench(t *testing.T) {
	t.Parallel()
	key := func(isl, osl float64, dims map[string]string) schema.Key {
		one := 1.
		return schema.Key{Tool: "llama-bench", ISL: &isl, OSL: &osl, Concurrency: &one, Dims: dims}
	}
	for _, x := range []struct {
		key  schema.Key
		want string
	}{
		{key(512, 0, map[string]string{"phase": "prompt", "backends": "CUDA", "gpu_layers": "99", "flash_attn": "true"}),
			"llama-bench -p 512 -n 0 -ngl 99 -fa 1 -m llama-7b-Q4_K_M.gguf -o json > " +
				"results/llama-bench-v2-512-0-1-backends-CUDA-flash_attn-true-gpu_layers-99-phase-prompt-f06c.json"},
		{key(0, 128, map[string]string{"phase": "generation", "depth": "4096", "tensor_split": "3/1"}),
			"llama-bench -p 0 -n 128 -ts 3/1 -d 4096 -m llama-7b-Q4_K_M.gguf -o json > " +
				"results/llama-bench-v2-0-128-1-depth-4096-phase-generation-tensor_split-3-1-a990.json"},
		{key(512, 128, nil), "llama-bench -p 0 -n 0 -pg 512,128 -m llama-7b-Q4_K_M.gguf -o json > " +
			"results/llama-bench-v2-512-128-1-315f.json"},
		{key(512, 0, map[string]string{"section": "GPU 0 ONLY"}), ""},
		{schema.Key{Tool: "llama-bench"}, ""},
		{schema.Key{Tool: "vllm", ISL: key(1, 1, nil).ISL, OSL: key(1, 1, nil).OSL}, ""},
	} {
		if got := llamaBench(x.key, "llama-7b-Q4_K_M", "v2"); got != x.want {
			t.Errorf("%s: %q, want %q", x.key, got, x.want)
		}
	}
}
