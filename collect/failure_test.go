package collect_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// TestMain acts as a server, or as a collection that can be killed, when a test starts this program again.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("PLAY_SERVER") != "":
		cfg := quick
		cfg.Addr = os.Getenv("PLAY_SERVER")
		srv, err := sim.Start(cfg)
		if err != nil {
			fmt.Println("cannot serve:", err)
			os.Exit(1)
		}
		fmt.Println("serving as process", os.Getpid())
		if life, err := time.ParseDuration(os.Getenv("PLAY_LIFE")); err == nil && !exists(os.Getenv("PLAY_ONCE")) {
			time.Sleep(life)
			for !exists(os.Getenv("PLAY_ONCE")+".now") || !working(srv.URL()) { // it dies of its work
				time.Sleep(10 * time.Millisecond)
			}
			_ = os.WriteFile(os.Getenv("PLAY_ONCE"), nil, 0o644)
			fmt.Println("device lost")
			os.Exit(9)
		}
		select {}
	case os.Getenv("PLAY_COLLECT") != "":
		var srv server.Server = &server.Simulated{Config: quick}
		if addr := os.Getenv("PLAY_AT"); addr != "" {
			srv = &server.Command{
				Attached: server.Attached{URL: "http://" + addr, Wait: 2 * time.Minute},
				Argv:     []string{os.Args[0]}, Env: []string{"PLAY_COLLECT=", "PLAY_SERVER=" + addr, "PLAY_LIFE=1h"},
			}
		}
		_, err := collect.Run(context.Background(), small(), srv, os.Getenv("PLAY_COLLECT"), func(collect.Event) {})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// This package's tests make load, and other packages' measure time: one after the other, also where packages are
	// tested at once.
	f, err := os.OpenFile(filepath.Join(os.TempDir(), "ttreport-test-timing.lock"), os.O_CREATE|os.O_RDWR, 0o666)
	if err == nil {
		err = folderlock.WaitFile(f, folderlock.Exclusive)
	}
	if err != nil {
		fmt.Println("cannot keep other tests quiet:", err)
	}
	_ = flag.Set("test.parallel", "8") // most wait for a server's clock
	os.Exit(m.Run())                   // the lock ends with the process
}

// working reports whether a server has a request.
func working(url string) bool {
	resp, err := http.Get(url + "/metrics")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return strings.Contains(string(text), "vllm:num_requests_running") &&
		!strings.Contains(string(text), "vllm:num_requests_running 0")
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// small is a plan of items that take some hundredths of a second each.
func small() plan.Plan {
	p := planOf(6)
	p.EvalItems = 1
	return p
}

func freeAddr(t *testing.T) string {
	t.Helper()
	for range 100 { // none of the ports that the system gives to connections: one of another test could take it
		ln, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(10_000)))
		if err == nil {
			defer ln.Close()
			return ln.Addr().String()
		}
	}
	t.Fatal("no free port")
	return ""
}

func played(t *testing.T, life time.Duration) *server.Command {
	addr := freeAddr(t)
	return &server.Command{
		Attached: server.Attached{URL: "http://" + addr, Wait: 2 * time.Minute},
		Argv:     []string{os.Args[0]}, Env: []string{"PLAY_SERVER=" + addr, "PLAY_LIFE=" + life.String(),
			"PLAY_ONCE=" + filepath.Join(t.TempDir(), "once")},
	}
}

// slow is a plan whose items take about a second.
func slow(n int) plan.Plan {
	p := plan.Plan{Release: "v1", Model: schema.Model{Name: "sim-8b"}, Device: "simulated", Seed: 1}
	for i := range n {
		p.Workloads = append(p.Workloads, plan.Workload{ISL: 8, OSL: 400, Concurrency: 1 + i, Requests: 2 + i})
	}
	return p
}

// A started server that dies is noticed and restarted once, and the item in progress is measured again.
func TestServerThatDiesIsStartedAgain(t *testing.T) {
	t.Parallel()
	srv := played(t, 0)
	_, once, _ := strings.Cut(srv.Env[2], "=")
	died := false
	out, err := collect.Run(context.Background(), slow(4), srv, t.TempDir(), func(e collect.Event) {
		if e.Step == "point" && e.Final && e.Index == 1 { // it dies while the second one is measured
			_ = os.WriteFile(once+".now", nil, 0o600)
		}
		if e.Text == "died" {
			died = true
			if !strings.Contains(e.Err, "device lost") {
				t.Errorf("its last log lines are lost: %s", e.Err)
			}
		}
	})
	if err != nil || out.Failed != 0 {
		t.Fatal(err, out.Failed)
	}
	if !died {
		t.Error("its death is not shown")
	}
	got := events(t, out.Dir)
	if strings.Count(got, "point-done") != 4 || strings.Count(got, "server-died") != 1 ||
		!strings.HasSuffix(got, "run-done") {
		t.Error(got)
	}
	if answers(strings.TrimPrefix(srv.URL, "http://")) {
		t.Error("the server still answers")
	}
}

