package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// started runs n clients in this process, each at pipes of its own.
func started(t *testing.T, n int) []builtin.Client {
	t.Helper()
	var list []builtin.Client
	for range n {
		in, toClient := io.Pipe()
		fromClient, out := io.Pipe()
		go func() {
			err := builtin.Serve(context.Background(), in, out)
			_ = out.CloseWithError(err) // nil is EOF
		}()
		t.Cleanup(func() { _ = toClient.Close() })
		list = append(list, builtin.Client{In: toClient, Out: fromClient})
	}
	return list
}

// Four clients send what one sends: as many requests, the same lengths, streams and a schedule that are the same, and
// what they did is read like the outcome of one.
func TestClientsAreOne(t *testing.T) {
	for name, l := range map[string]builtin.Load{
		"closed": {Workload: traffic.Workload{ISL: 8, OSL: 6, Concurrency: 8, Requests: 42}, Seed: 3, Warmups: 2},
		"open":   {Workload: traffic.Workload{ISL: 8, OSL: 6, Rate: 200, Requests: 41}, Seed: 3},
		"both":   {Workload: traffic.Workload{ISL: 8, OSL: 6, Rate: 400, Concurrency: 6, Requests: 30}, Seed: 3},
	} {
		l.URL, l.Model = serve(t, quick).URL(), "sim-8b"
		one, err := builtin.Run(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		four, err := builtin.RunClients(context.Background(), l, started(t, 4))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a, b := one.Set(), four.Set()
		if b.OK != l.Requests || a.In != b.In || a.Out != b.Out || four.Clients != 4 {
			t.Errorf("%s: %d of %d, tokens %d and %d", name, b.OK, l.Requests, b.In, b.Out)
		}
		if l.Concurrency > 0 && (four.Peak > l.Concurrency || l.Rate == 0 && four.Peak != l.Concurrency) {
			t.Errorf("%s: %d in flight", name, four.Peak)
		}
		var off []float64 // ms between the instants at which a request was due
		for i, r := range four.Requests {
			if r.Error != "" || r.Out != l.OSL {
				t.Fatalf("%s: request %d: %+v", name, i, r)
			}
			if l.Rate > 0 {
				due := (r.Sent - r.Late) - (one.Requests[i].Sent - one.Requests[i].Late)
				off = append(off, due.Abs().Seconds()*1000)
			}
		}
		if l.Rate > 0 && median(off) > 10 {
			t.Errorf("%s: another schedule: %.1f ms", name, off)
		}
		facts := four.Client(l)
		if facts["clients"] != "4" || facts["concurrency_reached"] == "" {
			t.Errorf("%s: %v", name, facts)
		}
		raw, err := four.Result(l)
		var r struct {
			TTFTs []float64 `json:"ttfts"`
			Peak  int       `json:"max_concurrent_requests"`
		}
		if err != nil || json.Unmarshal(raw, &r) != nil || len(r.TTFTs) != l.Requests || r.Peak != four.Peak {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Progress is that of all clients.
func TestClientsProgress(t *testing.T) {
	cfg := sim.Config{StepBase: 20 * time.Millisecond}
	var seen builtin.SoFar
	l := builtin.Load{
		Workload: traffic.Workload{ISL: 4, OSL: 8, Concurrency: 4, Requests: 12},
		URL:      serve(t, cfg).URL(), Model: "sim-8b", Progress: func(s builtin.SoFar) { seen = s },
	}
	if _, err := builtin.RunClients(context.Background(), l, started(t, 2)); err != nil {
		t.Fatal(err)
	}
	if seen.Done != 12 || seen.OK != 12 || seen.TTFT <= 0 || seen.TPOT <= 0 {
		t.Errorf("%+v", seen)
	}
}

// said is a client that says what a test makes it say.
func said(lines string) builtin.Client {
	return builtin.Client{In: io.Discard, Out: strings.NewReader(lines)}
}

// A client that fails fails the load: a point with a part of its requests is none.
func TestClientsFail(t *testing.T) {
	const isReady = "{}\n"
	l := builtin.Load{
		Workload: traffic.Workload{ISL: 4, OSL: 4, Concurrency: 2, Requests: 4},
		URL:      serve(t, quick).URL(), Model: "sim-8b",
	}
	for name, c := range map[string]struct {
		says string
		want string
	}{
		"dies at once": {"", "client 2 of 2 is not ready"}, "is not ready": {`{"error":"no prompts"}`, "no prompts"},
		"dies later": {isReady, "client 2 of 2: EOF"}, "fails": {isReady + `{"error":"out of memory"}`, "out of memory"},
		"has too few": {isReady + `{"outcome":{"Requests":[]}}`, "client 2 of 2 has 0 requests of 2"},
	} {
		_, err := builtin.RunClients(context.Background(), l, []builtin.Client{started(t, 1)[0], said(c.says)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := builtin.RunClients(ctx, l, started(t, 2)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A client ends when the one who started it does.
func TestClientEndsWithItsStarter(t *testing.T) {
	l := builtin.Load{
		Workload: traffic.Workload{ISL: 4, OSL: 50, Concurrency: 1, Requests: 1},
		URL:      serve(t, sim.Config{StepBase: time.Second}).URL(), Model: "sim-8b",
	}
	in, starter := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- builtin.Serve(context.Background(), in, io.Discard) }()
	to := json.NewEncoder(starter)
	if err := to.Encode(l); err != nil {
		t.Fatal(err)
	}
	if err := to.Encode(map[string]time.Time{"begin": time.Now()}); err != nil {
		t.Fatal(err)
	}
	_ = starter.Close() // what a killed process does
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("it goes on alone")
	}
}

// Every request and every stream belongs to one part.
func TestOutcomeOfClientsHasEveryRequestOnce(t *testing.T) {
	l := builtin.Load{
		Workload: traffic.Workload{ISL: 2, OSL: 2, Concurrency: 5, Requests: 13},
		URL:      serve(t, quick).URL(), Model: "sim-8b",
	}
	for n := 1; n <= 5; n++ {
		out, err := builtin.RunClients(context.Background(), l, started(t, n))
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range out.Requests {
			if reflect.DeepEqual(r.Request, latency.Request{}) {
				t.Errorf("%d clients: nobody sent request %d", n, i)
			}
		}
	}
}
