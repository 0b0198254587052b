package preview_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ttreport/ttreport/site/preview"
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
	opt := preview.Watched{
		Roots: []string{w.in, w.file, filepath.Join(dir, "later")}, Except: filepath.Join(w.in, "_site"), Poll: poll,
	}
	go func() { done <- preview.Changes(ctx, opt, func() { w.changed <- true }) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	w.begun()
	return w
}

// begun waits until changes are reported.
func (w watching) begun() {
	w.Helper()
	for i := range 100 {
		w.write(filepath.Join(w.in, "first.json"), fmt.Sprint(i))
		select {
		case <-w.changed:
			w.settle()
			return
		case <-time.After(500 * time.Millisecond):
		}
	}
	w.Fatal("nothing is reported")
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

// settle waits until nothing is reported any more: a slow machine takes one change for two.
func (w watching) settle() (reported bool) {
	for {
		select {
		case <-w.changed:
			reported = true
		case <-time.After(500 * time.Millisecond):
			return reported
		}
	}
}

// expect waits for a change to be reported.
func (w watching) expect(what string) {
	w.Helper()
	select {
	case <-w.changed:
	case <-time.After(30 * time.Second):
		w.Errorf("%s is not reported", what)
	}
	w.settle()
}

// ignored writes a file of which nothing is to be reported. What is reported may be of a change before, once.
func (w watching) ignored(what, name string) {
	w.Helper()
	for i := range 5 {
		if w.write(name, fmt.Sprint("x", i)); !w.settle() {
			return
		}
	}
	w.Errorf("%s is reported", what)
}

// A change is reported once writing has stopped, whichever way a file was written; what is excepted or passing is not.
func TestChanges(t *testing.T) {
	for _, poll := range []time.Duration{0, 20 * time.Millisecond} {
		t.Run(fmt.Sprint("poll ", poll), func(t *testing.T) {
			t.Parallel()
			w := watchFolder(t, poll)
			w.write(filepath.Join(w.in, "a.json"), "1")
			w.expect("a new file")
			w.write(filepath.Join(w.in, "deep", "er", "b.json"), "1")
			w.expect("a file in new folders")
			w.write(filepath.Join(w.in, "deep", "er", "c.json"), "22")
			w.expect("a later file in a folder that came later")
			w.write(w.file+".new", "title: x")
			if err := os.Rename(w.file+".new", w.file); err != nil {
				t.Fatal(err)
			}
			w.expect("a file that is replaced by renaming")
			w.write(filepath.Join(w.dir, "later", "x.json"), "1")
			w.expect("a folder that was waited for")
			w.ignored("the site itself", filepath.Join(w.in, "_site", "index.html"))
			w.ignored("an editor's copy", filepath.Join(w.in, "a.json~"))
			w.ignored("a file beside the roots", filepath.Join(w.dir, "other.txt"))
			if err := os.Remove(filepath.Join(w.in, "a.json")); err != nil {
				t.Fatal(err)
			}
			w.expect("a file that goes")
		})
	}
}

// A root that is left out is none: a log that grows in the current folder is no change.
func TestNoRoot(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("results", 0o777); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	w := watching{t, ".", "results", "ttreport.yaml", make(chan bool, 100)}
	done := make(chan error, 1)
	go func() {
		done <- preview.Changes(ctx, preview.Watched{Roots: []string{"results", ""}}, func() { w.changed <- true })
	}()
	w.begun()
	w.ignored("a log in the workspace", "serve.log")
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
