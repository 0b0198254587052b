package decode_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// detailed loads the real vLLM files with per-request arrays; the benchmark skips where TTREPORT_CORPUS names none.
func detailed(b *testing.B) (files [][]byte, bytes int64) {
	corpus := os.Getenv("TTREPORT_CORPUS")
	if corpus == "" {
		b.Skip("TTREPORT_CORPUS names no folder of real files")
	}
	err := filepath.WalkDir(filepath.Join(corpus, "vllm"), func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(name, ".json") {
			return err
		}
		data, err := os.ReadFile(name)
		if err == nil && strings.Contains(string(data), `"itls"`) {
			files = append(files, data)
			bytes += int64(len(data))
		}
		return err
	})
	if err != nil || len(files) == 0 {
		b.Fatalf("%s/vllm holds no result with arrays: %v", corpus, err)
	}
	return files, bytes
}

type full struct {
	InputLens  []float64   `json:"input_lens"`
	OutputLens []float64   `json:"output_lens"`
	TTFTs      []float64   `json:"ttfts"`
	ITLs       [][]float64 `json:"itls"`
	Errors     []string    `json:"errors"`
}

// BenchmarkRead reads everything, and is compared with encoding/json.
func BenchmarkRead(b *testing.B) {
	files, n := detailed(b)
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(n)
		for b.Loop() {
			for _, data := range files {
				if v := decode.Parse(data, 100); v.Get("duration").Float0() == 0 {
					b.Fatal(v.Kind())
				}
			}
		}
	})
	b.Run("stdlib", func(b *testing.B) {
		b.SetBytes(n)
		for b.Loop() {
			for _, data := range files {
				var v full
				if err := json.Unmarshal(data, &v); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
