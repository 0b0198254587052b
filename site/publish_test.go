package site_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/site"
)

// built is a folder with a site of so many releases.
func built(t *testing.T, releases int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "site")
	if _, _, err := buildOf(t, context.Background(), dir, releases, 0); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A page that was changed is made again, also where its size and time are what they were.
func TestChangedPagesAreMadeAgain(t *testing.T) {
	t.Parallel()
	dir := built(t, 3)
	whole := files(t, dir)
	for _, page := range []string{"index.html", "releases/v0.9.0/index.html", "data/shards/runs/v0.9.0.js",
		"data/points/v0.9.0.csv"} {
		name := filepath.Join(dir, filepath.FromSlash(page))
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		write(t, name, string(data))
		if err := os.Chtimes(name, time.Now(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := buildOf(t, context.Background(), dir, 3, 0); err != nil {
		t.Fatal(err)
	}
	for name, text := range files(t, dir) {
		if whole[name] != text {
			t.Errorf("%s stays as it was changed", name)
		}
	}
}

// What a committed site says of itself decides nothing: without the record outside of it everything is made.
func TestCommittedSiteIsNotBelieved(t *testing.T) {
	t.Parallel()
	dir := built(t, 3)
	if err := os.Remove(dir + ".units"); err != nil {
		t.Fatal(err)
	}
	if _, read, err := buildOf(t, context.Background(), dir, 3, 0); err != nil || read != 6 {
		t.Errorf("%d of 6 documents read, %v", read, err)
	}
	moved := filepath.Join(t.TempDir(), "elsewhere")
	if err := errors.Join(os.Rename(dir, moved), os.Rename(dir+".units", moved+".units")); err != nil {
		t.Fatal(err)
	}
	if _, read, err := buildOf(t, context.Background(), moved, 3, 0); err != nil || read != 6 {
		t.Errorf("%d of 6 documents read for a record of another folder, %v", read, err)
	}
}

// A build that fails, wherever it is, changes no page.
func TestFailedBuildChangesNothing(t *testing.T) {
	t.Parallel()
	dir := built(t, 3)
	before := files(t, dir)
	for stop := 1; stop < 60; stop += 7 {
		if _, _, err := buildOf(t, context.Background(), dir, 4, stop); err == nil {
			t.Fatal("it was not stopped")
		}
		sameFiles(t, dir, before)
	}
	taken := filepath.Join(dir, "releases", "v0.12.0", "index.html")
	write(t, filepath.Join(taken, "mine.txt"), "a folder in the place of a page")
	if _, _, err := buildOf(t, context.Background(), dir, 4, 0); err == nil {
		t.Error("a folder was replaced by a page")
	}
	if err := os.RemoveAll(filepath.Join(dir, "releases", "v0.12.0")); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, dir, before)
	write(t, taken, "a page of somebody else")
	if _, _, err := buildOf(t, context.Background(), dir, 4, 0); !errors.Is(err, site.ErrForeignFile) {
		t.Errorf("a file of somebody else: %v", err)
	}
}

func sameFiles(t *testing.T, dir string, before map[string]string) {
	t.Helper()
	after := files(t, dir)
	for name := range after {
		if after[name] != before[name] {
			t.Errorf("%s is there or changed", name)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files were %d", len(after), len(before))
	}
}

// Nothing outside of the folder is written or removed, whatever links and lists are in it.
func TestSiteStaysInItsFolder(t *testing.T) {
	t.Parallel()
	for name, trap := range map[string]func(dir, outside string) error{
		"folder": func(dir, outside string) error {
			return errors.Join(os.RemoveAll(filepath.Join(dir, "releases")), os.Symlink(outside, filepath.Join(dir, "releases")))
		},
		"page": func(dir, outside string) error {
			page := filepath.Join(dir, "index.html")
			return errors.Join(os.Remove(page), os.Symlink(filepath.Join(outside, "precious"), page))
		},
		"manifest": func(dir, outside string) error {
			list := `{"schema":"ttreport/site/v1","files":["../outside/precious","` + outside + `/precious","gone/precious"]}`
			return errors.Join(os.WriteFile(filepath.Join(dir, ".ttreport-site.json"), []byte(list), 0o644),
				os.Symlink(outside, filepath.Join(dir, "gone")))
		},
		"list": func(dir, outside string) error {
			list := filepath.Join(dir, ".ttreport-site.json")
			return errors.Join(os.Remove(list), os.Symlink(filepath.Join(outside, "precious"), list))
		},
		"waiting": func(dir, outside string) error { return os.Symlink(outside, filepath.Join(dir, ".ttreport-new")) },
	} {
		dir := built(t, 3)
		outside := filepath.Join(filepath.Dir(dir), "outside")
		write(t, filepath.Join(outside, "precious"), "precious")
		if err := trap(dir, outside); err != nil {
			t.Fatal(err)
		}
		_, _, err := buildOf(t, context.Background(), dir, 4, 0)
		data, readErr := os.ReadFile(filepath.Join(outside, "precious"))
		list, listErr := os.ReadDir(outside)
		if string(data) != "precious" || len(list) != 1 || readErr != nil || listErr != nil {
			t.Errorf("%s: %q, %d files, %v", name, data, len(list), errors.Join(err, readErr, listErr))
		}
	}
}

// An empty list, as a power cut leaves it, is recovered.
func TestEmptyManifest(t *testing.T) {
	t.Parallel()
	dir := built(t, 3)
	whole := files(t, dir)
	write(t, filepath.Join(dir, ".ttreport-site.json"), strings.Repeat("\x00", 40))
	write(t, filepath.Join(dir, "index.html"), "half a pa")
	if _, _, err := buildOf(t, context.Background(), dir, 3, 0); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, dir, whole)
}
