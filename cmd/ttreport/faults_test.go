package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
)

// fault is what strace does to the nth call of a system call in each thread.
type fault struct {
	call, does string
	n          int
}

func (f fault) String() string { return fmt.Sprintf("%s:%s:when=%d", f.call, f.does, f.n) }

// faults lists how writing can fail: there is no room, the disk is broken, or the machine goes down.
func faults(most, step int) []fault {
	var out []fault
	for _, call := range []string{"write", "openat", "renameat", "mkdirat", "fsync", "unlinkat"} {
		for n := 1; n <= most; n += step {
			out = append(out, fault{call, "error=ENOSPC", n})
			if call != "openat" {
				out = append(out, fault{call, "signal=KILL", n})
			}
		}
	}
	return out
}

// faulty runs ttreport under strace and returns its exit code, -1 when it was killed.
func faulty(t *testing.T, dir string, f fault, args string) int {
	t.Helper()
	cmd := exec.Command("strace", "-f", "-qq", "-o", filepath.Join(t.TempDir(), "trace"), "-e", "trace="+f.call,
		"-e", "inject="+f.String(), "ttreport")
	cmd.Args = append(cmd.Args, strings.Fields(args)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, ".cache"),
		"TMPDIR="+t.TempDir(), "GOMAXPROCS=2")
	_ = cmd.Run() // its code says how it went
	return cmd.ProcessState.ExitCode()
}

func sound(t *testing.T, dir, args string) string {
	t.Helper()
	cmd := exec.Command("ttreport", strings.Fields(args)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, ".cache"),
		"TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", args, err, out)
	}
	return string(out)
}

// tree is the content of the files below a folder, without caches.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		out[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func pages(files map[string]string) int {
	n := 0
	for name := range files {
		if strings.HasSuffix(name, ".html") && !strings.HasPrefix(name, ".ttreport-new") {
			n++
		}
	}
	return n
}

// Whatever write of ingest and build fails, and whenever the machine goes down: documents are whole, a build that
// failed shows no page, and the next one makes what it would have made. TTREPORT_FAULTS=all tries every call instead of
// a sample.
func TestFaults(t *testing.T) {
	t.Parallel()
	if exec.Command("strace", "-qq", "-o", os.DevNull, "true").Run() != nil {
		t.Skip("strace cannot trace here")
	}
	most, step := 8, 7
	if os.Getenv("TTREPORT_FAULTS") == "all" {
		most, step = 60, 1
	}
	prepare := func(dir string) {
		for i := 1; i <= 3; i++ {
			lay(t, filepath.Join(dir, "results", fmt.Sprint("r", i), "ttreport.manifest.yaml"),
				fmt.Sprintf("id: r%d\nrelease: v%d\ndevice: {name: n150}\n", i, i))
			lay(t, filepath.Join(dir, "results", fmt.Sprint("r", i), "a.json"), fmt.Sprintf(
				`{"date":"2026010%d-000000","model_id":"acme/x","num_prompts":10,"max_concurrency":1,"completed":10,`+
					`"duration":2.0,"output_throughput":20.5,"mean_ttft_ms":10.2%d}`, i, i))
		}
	}
	whole := t.TempDir()
	prepare(whole)
	sound(t, whole, "build")
	want, wantSite := tree(t, filepath.Join(whole, "history")), tree(t, filepath.Join(whole, "_site"))
	tried, failed := 0, 0
	for _, f := range faults(most, step) {
		dir := t.TempDir()
		prepare(dir)
		args := "build"
		if f.n%2 == 0 {
			args = "ingest results"
		}
		code := faulty(t, dir, f, args)
		if tried++; code != 0 {
			failed++
		}
		for _, p := range history.Each(filepath.Join(dir, "history"), nil, func(string, *schema.Run) {}) {
			if !strings.Contains(p.Found, "when ttreport was ended") { // which the next reading removes
				t.Errorf("%s of %s: %v", f, args, p)
			}
		}
		site := tree(t, filepath.Join(dir, "_site"))
		if n := pages(site); n > 0 && code != 0 && f.does != "signal=KILL" {
			t.Errorf("%s of %s: exit %d, %d pages of %d", f, args, code, n, pages(wantSite))
		}
		sound(t, dir, "build")
		for what, pair := range map[string][2]map[string]string{
			"history": {tree(t, filepath.Join(dir, "history")), want}, "_site": {tree(t, filepath.Join(dir, "_site")), wantSite},
		} {
			for name, text := range pair[1] {
				if pair[0][name] != text {
					t.Errorf("%s of %s, then a build: %s/%s is not as it would be:\n%s\nwant\n%s", f, args, what, name,
						pair[0][name], text)
				}
			}
			if len(pair[0]) != len(pair[1]) {
				t.Errorf("%s of %s, then a build: %d files in %s, want %d", f, args, len(pair[0]), what, len(pair[1]))
			}
		}
	}
	t.Logf("%d faults, of which %d made the command fail", tried, failed)
}
