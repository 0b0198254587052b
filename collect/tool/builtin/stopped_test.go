//go:build unix

package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// TestClientProcess is the client of TestStopsAreSeen, which runs this program again.
func TestClientProcess(t *testing.T) {
	if os.Getenv("TTREPORT_TEST_CLIENT") == "" {
		t.Skip("it is run by another test")
	}
	if err := builtin.Serve(t.Context(), os.Stdin, os.Stdout); err != nil {
		t.Error(err)
	}
}

// paced is a server on a schedule of 40 ms to the first token and 10 ms to each of those behind it.
func paced(t *testing.T, tokens int) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		w.Header().Set("Content-Type", "text/event-stream")
		for k := range tokens {
			time.Sleep(time.Until(began.Add(time.Duration(40+10*k) * time.Millisecond)))
			fmt.Fprint(w, "data: {\"choices\":[{\"text\":\" a\"}]}\n\n")
			_ = http.NewResponseController(w).Flush() // the client may be gone
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(srv.Close)
	return srv
}

// A client that is stopped five times for .12 s does not know when what came meanwhile arrived, and its statistics
// leave that out: none is off by the stops. It says of how many requests they are without, and where the point is none.
func TestStopsAreSeen(t *testing.T) {
	const requests, tokens = 30, 20
	var result builtin.Outcome
	var l builtin.Load
	for range 3 { // the server, too, is late on a machine that others keep busy
		l, result = stopped(t, requests, tokens)
		if set := result.Set(); set.TTFT.Quantile(.99) < 100 && set.E2EL.Quantile(.99) < 300 {
			break
		}
	}
	set := result.Set()
	if set.OK != requests || set.Undated < 3 { // a stop may be between two requests
		t.Errorf("%d completed, %d of them with times that are not known, of five stops", set.OK, set.Undated)
	}
	if set.ITL.N() > 0 {
		t.Errorf("%d gaps count, and %.1f%% of them are not known", set.ITL.N(), 100*set.LostGaps)
	}
	if ttft, e2el := set.TTFT.Quantile(.99), set.E2EL.Quantile(.99); ttft > 100 || e2el > 300 {
		t.Errorf("P99 of TTFT is %.1f ms, of E2EL %.1f; without stops of 120 ms they are 40 and 230", ttft, e2el)
	}
	raw, err := result.Result(l)
	var r struct {
		Invalid string `json:"busy_client"`
		Undated [][]int
	}
	if err != nil || json.Unmarshal(raw, &r) != nil || strings.Contains(r.Invalid, "too busy") !=
		(set.Lost > .01 && set.Lost*float64(set.OK) > 1.5) {
		t.Errorf("%v: %q", err, r.Invalid)
	}
	if n := len(slices.DeleteFunc(r.Undated, func(l []int) bool { return len(l) == 0 })); n != set.Undated {
		t.Errorf("the result has %d requests with times that are not known, of %d", n, set.Undated)
	}
}

// stopped is the outcome of a load of one stream on a paced server, whose client is stopped five times meanwhile.
func stopped(t *testing.T, requests, tokens int) (builtin.Load, builtin.Outcome) {
	t.Helper()
	srv := paced(t, tokens)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestClientProcess$")
	cmd.Env = append(os.Environ(), "TTREPORT_TEST_CLIENT=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), cmd.Wait() }()
	l := builtin.Load{
		Workload: traffic.Workload{ISL: 8, OSL: tokens, Concurrency: 1, Requests: requests},
		URL:      srv.URL, Model: "m", Seed: 1,
	}
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan int)
	go func() {
		n := 0
		for n < 5 && ctx.Err() == nil {
			time.Sleep(time.Duration(900+37*n) * time.Millisecond) // at any place of an answer
			_ = cmd.Process.Signal(syscall.SIGSTOP)
			time.Sleep(120 * time.Millisecond)
			_ = cmd.Process.Signal(syscall.SIGCONT)
			n++
		}
		stopped <- n
	}()
	result, err := builtin.RunClients(t.Context(), l, []builtin.Client{{In: in, Out: out}})
	stop()
	if n := <-stopped; err != nil || n != 5 {
		t.Fatal(err, n)
	}
	return l, result
}

// A point is refused where more than one request has no time, and those are more than one in a hundred or may move the
// P99.
func TestBusy(t *testing.T) {
	for _, c := range []struct {
		lost, doubt float64
		simulated   bool
		want        string
	}{
		{0, 0, false, ""}, {.001, .05, false, ""}, {.005, .005, false, ""}, {.005, .05, true, ""},
		{.005, .05, false, "P99 of TTFT is uncertain by 5%"}, {.02, .05, false, "2% of TTFT or E2EL are not known"},
	} {
		set := latency.Set{OK: 1000, Lost: c.lost, TailDoubt: c.doubt}
		why := builtin.Busy(set, builtin.Load{Simulated: c.simulated})
		if (why == "") != (c.want == "") || !strings.Contains(why, c.want) {
			t.Errorf("%+v: %q", c, why)
		}
	}
}
