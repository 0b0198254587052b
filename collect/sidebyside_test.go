package collect_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/ingest/schema"
)

// sideBySide measures a pair whose servers are to keep running, and returns the starts, how the manifests say they
// were, and what was said of turns.
func sideBySide(t *testing.T, m *machine) (starts, how, said string) {
	t.Helper()
	a, b := pairOn(m, 2, true)
	outs, err := against(a, b, t.TempDir(), func(e collect.Event) {
		if e.Step == "turn" {
			said += e.Text + "\n"
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outs {
		if len(o.Points) != 4 || m.up != 0 {
			t.Errorf("%d points, %d servers left", len(o.Points), m.up)
		}
	}
	first, second := readManifest(t, outs[0].Dir).Interleaved, readManifest(t, outs[1].Dir).Interleaved
	if first.Starts != second.Starts {
		t.Errorf("%+v, %+v", first, second)
	}
	return strings.Join(m.starts, " "), first.Starts, said
}

// A candidate that does not start beside the baseline takes turns with it, which is said and recorded.
func TestSecondServerDoesNotStart(t *testing.T) {
	starts, how, said := sideBySide(t, &machine{fails: 2})
	if starts != "old new old new new old" || how != schema.StartsFresh ||
		!strings.Contains(said, "the candidate does not run beside the baseline, so they take turns: server: ") {
		t.Errorf("started %s, %s: %s", starts, how, said)
	}
}

// Where the memory of an accelerator would not hold a second server, it is not tried.
func TestMemoryDoesNotHoldBoth(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the accelerator's program is a shell script here")
	}
	for _, c := range []struct{ after, starts, how, said string }{
		{"70000", "old old new new old", schema.StartsFresh,
			"they take turns: both do not fit: it took 72.4 of 83.9 GB of GPU 0, and 10.5 GB are left"},
		{"30000", "old new", schema.StartsKept, ""},
	} {
		dir := t.TempDir()
		script := "#!/bin/sh\ncase \"$*\" in *memory.used*) ;; *) exit 1;; esac\n" +
			"if [ -e " + dir + "/asked ]; then echo 0, " + c.after + ", 80000\n" +
			"else : > " + dir + "/asked; echo 0, 1000, 80000; fi\n"
		if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		starts, how, said := sideBySide(t, &machine{})
		if starts != c.starts || how != c.how || !strings.Contains(said, c.said) {
			t.Errorf("started %s, %s: %s", starts, how, said)
		}
	}
}
