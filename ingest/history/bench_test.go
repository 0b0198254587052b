package history_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/history"
)

// BenchmarkLoad loads 10^4 series x 50 releases (6,250 documents). The documents are made once, by the
// generator that measures rivals too; without Python the benchmark skips.
func BenchmarkLoad(b *testing.B) {
	gen, err := filepath.Abs("../../.ci/measure/gen_history.py")
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(b.TempDir(), "history")
	if out, err := exec.Command("python3", gen, dir, "25", "5", "20", "50").CombinedOutput(); err != nil {
		b.Skipf("python3: %v %s", err, out)
	}
	run := func(b *testing.B) {
		var peak uint64
		for b.Loop() {
			b.StopTimer()
			runtime.GC()
			stop := make(chan struct{})
			go func() {
				var m runtime.MemStats
				for {
					select {
					case <-stop:
						return
					case <-time.After(10 * time.Millisecond):
						runtime.ReadMemStats(&m)
						peak = max(peak, m.HeapAlloc)
					}
				}
			}()
			b.StartTimer()
			c, problems, err := history.Load(context.Background(), dir)
			b.StopTimer()
			close(stop)
			if err != nil || len(problems) > 0 || len(c.Runs) != 6250 || len(c.Points) != 125000 {
				b.Fatal(err, problems, len(c.Runs), len(c.Points))
			}
			b.StartTimer()
		}
		b.ReportMetric(float64(peak)/(1<<20), "peak-heap-MB")
	}
	run(b)
}
