package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkBuild builds a site of 10^4 series x 50 releases (6,250 documents) into an empty folder, then into the same
// folder after one release came. The budgets are 2 s and 0.5 s. The documents are made by the generator that measures
// rivals too; without Python the benchmark skips.
func BenchmarkBuild(b *testing.B) {
	gen, err := filepath.Abs("../../.ci/measure/gen_history.py")
	if err != nil {
		b.Fatal(err)
	}
	b.Chdir(b.TempDir())
	if out, err := exec.Command("python3", gen, "history", "25", "5", "20", "50").CombinedOutput(); err != nil {
		b.Skipf("python3: %v %s", err, out)
	}
	build := func(b *testing.B) {
		var out, messages strings.Builder
		code := run(context.Background(), []string{"build"}, strings.NewReader(""), &out, &messages)
		if code != 0 || !strings.Contains(messages.String(), "50 releases") {
			b.Fatalf("exit %d: %s", code, messages.String())
		}
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			_ = os.RemoveAll("_site")
			_ = os.RemoveAll(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "ttreport"))
			b.StartTimer()
			build(b)
		}
	})
	newest, err := filepath.Glob("history/*/*/*-r049.json")
	if err != nil || len(newest) != 125 {
		b.Fatalf("%d documents of the newest release, %v", len(newest), err)
	}
	aside := filepath.Join(b.TempDir(), "aside")
	move := func(from, to func(string) string) {
		for _, name := range newest {
			if err := os.MkdirAll(filepath.Dir(to(name)), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.Rename(from(name), to(name)); err != nil {
				b.Fatal(err)
			}
		}
	}
	here, there := func(name string) string { return name }, func(name string) string { return filepath.Join(aside, name) }
	b.Run("one-more", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			move(here, there)
			run(context.Background(), []string{"build"}, strings.NewReader(""), io.Discard, io.Discard)
			move(there, here)
			b.StartTimer()
			build(b)
		}
	})
}
