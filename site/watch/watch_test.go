package watch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ttreport/ttreport/site/watch"
)

// watching is a folder of roots that are watched until the test ends.
type watching struct {
	*testing.T
	dir, in, file string
	changed       chan bool
}

func watchFolder(t *testing.T, poll time.Duration) watching {
	t.Helper()
	dir := t.TempDir()
	w := watching{t, dir, filepath.Join(dir, "results"), filepath.Join(dir, "ttreport.yaml"), make(chan bool, 100)}
	if err := os.MkdirAll(filepath.Join(w.in, "_site"), 0o777); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	opt := watch.Options{
		Roots: []string{w.in, w.file, filepath.Join(dir, "later")}, Except: filepath.Join(w.in, "_site"), Poll: poll,
	}
	go func() { done <- watch.Changes(ctx, opt, func() { w.changed <- true }) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	time.Sleep(200 * time.Millisecond)
	return w
}

func (w watching) write(name, text string) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		w.Fatal(err)
	}
}

// expect waits for a change to be reported, or makes sure that none is.
func (w watching) expect(what string, want bool) {
	w.Helper()
	patience := 500 * time.Millisecond
	if want {
		patience = 5 * time.Second
	}
	select {
	case <-w.changed:
		if !want {
			w.Errorf("%s is reported", what)
		}
	case <-time.After(patience):
		if want {
			w.Errorf("%s is not reported", what)
		}
	}
}

// A change is reported once writing has stopped, whichever way a file was written; what is excepted or passing is not.
func TestChanges(t *testing.T) {
	for _, poll := range []time.Duration{0, 20 * time.Millisecond} {
		t.Run(fmt.Sprint("poll ", poll), func(t *testing.T) {
			w := watchFolder(t, poll)
			w.write(filepath.Join(w.in, "a.json"), "1")
			w.expect("a new file", true)
			w.write(filepath.Join(w.in, "deep", "er", "b.json"), "1")
			w.expect("a file in new folders", true)
			w.write(filepath.Join(w.in, "deep", "er", "c.json"), "22")
			w.expect("a later file in a folder that came later", true)
			w.write(w.file+".new", "title: x")
			if err := os.Rename(w.file+".new", w.file); err != nil {
				t.Fatal(err)
			}
			w.expect("a file that is replaced by renaming", true)
			w.write(filepath.Join(w.dir, "later", "x.json"), "1")
			w.expect("a folder that was waited for", true)
			w.write(filepath.Join(w.in, "_site", "index.html"), "x")
			w.expect("the site itself", false)
			w.write(filepath.Join(w.in, "a.json~"), "x")
			w.expect("an editor's copy", false)
			w.write(filepath.Join(w.dir, "other.txt"), "x")
			w.expect("a file beside the roots", false)
			if err := os.Remove(filepath.Join(w.in, "a.json")); err != nil {
				t.Fatal(err)
			}
			w.expect("a file that goes", true)
		})
	}
}
