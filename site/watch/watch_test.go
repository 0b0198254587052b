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

// A change is told once it is quiet, whichever way a file was written; what is excepted or passing is not.
func TestChanges(t *testing.T) {
	for _, poll := range []time.Duration{0, 20 * time.Millisecond} {
		t.Run(fmt.Sprint("poll ", poll), func(t *testing.T) {
			dir := t.TempDir()
			in, file := filepath.Join(dir, "results"), filepath.Join(dir, "ttreport.yaml")
			write := func(name, text string) {
				t.Helper()
				if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.MkdirAll(filepath.Join(in, "_site"), 0o777); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(context.Background())
			told, done := make(chan bool, 100), make(chan error, 1)
			go func() {
				done <- watch.Changes(ctx, watch.Options{Roots: []string{in, file, filepath.Join(dir, "later")}, Except: filepath.Join(in, "_site"), Poll: poll}, func() { told <- true })
			}()
			time.Sleep(200 * time.Millisecond)
			expect := func(what string, want bool) {
				t.Helper()
				select {
				case <-told:
					if !want {
						t.Errorf("%s is told", what)
					}
				case <-time.After(map[bool]time.Duration{true: 5 * time.Second, false: 500 * time.Millisecond}[want]):
					if want {
						t.Errorf("%s is not told", what)
					}
				}
			}
			write(filepath.Join(in, "a.json"), "1")
			expect("a new file", true)
			write(filepath.Join(in, "deep", "er", "b.json"), "1")
			expect("a file in new folders", true)
			write(filepath.Join(in, "deep", "er", "c.json"), "22")
			expect("a later file in a folder that came later", true)
			write(file+".new", "title: x")
			if err := os.Rename(file+".new", file); err != nil {
				t.Fatal(err)
			}
			expect("a file that is replaced by renaming", true)
			write(filepath.Join(dir, "later", "x.json"), "1")
			expect("a folder that was waited for", true)
			write(filepath.Join(in, "_site", "index.html"), "x")
			expect("the site itself", false)
			write(filepath.Join(in, "a.json~"), "x")
			expect("an editor's copy", false)
			write(filepath.Join(dir, "other.txt"), "x")
			expect("a file beside the roots", false)
			if err := os.Remove(filepath.Join(in, "a.json")); err != nil {
				t.Fatal(err)
			}
			expect("a file that goes", true)
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}
