package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

const measureTwoPoints = "collect --model sim-8b --device simulated --server sim --release v1 --only benchmarks " +
	"--workload isl=8,osl=2,c=1,n=2 --workload isl=8,osl=2,c=2,n=4"

// journals are the entries of the journals of a workspace, by run folder.
func journals(t *testing.T, dir string) map[string][]manifest.Entry {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "results", "*", manifest.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]manifest.Entry{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Dir(name)] = manifest.ReadJournal(data)
	}
	return out
}

// done are the results that a journal reports, by item, and whether the run has ended.
func done(entries []manifest.Entry) (results map[string][]manifest.Entry, ended bool) {
	results = map[string][]manifest.Entry{}
	for _, e := range entries {
		switch e.Event {
		case "point-done":
			results[e.Item] = append(results[e.Item], e)
		case manifest.EventRunDone:
			ended = true
		}
	}
	return results, ended
}

// checkCollected checks the run folders of a workspace after a collection that was disturbed and one that was not: what
// was reported as done is there as it was, nothing was measured twice, and all of it can be read.
func checkCollected(t *testing.T, what, dir string, before map[string][]manifest.Entry) {
	t.Helper()
	whole, points := 0, 0
	after := journals(t, dir)
	for folder, entries := range after {
		results, ended := done(entries)
		if ended {
			whole++
		}
		earlier, _ := done(before[folder])
		for item, list := range results {
			points++
			e := list[0]
			data, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(e.Result)))
			sum := sha256.Sum256(data)
			if err != nil || hex.EncodeToString(sum[:]) != e.SHA256 || len(list) > 1 {
				t.Errorf("%s: %s is reported %d times and is not what was reported: %v", what, item, len(list), err)
			}
			if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(e.Result)) + manifest.SidecarSuffix); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if was := earlier[item]; len(was) > 0 && was[0].SHA256 != e.SHA256 {
				t.Errorf("%s: %s was measured again", what, item)
			}
		}
		if len(before[folder]) > len(entries) {
			t.Errorf("%s: the journal of %s has lost entries", what, folder)
		}
	}
	for folder, entries := range before {
		if results, _ := done(entries); len(results) > 0 && after[folder] == nil {
			t.Errorf("%s: %s is gone, with %d results", what, folder, len(results))
		}
	}
	if whole == 0 || points != 2*whole {
		t.Errorf("%s: %d points in %d complete runs of %d folders", what, points, whole, len(after))
	}
	if said := sound(t, dir, "build --strict"); strings.Contains(said, "error") {
		t.Errorf("%s: %s", what, said)
	}
	stored := 0
	if problems := history.Each(filepath.Join(dir, "history"), nil,
		func(_ string, r *schema.Run) { stored += len(r.Points) }); len(problems) > 0 || stored != points {
		t.Errorf("%s: %d of %d points are in history, %v", what, stored, points, problems)
	}
}

// collectAgain gives the command again, unless it was done: the simulator would measure the very same.
func collectAgain(t *testing.T, what, dir string, before map[string][]manifest.Entry) {
	t.Helper()
	for _, entries := range before {
		if _, ended := done(entries); ended {
			checkCollected(t, what, dir, before)
			return
		}
	}
	sound(t, dir, measureTwoPoints)
	checkCollected(t, what, dir, before)
}

// Whatever write of collect fails, and whenever the machine goes down: what was reported as done stays, what was not is
// measured when the same command is given again, and nothing is measured twice. TTREPORT_FAULTS=all tries every call
// instead of a sample.
func TestFaultsOfCollect(t *testing.T) {
	t.Parallel()
	if exec.Command("strace", "-qq", "-o", os.DevNull, "true").Run() != nil {
		t.Skip("strace cannot trace here")
	}
	most, step := 14, 5
	if os.Getenv("TTREPORT_FAULTS") == "all" {
		most, step = 80, 1
	}
	tried, failed := 0, 0
	for _, f := range faults(most, step) {
		dir := t.TempDir()
		code := faulty(t, dir, f, measureTwoPoints)
		if tried++; code != 0 {
			failed++
		}
		collectAgain(t, f.String(), dir, journals(t, dir))
	}
	t.Logf("%d faults, of which %d made the command fail", tried, failed)
}

// The same on a disk that is full, where writes are cut short. It needs the right to mount one.
func TestCollectOnAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mount := func(args ...string) error { return exec.Command("mount", append(args, dir)...).Run() }
	for kb := 4; kb <= 64; kb += 12 {
		dir = t.TempDir()
		if err := mount("-t", "tmpfs", "-o", fmt.Sprintf("size=%dk", kb), "none"); err != nil {
			t.Skip("no small disk can be mounted here")
		}
		func() {
			defer func() {
				if err := exec.Command("umount", "-l", dir).Run(); err != nil {
					t.Error(err)
				}
			}()
			cmd := exec.Command("ttreport", strings.Fields(measureTwoPoints)...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if err != nil && !strings.Contains(string(out), "full") && !strings.Contains(string(out), "no space left") {
				t.Errorf("%d kB: it does not say why it failed: %s", kb, out)
			}
			before := journals(t, dir)
			if err := mount("-o", "remount,size=32m"); err != nil {
				t.Fatal(err)
			}
			collectAgain(t, fmt.Sprint(kb, " kB"), dir, before)
		}()
	}
}
