package schema

import "strings"

// LlamaBenchSetting is a setting of llama-bench that makes a row another workload.
type LlamaBenchSetting struct {
	Name string // in its JSON
	Flag string // that sets it; "" for what is built into the program
}

// Dim is the name of the setting in a workload.
func (s LlamaBenchSetting) Dim() string { return strings.TrimPrefix(s.Name, "n_") }

// LlamaBenchSettings are all of them, of builds 1000 to 9000.
func LlamaBenchSettings() []LlamaBenchSetting {
	return []LlamaBenchSetting{
		{"n_threads", "-t"}, {"n_batch", "-b"}, {"n_ubatch", "-ub"}, {"n_gpu_layers", "-ngl"}, {"n_cpu_moe", "-ncmoe"},
		{"type_k", "-ctk"}, {"type_v", "-ctv"}, {"flash_attn", "-fa"}, {"split_mode", "-sm"}, {"tensor_split", "-ts"},
		{"no_kv_offload", "-nkvo"}, {"use_mmap", "-mmp"}, {"embeddings", "-embd"}, {"n_depth", "-d"}, {"backends", ""},
		{"cpu_strict", "--cpu-strict"},
	}
}
