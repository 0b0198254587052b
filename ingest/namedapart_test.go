package ingest_test

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/ttreport/ttreport/ingest"
)

// Results of two devices with some equal statistics are two measurements; those of one device, of which one file has
// more, are one.
func TestTwoDevicesAreNoCopies(t *testing.T) {
	const at = "_2026-01-01_00-00-00_isl-128_osl-128_maxcon-1_n-8.json"
	for _, tt := range []struct {
		first, second string
		want          int
	}{
		{"a/benchmark_id_tt_m_n150" + at, "b/benchmark_id_tt_m_n300" + at, 2},
		{"a/benchmark_id_tt_m_n150" + at, "b/benchmark_id_tt_m_n150" + at, 1},
	} {
		files := fstest.MapFS{
			tt.first:  {Data: []byte(serve(`"request_throughput":4.125,"total_token_throughput":1024.5,`))},
			tt.second: {Data: []byte(serve(`"request_throughput":4.125,"total_token_throughput":1024.5,"label":"x",`))},
		}
		set, err := ingest.Load(context.Background(), []ingest.Root{{FS: files}}, ingest.Options{})
		if got := len(points(set)); err != nil || got != tt.want {
			t.Errorf("%s and %s: %d points, %v", tt.first, tt.second, got, err)
		}
	}
}
