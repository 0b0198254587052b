package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
)

func serve(t *testing.T, cfg sim.Config) *sim.Server {
	t.Helper()
	s, err := sim.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

var quick = sim.Config{StepBase: time.Millisecond}

func TestFailuresAreResults(t *testing.T) {
	for name, c := range map[string]struct {
		next  func(chunk int) bool
		error string
	}{
		"refused": {nil, "HTTP 500"},
		"cut": {func(chunk int) bool {
			if chunk > 1 {
				panic(http.ErrAbortHandler) // the connection ends without the closing chunk
			}
			return true
		}, "broke after 1 chunks"},
		"hollow": {func(int) bool { return false }, "no content"},
	} {
		cfg := quick
		if cfg.Errors = 1; c.next != nil {
			cfg.Errors = 0
		}
		url := front(t, cfg, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n := 0
				next.ServeHTTP(chunks{w, func() bool { n++; return c.next(n) }}, r)
			})
		})
		l := builtin.Load{
			Workload: traffic.Workload{ISL: 4, OSL: 4, Concurrency: 2, Requests: 4},
			URL:      url, Model: "sim-8b",
		}
		out, err := builtin.Run(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		set := out.Set()
		if set.OK != 0 || set.Failed != 4 || !strings.Contains(out.Requests[0].Error, c.error) {
			t.Errorf("%s: %d ok, %d failed, %q", name, set.OK, set.Failed, out.Requests[0].Error)
		}
		raw, err := out.Result(l)
		var r map[string]any
		if err != nil || json.Unmarshal(raw, &r) != nil || r["completed"] != 0. || r["failed"] != 4. {
			t.Errorf("%s: %v %s", name, err, raw)
		}
	}
	// Nothing listens there.
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + ln.Addr().String()
	_ = ln.Close()
	out, err := builtin.Run(context.Background(), builtin.Load{
		Workload: traffic.Workload{ISL: 1, OSL: 1, Concurrency: 1, Requests: 1},
		URL:      gone,
	})
	if err != nil || !strings.Contains(out.Requests[0].Error, "connecting") {
		t.Errorf("%v %+v", err, out)
	}
}

// An open loop keeps its rate when the server cannot: with every answer taking far longer than the gap between sends,
// all requests are still sent on time.
func TestOpenLoopIsOpen(t *testing.T) {
	cfg := sim.Config{StepBase: 40 * time.Millisecond, MaxBatch: 1}
	l := builtin.Load{
		Workload: traffic.Workload{ISL: 1, OSL: 2, Rate: 200, Requests: 12},
		URL:      serve(t, cfg).URL(), Model: "sim-8b", Seed: 3,
	}
	wrong := ""
	for range 5 { // another process may have the machine once
		out, err := builtin.Run(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		if c := out.Client(l); c["late_send_p99_ms"] == "" {
			t.Errorf("lateness is not recorded: %v", c)
		}
		last := out.Requests[len(out.Requests)-1]
		// Queueing shows in the latency of the late ones instead.
		if last.Sent <= 300*time.Millisecond && out.Peak >= 6 && last.TTFT >= 5*out.Requests[0].TTFT {
			return
		}
		wrong = fmt.Sprintf("the last request was sent after %s with %d in flight, TTFT of the first %.0f ms, of it %.0f ms",
			last.Sent, out.Peak, out.Requests[0].TTFT, last.TTFT)
	}
	t.Error("the slow server slowed the load:", wrong)
}

func TestClosedLoop(t *testing.T) {
	l := builtin.Load{
		Workload: traffic.Workload{ISL: 8, OSL: 5, Concurrency: 3, Requests: 12},
		URL:      serve(t, quick).URL(), Model: "sim-8b", Warmups: 2,
	}
	out, err := builtin.Run(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range out.Requests {
		sum := r.TTFT
		for _, g := range r.ITL {
			sum += g
		}
		if r.Error != "" || r.In != 8 || r.Out != 5 || len(r.ITL) != 4 || math.Abs(sum-r.E2EL) > 1e-6 {
			t.Errorf("request %d: %+v", i, r)
		}
	}
	if out.Peak != 3 {
		t.Errorf("peak %d", out.Peak)
	}
}

func TestCancel(t *testing.T) {
	var requests atomic.Int64
	url := front(t, quick, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if requests.Add(1) == 1 {
				next.ServeHTTP(w, r)
				return
			}
			_, _ = io.Copy(io.Discard, r.Body) // or the end of the client is not noticed
			<-r.Context().Done()               // it answers no other one
		})
	})
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := builtin.Run(ctx, builtin.Load{
		Workload: traffic.Workload{ISL: 1, OSL: 1, Concurrency: 2, Requests: 4},
		URL:      url, Model: "sim-8b",
	})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > time.Minute {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}

func TestBadLoads(t *testing.T) {
	for _, l := range []builtin.Load{{}, {Workload: traffic.Workload{Requests: 1, Concurrency: 1}, URL: "x"},
		{Workload: traffic.Workload{Requests: 1}, URL: "http://127.0.0.1:1"}, {
			Workload: traffic.Workload{Concurrency: 1},
			URL:      "http://127.0.0.1:1",
		}} {
		if _, err := builtin.Run(context.Background(), l); err == nil {
			t.Errorf("%+v was accepted", l)
		}
	}
}
