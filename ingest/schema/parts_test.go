package schema_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

// A system may be set up in several ways for one workload: they share the workload, and no number.
func TestPartsOfAKey(t *testing.T) {
	one := 1.0
	rocm := schema.Key{Task: "text", Tool: "llama-bench", ISL: &one, Dims: map[string]string{
		"backends": "ROCm", "tp": "1", "type_k": "q8_0", "hipblaslt": "1", "phase": "prompt", "depth": "4096",
	}}
	vulkan := rocm
	vulkan.Dims = map[string]string{"backends": "Vulkan", "tp": "2", "phase": "prompt", "depth": "4096"}
	a, setup := rocm.Parts()
	b, other := vulkan.Parts()
	if a.String() != b.String() || a.Dims["depth"] != "4096" || len(a.Dims) != 2 {
		t.Errorf("one workload has two names: %s and %s", a, b)
	}
	if setup["backends"] != "ROCm" || setup["hipblaslt"] != "1" || setup["type_k"] != "q8_0" || other["tp"] != "2" {
		t.Errorf("configurations %v and %v", setup, other)
	}
	if rocm.String() == vulkan.String() || len(rocm.Dims) != 6 {
		t.Error("two configurations are one series")
	}
	if _, none := (schema.Key{Dims: map[string]string{"label": "x"}}).Parts(); none != nil {
		t.Errorf("a configuration %v from nothing", none)
	}
}