// A server that dies again is not started a third time, and the screen and the error say that it was the second time.
func TestSecondDeathIsSaid(t *testing.T) {
	t.Parallel()
	srv := played(t, 0)
	_, once, _ := strings.Cut(srv.Env[2], "=")
	var said []string
	_, err := collect.Run(context.Background(), slow(3), srv, t.TempDir(), func(e collect.Event) {
		if e.Step == "point" && e.Final && e.Index == 1 || e.Text == "started again" {
			_ = os.WriteFile(once+".now", nil, 0o600)
		}
		if strings.HasPrefix(e.Text, "died") {
			said = append(said, e.Text)
			_ = os.Remove(once) // it dies of its work again, and not of the request that asks whether it is ready
			_ = os.Remove(once + ".now")
		}
	})
	if !errors.Is(err, server.ErrDied) || !strings.Contains(err.Error(), "it was restarted once and died again") {
		t.Error(err)
	}
	if got := strings.Join(said, ", "); got != "died, died again" {
		t.Errorf("said: %s", got)
	}
}

// A server that dies while the last requests of the last point are answered has died, too: what answered before is no
// measurement.
func TestDeathAtTheEndIsSaid(t *testing.T) {
	t.Parallel()
	srv := played(t, 0)
	_, once, _ := strings.Cut(srv.Env[2], "=")
	p := slow(1)
	p.Workloads[0].Requests, p.Workloads[0].Concurrency, p.Workloads[0].OSL = 60, 20, 100
	died := false
	out, err := collect.Run(context.Background(), p, srv, t.TempDir(), func(e collect.Event) {
		if e.Step == "point" && !e.Final && e.Done > 20 {
			_ = os.WriteFile(once+".now", nil, 0o600)
		}
		died = died || e.Text == "died"
	})
	if err != nil || !died || len(out.Points) != 1 || out.Points[0].Failed > 0 {
		t.Errorf("died: %t; %v %+v", died, err, out)
	}
}

// The end of an attached server is noticed within some seconds; the remaining items are missing, with the reason, and
// the next collection resumes there.
func TestServerOfOthersThatDies(t *testing.T) {
	t.Parallel()
	srv := played(t, time.Hour)
	dir, results := t.TempDir(), t.TempDir()
	end, err := srv.Start(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	attach := func() server.Server { return &server.Attached{URL: end.URL, Wait: 2 * time.Minute} }
	var killed time.Time
	p := slow(5)
	out, err := collect.Run(context.Background(), p, attach(), results, func(e collect.Event) {
		if e.Step == "point" && e.Final && e.Index == 2 && killed.IsZero() {
			killed = time.Now()
			srv.Stop()
		}
	})
	if !errors.Is(err, server.ErrDied) || time.Since(killed) > server.Unresponsive+30*time.Second {
		t.Fatalf("%v after %s", err, time.Since(killed))
	}
	if got := events(t, out.Dir); strings.Count(got, "point-done") != 2 || strings.Count(got, "point-missing") != 3 ||
		strings.Contains(got, "run-done") {
		t.Error(got)
	}
	if _, err := srv.Start(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	again, err := collect.Run(context.Background(), p, attach(), results, func(collect.Event) {})
	if err != nil || again.ID != out.ID || len(again.Points) != 3 {
		t.Errorf("%v: %s after %s, %d points", err, again.ID, out.ID, len(again.Points))
	}
}

func TestServerThatNeverGetsReady(t *testing.T) {
	t.Parallel()
	srv := &server.Command{
		Attached: server.Attached{URL: "http://" + freeAddr(t), Wait: 2 * time.Minute},
		Argv:     []string{"/bin/sh", "-c", "echo out of memory >&2; exit 1"},
	}
	dir := t.TempDir()
	if _, err := collect.Run(context.Background(), small(), srv, dir, func(collect.Event) {}); err == nil ||
		!strings.Contains(err.Error(), "out of memory") {
		t.Error(err)
	}
	taken := played(t, time.Hour)
	if _, err := taken.Start(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	defer taken.Stop()
	if _, err := collect.Run(context.Background(), small(), &server.Command{Attached: server.Attached{URL: taken.URL},
		Argv: []string{"/bin/true"}}, dir, func(collect.Event) {}); !errors.Is(err, server.ErrPortTaken) {
		t.Error(err)
	}
}

// A collection that is killed at fifty random moments and started again each time loses at most the point in flight:
// what the journal lists as done is complete, stays the same, and is not measured again.
func TestKilledAtFiftyMoments(t *testing.T) {
	t.Parallel()
	results := t.TempDir()
	rnd := rand.New(rand.NewPCG(1, 2))
	whole := map[string]string{} // result files that were done, with their content
	kills, runs := 0, 0
	for runs = range 400 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "PLAY_COLLECT="+results)
		var said strings.Builder
		cmd.Stdout = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if kills < 50 {
			time.Sleep(time.Duration(10+rnd.IntN(140)) * time.Millisecond)
			_ = cmd.Process.Signal(syscall.SIGKILL)
		}
		failed := cmd.Wait() != nil
		if failed && kills == 50 {
			t.Fatalf("the run that nobody killed failed: %s", said.String())
		}
		if failed {
			kills++
		}
		check(t, results, whole)
		if kills == 50 && !failed { // a run that was killed before its manifest was written is not resumed
			break
		}
	}
	if kills < 50 {
		t.Fatalf("only %d kills in %d runs", kills, runs)
	}
	for name, content := range whole {
		if data, err := os.ReadFile(name); err != nil || string(data) != content {
			t.Errorf("%s was done and is another now (%v)", filepath.Base(name), err)
		}
	}
	t.Logf("%d kills; %d results, each measured once", kills, len(whole))
}

// check reads the run folder after a kill.
func check(t *testing.T, results string, whole map[string]string) {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(results, "*", manifest.JournalName))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		done := map[string]int{}
		for _, e := range manifest.ReadJournal(data) {
			if e.Event != "point-done" && e.Event != "eval-done" {
				continue
			}
			if done[e.Item]++; done[e.Item] > 1 {
				t.Errorf("%s was measured twice in %s", e.Item, filepath.Dir(name))
			}
			file := filepath.Join(filepath.Dir(name), filepath.FromSlash(e.Result))
			content, err := os.ReadFile(file)
			if err != nil || !exists(file+manifest.SidecarSuffix) {
				t.Errorf("%s is called done and is not whole: %v", e.Item, err)
			}
			if whole[file] == "" {
				whole[file] = string(content)
			}
		}
	}
}

