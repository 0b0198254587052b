package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ttreport/ttreport/ingest"
)

// BenchmarkSmallFiles reads a thousand result files of a kilobyte from disk, hashed, recognised, read and grouped; beside
// it what the standard library takes to open and decode the same files and do nothing with them. The budget is 0.1 s.
func BenchmarkSmallFiles(b *testing.B) {
	dir := b.TempDir()
	var paths []string
	for i := range 1000 {
		path := filepath.Join(dir, fmt.Sprintf("%04d.json", i))
		text := lengths(result(fmt.Sprintf("model-%d", i%25), fmt.Sprintf("2026%02d%02d-%02d%02d00", 1+i%12, 1+i%28, i%24, i%60), 1+i%64))
		text = text[:len(text)-1] + `,"backend":"vllm","tokenizer_id":"t","burstiness":1.0,"total_token_throughput":40.0,"median_ttft_ms":9.5,"std_ttft_ms":1.25,"p99_ttft_ms":14.875,"median_tpot_ms":1.96875,"std_tpot_ms":0.125,"p99_tpot_ms":2.5,"mean_itl_ms":2.015625,"median_itl_ms":1.984375,"std_itl_ms":0.25,"p99_itl_ms":3.25}`
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
