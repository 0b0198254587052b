package collect_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// ended reports whether a journal says that its run came to its end.
func ended(journal []byte) bool {
	return slices.ContainsFunc(manifest.ReadJournal(journal),
		func(e manifest.Entry) bool { return e.Event == manifest.EventRunDone })
}

func planOf(n int) plan.Plan {
	p := plan.Plan{Release: "v1", Model: schema.Model{Name: "sim-8b"}, Device: "simulated", EvalItems: 3, Seed: 1}
	for i := range n {
		p.Workloads = append(p.Workloads, plan.Workload{ISL: 8, OSL: 4, Concurrency: i + 1, Requests: 4})
	}
	return p
}

var quick = sim.Config{StepBase: time.Millisecond, EvalAccuracy: 1}

func events(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, manifest.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range manifest.ReadJournal(data) {
		out = append(out, e.Event)
	}
	return strings.Join(out, " ")
}

func TestRunFolder(t *testing.T) {
	srv := &server.Simulated{Config: quick}
	var url string
	out, err := collect.Run(context.Background(), planOf(2), watched{srv, &url}, t.TempDir(), func(collect.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	if got := events(t, out.Dir); got != "run-start server-ready point-start point-done point-start point-done "+
		"eval-start eval-done run-done" {
		t.Error(got)
	}
	names, _ := filepath.Glob(filepath.Join(out.Dir, "raw", "*"))
	if len(names) != 6 {
		t.Errorf("%v", names)
	}
	data, err := os.ReadFile(filepath.Join(out.Dir, manifest.FileName))
	if err != nil {
		t.Fatal(err)
	}
	m, p := manifest.Read("m", data)
	if p != nil || m.RunID != out.ID || m.Release != "v1" || m.Device.Name != "simulated" ||
		m.Stack.Engine != "ttreport-sim" || len(m.Plan) != 3 || m.End.IsZero() {
		t.Errorf("%v %+v", p, m)
	}
	if _, err := http.Get(url + "/health"); err == nil {
		t.Error("the server still answers after the run")
	}
}

// watched records the address of a server.
type watched struct {
	server.Server
	url *string
}

func (w watched) Start(ctx context.Context, dir string) (server.Endpoint, error) {
	e, err := w.Server.Start(ctx, dir)
	*w.url = e.URL
	return e, err
}

// A point that fails is a result; the next one is measured.
func TestFailedPoints(t *testing.T) {
	cfg := quick
	cfg.Errors = 1
	end := start(t, cfg)
	out, err := collect.Run(context.Background(), planOf(2), fixed{end}, t.TempDir(), func(collect.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	if got := events(t, out.Dir); got != "run-start server-ready point-start point-failed point-start point-failed "+
		"eval-start eval-failed run-done" || out.Failed != 3 || out.Empty != 2 {
		t.Error(got, out.Failed, out.Empty)
	}
}

func start(t *testing.T, cfg sim.Config) server.Endpoint {
	t.Helper()
	s, err := sim.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return server.Endpoint{URL: s.URL(), Model: "sim-8b", Stack: schema.Stack{Engine: "ttreport-sim"}}
}

// fixed is a server that runs already and is not checked.
type fixed struct{ end server.Endpoint }

func (f fixed) Start(context.Context, string) (server.Endpoint, error) { return f.end, nil }
func (f fixed) Stop()                                                  {}

// Ctrl-C keeps what was measured, and the run folder shows that it is incomplete.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var url string
	out, err := collect.Run(ctx, planOf(3), watched{&server.Simulated{Config: quick}, &url}, t.TempDir(),
		func(e collect.Event) {
			if e.Step == "point" && e.Final && e.Index == 2 {
				cancel()
			}
		})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(filepath.Join(out.Dir, manifest.JournalName))
	if ended(data) {
		t.Error("an interrupted run says that it came to its end")
	}
	names, _ := filepath.Glob(filepath.Join(out.Dir, "raw", "*.json"))
	results := 0
	for _, n := range names {
		if !strings.HasSuffix(n, manifest.SidecarSuffix) {
			results++
		}
	}
	if results != 2 {
		t.Errorf("%d results kept, want 2", results)
	}
	if _, err := http.Get(url + "/health"); err == nil {
		t.Error("the server still answers after the interruption")
	}
}

func TestServerThatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	waits := 0
	_, err := collect.Run(context.Background(), planOf(1), &server.Attached{URL: "http://127.0.0.1:1",
		Wait: 300 * time.Millisecond, Waiting: func(time.Duration, error) { waits++ }}, dir, func(collect.Event) {})
	if !errors.Is(err, server.ErrNotReady) || waits == 0 {
		t.Errorf("%v, %d waits", err, waits)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("an empty run folder is left: %v", left)
	}
	end := start(t, quick)
	if _, err := (&server.Attached{URL: end.URL, Model: "another",
		Wait: 300 * time.Millisecond}).Start(context.Background(), ""); err == nil ||
		!strings.Contains(err.Error(), `it lists "sim-8b"`) {
		t.Errorf("%v", err)
	}
}
