package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
)

// Several processes that read results into one history, measure into it and build it at a time lose nothing.
func TestConcurrentCommands(t *testing.T) {
	t.Parallel()
	if args := os.Getenv("CONCURRENT_HELPER"); args != "" {
		os.Exit(run(context.Background(), strings.Fields(args), os.Stdin, os.Stdout, os.Stderr))
	}
	dir := t.TempDir()
	const processes, each = 4, 20
	var commands []string
	for p := range processes {
		lay(t, filepath.Join(dir, fmt.Sprint("in", p), "ttreport.manifest.yaml"),
			"id: r\nrelease: v1\ndevice: {name: n150}\n")
		for i := range each {
			name := filepath.Join(dir, fmt.Sprint("in", p), fmt.Sprint(i)+".json")
			lay(t, name, fmt.Sprintf(`{"date":"20260101-%02d%02d00","model_id":"acme/x","num_prompts":10,`+
				`"max_concurrency":%d,"completed":10,"duration":2.0,"output_throughput":20.5,"mean_ttft_ms":10.25}`,
				p, i, 1+p*each+i))
		}
		commands = append(commands, fmt.Sprint("ingest in", p))
	}
	const measure = "collect --model sim-8b --device simulated --server sim --release v1 --workload isl=8,osl=2,c=1,n=2 " +
		"--workload isl=8,osl=2,c=2,n=4 --only benchmarks"
	// The same numbers of two sweeps would count once.
	commands = append(commands, "build", measure, strings.NewReplacer("c=1", "c=3", "c=2", "c=4").Replace(measure))
	var all []*exec.Cmd
	for _, args := range commands {
		cmd := exec.Command(os.Args[0], "-test.run=^TestConcurrentCommands$")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CONCURRENT_HELPER="+args, "TMPDIR="+t.TempDir())
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for i, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v: %s", commands[i], err, cmd.Stdout)
		}
	}
	last := exec.Command(os.Args[0], "-test.run=^TestConcurrentCommands$") // reads what was measured after the build
	last.Dir, last.Env = dir, append(os.Environ(), "CONCURRENT_HELPER=build", "TMPDIR="+t.TempDir())
	if out, err := last.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	points := 0
	count := func(_ string, r *schema.Run) { points += len(r.Points) }
	if problems := history.Each(filepath.Join(dir, "history"), nil, count); len(problems) > 0 {
		t.Error(problems)
	}
	if want := processes*each + 4; points != want {
		t.Errorf("%d of %d points", points, want)
	}
}

// A collection begins when no other command works in the workspace, and lets others work while it measures.
func TestCollectTakesTheLock(t *testing.T) {
	t.Chdir(t.TempDir())
	srv, err := sim.Start(sim.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	address, _ := url.Parse(srv.URL()) // a server's address is one
	forward, asked, goOn := httputil.NewSingleHostReverseProxy(address), make(chan bool, 100), make(chan bool)
	held := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost { // it measures, and goes on when the test says so
			asked <- true
			<-goOn
		}
		forward.ServeHTTP(w, r)
	}))
	defer held.Close()
	measure := "collect --model sim-8b --device simulated --workload isl=8,osl=2,c=1,n=2 --only benchmarks --server " +
		held.URL
	release, err := folderlock.Take(context.Background(), ".", folderlock.Shared, folderlock.Wait{})
	if err != nil {
		t.Fatal(err)
	}
	if code := exitIn(t, context.Background(), strings.Fields(measure+" --lock-timeout 0")); code != exitLocked {
		t.Errorf("exit %d", code)
	}
	if names, err := filepath.Glob("results/*"); err != nil || len(names) > 0 {
		t.Errorf("%q, %v", names, err)
	}
	release()
	ended := make(chan int)
	go func() {
		ended <- run(context.Background(), strings.Fields(measure), strings.NewReader(""), io.Discard, io.Discard)
	}()
	select {
	case <-asked:
	case code := <-ended:
		t.Fatalf("exit %d before anything was measured", code)
	}
	if release, err = folderlock.Take(context.Background(), ".", folderlock.Exclusive,
		folderlock.Wait{Patience: 20 * time.Second}); err != nil {
		t.Error(err)
	} else {
		release()
	}
	close(goOn)
	if code := <-ended; code != 0 {
		t.Errorf("exit %d", code)
	}
}

// lay writes a file and the folders above it.
func lay(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestLockIsWaitedFor(t *testing.T) { // not parallel: a child that another test starts has a lock for a moment
	var errs strings.Builder
	sh := &shell{out: io.Discard, err: &errs, patience: time.Minute}
	dir := t.TempDir()
	release, err := sh.lock(context.Background(), dir, folderlock.Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	sh.patience = 100 * time.Millisecond
	_, err = sh.lock(context.Background(), dir, folderlock.Shared)
	var f failure
	if !errors.As(err, &f) || f.code != exitLocked || !strings.Contains(errs.String(), "waiting for another ttreport") {
		t.Errorf("%v: %s", err, errs.String())
	}
	release()
	again, err := sh.lock(context.Background(), dir, folderlock.Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func exitIn(t *testing.T, ctx context.Context, args []string) int {
	t.Helper()
	var out strings.Builder
	code := run(ctx, args, strings.NewReader(""), &out, &out)
	if code != 0 && strings.TrimSpace(out.String()) == "" {
		t.Errorf("%q: exit %d without a word", args, code)
	}
	return code
}
