package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
)

// Several processes that read results into one history at a time lose nothing.
func TestConcurrentIngests(t *testing.T) {
	if from := os.Getenv("INGEST_HELPER"); from != "" {
		os.Exit(run(context.Background(), []string{"ingest", from}, os.Stdin, os.Stdout, os.Stderr))
	}
	dir := t.TempDir()
	const processes, each = 4, 20
	for p := range processes {
		lay(t, filepath.Join(dir, fmt.Sprint("in", p), "ttreport.manifest.yaml"), "id: r\nrelease: v1\ndevice: {name: n150}\n")
		for i := range each {
			name := filepath.Join(dir, fmt.Sprint("in", p), fmt.Sprint(i)+".json")
			lay(t, name, fmt.Sprintf(`{"date":"20260101-%02d%02d00","model_id":"acme/x","num_prompts":10,`+
				`"max_concurrency":%d,"completed":10,"duration":2.0,"output_throughput":20.5,"mean_ttft_ms":10.25}`,
				p, i, 1+p*each+i))
		}
	}
	var all []*exec.Cmd
	for p := range processes {
		cmd := exec.Command(os.Args[0], "-test.run=^TestConcurrentIngests$")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), fmt.Sprint("INGEST_HELPER=in", p))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, cmd.Stdout)
		}
	}
	points := 0
	count := func(_ string, r *schema.Run) { points += len(r.Points) }
	if problems := history.Each(filepath.Join(dir, "history"), count); len(problems) > 0 {
		t.Error(problems)
	}
	if points != processes*each {
		t.Errorf("%d of %d points", points, processes*each)
	}
}

// lay writes a file and the folders above it.
func lay(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestLockIsWaitedFor(t *testing.T) {
	var errs strings.Builder
	sh := &shell{out: io.Discard, err: &errs}
	dir := t.TempDir()
	release, err := lock(context.Background(), sh, dir, folderlock.Exclusive, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	_, err = lock(context.Background(), sh, dir, folderlock.Shared, 100*time.Millisecond)
	var f failure
	if !errors.As(err, &f) || f.code != exitLocked || !strings.Contains(errs.String(), "waiting for another ttreport") {
		t.Errorf("%v: %s", err, errs.String())
	}
	release()
	again, err := lock(context.Background(), sh, dir, folderlock.Exclusive, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