// A server that denies access is not awaited: waiting would not help.
func TestDeniedIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer srv.Close()
	began := time.Now()
	_, err := collect.Run(context.Background(), small(), &server.Attached{URL: srv.URL, Wait: time.Hour}, t.TempDir(),
		func(collect.Event) {})
	if !errors.Is(err, server.ErrDenied) || time.Since(began) > 2*time.Minute {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}

// A server that is left running answers after collect has ended; its log is where stated, and the stated command ends
// it.
func TestServerThatIsLeft(t *testing.T) {
	t.Parallel()
	srv := played(t, time.Hour)
	left, err := srv.Detach(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = exec.Command("sh", "-c", left.Stop).Run() }() // also when something below fails
	if resp, err := http.Get(left.URL + "/v1/models"); err != nil || resp.Body.Close() != nil {
		t.Error(err)
	}
	log, err := os.ReadFile(strings.TrimPrefix(left.Log, "tail -f "))
	if err != nil || !strings.Contains(string(log), "serving as process") {
		t.Errorf("%s: %v", log, err)
	}
	if out, err := exec.Command("sh", "-c", left.Stop).CombinedOutput(); err != nil {
		t.Errorf("%s: %s %v", left.Stop, out, err)
	}
	awaited(t, "its end", func() bool { return !answers(strings.TrimPrefix(left.URL, "http://")) })
}

// answers reports whether somebody listens at an address.
func answers(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// awaited waits for something that another process does.
func awaited(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what, "does not come")
		}
	}
}

// The gauges of a server are stored with what was measured at that time.
func TestGaugesAreKept(t *testing.T) {
	t.Parallel()
	srv, err := sim.Start(quick)
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	out, err := collect.Run(context.Background(), slow(1), &server.Attached{URL: srv.URL()}, t.TempDir(),
		func(collect.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(out.Dir, "raw", "*"+manifest.SidecarSuffix))
	data, err := os.ReadFile(names[0])
	if err != nil || !strings.Contains(string(data), `"server_running_max": "1"`) ||
		!strings.Contains(string(data), `"samples"`) {
		t.Errorf("%s %v", data, err)
	}
}

// A killed collection leaves its server running; the next one at that address ends it and measures its own.
func TestLeftoverServerIsEnded(t *testing.T) {
	t.Parallel()
	addr, results := freeAddr(t), t.TempDir()
	first := exec.Command(os.Args[0])
	first.Env = append(os.Environ(), "PLAY_COLLECT="+results, "PLAY_AT="+addr)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	awaited(t, "a server", func() bool { return answers(addr) })
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // it was killed
	srv := &server.Command{
		Attached: server.Attached{URL: "http://" + addr, Wait: 2 * time.Minute},
		Argv:     []string{os.Args[0]}, Env: []string{"PLAY_SERVER=" + addr, "PLAY_LIFE=1h"},
	}
	if out, err := collect.Run(context.Background(), slow(1), srv, results, func(collect.Event) {}); err != nil ||
		out.Failed != 0 {
		t.Error(err, out.Failed, events(t, out.Dir))
	}
	if answers(addr) {
		t.Error("a server is left")
	}
}
