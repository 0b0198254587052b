package naming_test

import (
	"fmt"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema/naming"
)

// The precision of a model in a name is no part of another word, and no quarter of a year.
func TestPrecision(t *testing.T) {
	for name, want := range map[string]string{
		"v1/Qwen3.5-4B-IQ4_NL.gguf-gsm8k": "iq4_nl", "a/Qwen3.5-4B-Q3_K_S.gguf": "q3_k_s", "x-Q8_0": "q8_0",
		"nvfp4-v23": "nvfp4",
		"m_w4a16":   "w4a16", "mlx-8bit_smoke": "8bit", "2026-q3/x": "", "fp": "", "abf16": "", "Q4": "", "llama-70b": "",
	} {
		if got := naming.Precision(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// The parts of paths are the same where only days, hashes and the numbers of repeats differ.
func TestParts(t *testing.T) {
	got := naming.Parts([]string{"d/2026-01-02/run1/oss-x2", "d/2026-01-03/run2/oss-x2", "d/2026-01-03/turbo-x4"})
	if want := "[[d oss-x2] [d oss-x2] [d turbo-x4]]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
