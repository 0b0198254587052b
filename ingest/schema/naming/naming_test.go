package naming_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
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

// A letter behind the number of a repeat is no counter of its own; names of this kind ended the program.
func TestLettersBehindNumbers(t *testing.T) {
	if got := naming.Differences([]string{"x/1a.json", "x/2a.json"}); got != nil {
		t.Errorf("%v, want repeats", got)
	}
	if got := naming.Differences([]string{"x/1a.json", "x/2b.json"}); len(got) != 2 {
		t.Errorf("%v, want two names", got)
	}
}

// A label has the numbers that are set, and those of a model; what the key and the facts state it has not.
func TestLabels(t *testing.T) {
	eight := 8.
	k := schema.Key{Concurrency: &eight}
	start := time.Date(2026, 9, 4, 2, 0, 0, 0, time.UTC)
	for name, want := range map[string]string{
		"x_16": "x_16", "x_128": "x_128", "tp_2": "tp_2", "scenario-1": "scenario-1", "llama-3": "llama-3",
		"v0.5.1":      "v0.5.1",
		"deepseek-r1": "deepseek-r1", "x_8": "x", "x-c8": "x", "x_turbo_y": "x_y", "ds-0904-gds": "ds-gds",
		"turbo-2026-09-03": "", "x-2025-01-01": "x-2025-01-01", "x_20260903-101112_y": "x_y",
		"x_deadbee1": "x", "results": "", "stage_0_lifecycle_metrics": "", "0904": "", "run7": "", "1024-x": "1024-x",
		"xabc1234-abc1234": "xabc1234", "Ⱥ-turbo": "Ⱥ", "TURBO": "", "(": "", "-": "", "": "",
	} {
		if got := naming.Label(name, &k, start, "turbo", ""); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A build in a name is its number, its version or its commit, and no GPU, word or version of a model.
func TestBuilds(t *testing.T) {
	for name, want := range map[string]string{
		"bench_b6000_qwen3-8b_r1": "bench__qwen3-8b_r1", "raw-v0.0-qwen3-8b": "raw--qwen3-8b", "nightly_123/x": "/x",
		"x_v0.6.2-rc1_y/b10088": "x__y/", "abc1234-x": "-x", "b200_h100_v100": "b200_h100_v100",
		"deepseek-v3.2_c8": "deepseek-v3.2_c8", "llama-3.1-8b": "llama-3.1-8b", "effaced_facade1": "effaced_",
		"1234567-x": "1234567-x", "build-17": "", "0.8.5.post1": "", "": "",
	} {
		if got := naming.WithoutBuilds(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]bool{
		"nightly-20260102": true, "2026-01-02": true, "build-17": true, "run3": true, "release_1.2.3": true, "v0.6": true,
		"0.8.5-rocm": true, "deadbee1": true, "b6000": true, "b200": false, "v0.6-tp2": false, "tp2": false, "": false,
	} {
		if naming.IsBuild(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
