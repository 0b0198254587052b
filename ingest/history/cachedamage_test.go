//go:build unix

package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/history"
)

// A document that cannot be read, a stray file and an id that two documents have do not make every load read all
// documents again: the cache is kept, and what it gives is what a load without it gives, problems included.
func TestCacheBesideDamage(t *testing.T) {
	dir, cache := t.TempDir(), filepath.Join(t.TempDir(), "c")
	for i := range 5 {
		if _, err := history.Put(dir, sample(fmt.Sprint("run", i)), false); err != nil {
			t.Fatal(err)
		}
	}
	run := sample("run1")
	one, err := os.ReadFile(filepath.Join(dir, history.PathOf(&run)))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"zz-twice.json": string(one), "damaged.json": string(one[:len(one)/2]), "stray.json.gz": "{}",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour)
	fresh, all := load(t, "", dir)
	if len(all) != 3 || len(fresh.Runs) != 6 {
		t.Fatal(len(fresh.Runs), all)
	}
	for n := range 3 {
		c, problems := load(t, cache, dir)
		if dump(c) != dump(fresh) || fmt.Sprint(problems) != fmt.Sprint(all) {
			t.Errorf("load %d differs from one without a cache: %v, want %v", n, problems, all)
		}
		if err := os.Chtimes(cache, old, old); err != nil {
			t.Fatal("no cache is kept:", err)
		}
		if n == 0 {
			time.Sleep(2100 * time.Millisecond) // documents of the last two seconds are read again
		}
	}
	load(t, cache, dir)
	if info, err := os.Stat(cache); err != nil || !info.ModTime().Equal(old) {
		t.Errorf("a load that read nothing new wrote the cache again: %v %v", info, err)
	}
	if err := os.Remove(filepath.Join(dir, "damaged.json")); err != nil {
		t.Fatal(err)
	}
	if _, problems := load(t, cache, dir); strings.Contains(fmt.Sprint(problems), "damaged") {
		t.Errorf("the damage is gone: %v", problems)
	}
}
