package ingest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

// BenchmarkSmallFiles reads a thousand result files of a kilobyte from disk, hashed, recognised, read and grouped;
// next to it the time of the standard library to open and decode the same files. The budget is 0.1 s.
func BenchmarkSmallFiles(b *testing.B) {
	dir := b.TempDir()
	var paths []string
	for i := range 1000 {
		path := filepath.Join(dir, fmt.Sprintf("%04d.json", i))
		text := lengths(result(fmt.Sprintf("model-%d", i%25),
			fmt.Sprintf("2026%02d%02d-%02d%02d00", 1+i%12, 1+i%28, i%24, i%60), 1+i%64))
		text = text[:len(text)-1] +
			`,"backend":"vllm","tokenizer_id":"t","burstiness":1.0,"total_token_throughput":40.0,"median_ttft_ms":9.5,` +
			`"std_ttft_ms":1.25,"p99_ttft_ms":14.875,"median_tpot_ms":1.96875,"std_tpot_ms":0.125,"p99_tpot_ms":2.5,` +
			`"mean_itl_ms":2.015625,"median_itl_ms":1.984375,"std_itl_ms":0.25,"p99_itl_ms":3.25}`
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		paths = append(paths, path)
	}
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			set, err := ingest.Load(context.Background(), []ingest.Root{{FS: os.DirFS(dir), Name: "in"}}, ingest.Options{})
			if err != nil {
				b.Fatal(err)
			}
			points := 0
			for _, r := range set.Runs {
				points += len(r.Points)
			}
			if points != 1000 {
				b.Fatalf("%d points of 1,000", points)
			}
		}
	})
	b.Run("stdlib-decode-only", func(b *testing.B) {
		for b.Loop() {
			for _, path := range paths {
				data, err := os.ReadFile(path)
				if err != nil {
					b.Fatal(err)
				}
				var v map[string]any
				if err := json.Unmarshal(data, &v); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// dataJS is a store of github-action-benchmark of about the given size, of the kind that nm-vllm published: every value
// carries its whole description twice, as JSON within strings.
func dataJS(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`window.BENCHMARK_DATA = {"lastUpdate":1722479170862,"repoUrl":"x","entries":{"smaller_is_better":[`)
	for commit := 0; b.Len() < size; commit++ {
		if commit > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"commit":{"id":"%040x","message":"one of many"},"date":%d,"tool":"customSmallerIsBetter",`+
			`"benches":[`, commit, 1720492032018+commit*86_400_000)
		for i := range 60 {
			if i > 0 {
				b.WriteByte(',')
			}
			description := fmt.Sprintf("VLLM Serving - Dense\nmodel - acme/m-%d\nmax-model-len - 2048\nsparsity - "+
				"None\nbenchmark_serving {\n  \"nr-qps-pair_\": \"300,%d\",\n  \"dataset\": \"sharegpt\"\n}", i%5, i/10+1)
			name, _ := json.Marshal(map[string]string{
				"name": []string{"mean_ttft_ms", "mean_tpot_ms"}[i%2], "description": description,
				"gpu_description": "NVIDIA L4 x 1", "vllm_version": "0.5.1",
				"python_version": "3.10.12 (main, Jun  7 2023, 13:43:11) [GCC 11.3.0]", "torch_version": "2.3.0+cu121",
			})
			extra, _ := json.MarshalIndent(map[string]any{
				"description": description,
				"benchmarking_context": map[string]any{
					"vllm_version": "0.5.1", "cuda_devices": strings.Repeat("[_CudaDeviceProperties(name='NVIDIA L4')]", 8),
				},
				"gpu_description": "NVIDIA L4 x 1",
				"script_args": map[string]any{
					"backend": "vllm", "nr_qps_pair_": []any{300, fmt.Sprint(i/10 + 1)},
					"server_args": strings.Repeat("{'model': 'x'}", 30),
				},
				"date":  "2024-07-09 02:12:27 UTC",
				"model": fmt.Sprintf("acme/m-%d", i%5), "dataset": "sharegpt",
			}, "", "  ")
			value, _ := json.Marshal(map[string]any{
				"name": string(name), "value": 20.5 + float64(i*commit%17)/8, "unit": "ms", "extra": string(extra),
			})
			b.Write(value)
		}
		b.WriteString("]}")
	}
	b.WriteString("]}}")
	return b.Bytes()
}

// BenchmarkStore reads a data.js of 34 MB, the largest that was published. The budget is 1 s.
func BenchmarkStore(b *testing.B) {
	data := dataJS(34 << 20)
	fs := fstest.MapFS{"data.js": {Data: data}}
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			set, err := ingest.Load(context.Background(), []ingest.Root{{FS: fs, Name: "in"}}, ingest.Options{})
			if err != nil || len(set.Runs) < 100 {
				b.Fatal(err, len(set.Runs), set.Problems)
			}
		}
	})
	b.Run("stdlib-decode-only", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			var v map[string]any
			if err := json.Unmarshal(data[len("window.BENCHMARK_DATA = "):], &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// detailed is a result of vLLM with per-request arrays, floats as Python writes them.
func detailed(requests, tokens int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var ttfts, itls, lens []string
	for range requests {
		gaps := make([]string, tokens-1)
		for i := range gaps {
			gaps[i] = strconv.FormatFloat(.02+.004*rng.NormFloat64(), 'g', -1, 64)
		}
		ttfts = append(ttfts, strconv.FormatFloat(.1+.02*rng.Float64(), 'g', -1, 64))
		itls = append(itls, "["+strings.Join(gaps, ", ")+"]")
		lens = append(lens, strconv.Itoa(tokens))
	}
	return []byte(fmt.Sprintf(`{"date": "20260101-000000", "backend": "vllm", "model_id": "acme/m", "num_prompts": %d, `+
		`"completed": %d, "duration": 60.5, "output_throughput": 1000.5, "mean_ttft_ms": 110.5, "ttfts": [%s], `+
		`"itls": [%s], "input_lens": [%s], "output_lens": [%s]}`, requests, requests, strings.Join(ttfts, ", "),
		strings.Join(itls, ", "), strings.Join(lens, ", "), strings.Join(lens, ", ")))
}

// BenchmarkDetailed reads a result with arrays: hashed, decoded, every statistic computed again; next to it the time of
// the standard library to decode it into slices. The budget is three times its speed, on one core.
func BenchmarkDetailed(b *testing.B) {
	data := detailed(1000, 128)
	fs := fstest.MapFS{"a.json": {Data: data}}
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			set, err := ingest.Load(context.Background(), []ingest.Root{{FS: fs, Name: "in"}}, ingest.Options{})
			if err != nil || len(set.Runs) != 1 || drafttest.Metric(set.Runs[0].Points[0], "itl").N != 127_000 {
				b.Fatal(err, set.Problems)
			}
		}
	})
	b.Run("stdlib-decode-only", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			var v struct {
				TTFTs []float64   `json:"ttfts"`
				ITLs  [][]float64 `json:"itls"`
				Lens  []int       `json:"output_lens"`
			}
			if err := json.Unmarshal(data, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRecords reads AIPerf's per-request records, 32 MB in a file; next to it the time of the standard library to
// decode the same lines.
func BenchmarkRecords(b *testing.B) {
	gaps := strings.TrimSuffix(strings.Repeat("20.123456789,", 127), ",")
	line := `{"metadata":{"x_request_id":"a","request_start_ns":1795228579558739543,"benchmark_phase":"profiling"},` +
		`"metrics":{"time_to_first_token":{"value":100.25,"unit":"ms"},"request_latency":{"value":2655.5,"unit":"ms"},` +
		`"output_sequence_length":{"value":128,"unit":"tokens"},"inter_chunk_latency":{"value":[` + gaps +
		`],"unit":"ms"}}}` + "\n"
	data := []byte(strings.Repeat(line, 32<<20/len(line)))
	fs := fstest.MapFS{"profile_export.jsonl": {Data: data}}
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			set, err := ingest.Load(context.Background(), []ingest.Root{{FS: fs, Name: "in"}}, ingest.Options{})
			if err != nil || len(set.Runs) != 1 {
				b.Fatal(err, set.Problems)
			}
		}
	})
	b.Run("stdlib-decode-only", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			for line := range bytes.Lines(data) {
				var v struct {
					Metrics map[string]struct {
						Value json.RawMessage `json:"value"`
					} `json:"metrics"`
				}
				if err := json.Unmarshal(line, &v); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// BenchmarkCorpus reads all real files, where they are. The budget is 2 s.
func BenchmarkCorpus(b *testing.B) {
	corpus := os.Getenv("TTREPORT_CORPUS")
	if corpus == "" {
		b.Skip("TTREPORT_CORPUS names no folder of real files")
	}
	root, err := ingest.OSRoot(corpus)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := ingest.Load(context.Background(), []ingest.Root{root}, ingest.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
