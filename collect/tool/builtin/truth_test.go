//go:build !race

package builtin_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/folderlock"
)

// truth measures a load and returns the medians that the client saw and those of the server's own log.
func truth(tb testing.TB, streams, requests int) (ttft, ttftTrue, tpot, tpotTrue float64) {
	tb.Helper()
	url, log := logged(tb, sim.Config{StepBase: 8 * time.Millisecond, MaxBatch: 256, ChunkTokens: 2048, Noise: .01})
	out, err := builtin.Run(context.Background(), builtin.Load{
		Workload: traffic.Workload{ISL: 64, OSL: 32, Concurrency: streams, Requests: requests},
		URL:      url, Model: "sim-8b",
	})
	if err != nil {
		tb.Fatal(err)
	}
	served := log()
	if len(served) != len(out.Requests) {
		tb.Fatalf("%d requests, %d logged", len(out.Requests), len(served))
	}
	var a, b, c, d []float64
	for i, r := range out.Requests {
		s := served[i] // in another order
		if r.Error != "" || len(s.chunks) != 32 || r.Out != 32 {
			tb.Fatalf("request %d: error %q, %d chunks logged, %d tokens", i, r.Error, len(s.chunks), r.Out)
		}
		ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
		a = append(a, r.TTFT)
		b = append(b, ms(s.chunks[0].Sub(s.arrived)))
		c = append(c, (r.E2EL-r.TTFT)/31)
		d = append(d, ms(s.chunks[31].Sub(s.chunks[0]))/31)
	}
	return median(a), median(b), median(c), median(d)
}

// BenchmarkTruth prints the difference of the client's medians from what the simulator sent.
func BenchmarkTruth(b *testing.B) {
	for _, streams := range []int{1, 32, 256} {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) {
			for b.Loop() {
				t, tt, p, pt := truth(b, streams, max(8, 2*streams))
				b.ReportMetric(t-tt, "ttft-error-ms")
				b.ReportMetric(100*(t-tt)/tt, "ttft-error-%")
				b.ReportMetric(p-pt, "tpot-error-ms")
				b.ReportMetric(100*(p-pt)/pt, "tpot-error-%")
			}
		})
	}
}

// The client's medians are the server's, within 1 % or 0.2 ms.
// The race detector makes the client several times slower, so timings are not those of the real client.
func TestMediansAreTheServers(t *testing.T) {
	// See TestMain of package collect.
	f, err := os.OpenFile(filepath.Join(os.TempDir(), "ttreport-test-timing.lock"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := folderlock.WaitFile(f, folderlock.Exclusive); err != nil {
		t.Fatal(err)
	}
	for _, streams := range []int{1, 32, 256} {
		var last string
		ok := false
		for range 10 { // a shared machine may stall
			ttft, ttftTrue, tpot, tpotTrue := truth(t, streams, max(8, 2*streams))
			last = fmt.Sprintf("%d streams: TTFT %.3f, sent %.3f; TPOT %.3f, sent %.3f ms", streams, ttft, ttftTrue, tpot,
				tpotTrue)
			within := func(a, b float64) bool { return math.Abs(a-b) <= math.Max(.2, .01*b) }
			if ok = within(ttft, ttftTrue) && within(tpot, tpotTrue); ok {
				break
			}
		}
		if !ok {
			t.Error(last)
		}
	}
}
