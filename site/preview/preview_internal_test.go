package preview

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// The record of a build and files that are not in their place yet are no part of a site.
func TestHiddenFilesAreNotServed(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"index.html", ".ttreport-site.json", ".ttreport-new/1"} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("<html>"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for address, want := range map[string]int{
		"/": 200, "/index.html": 200, "/.ttreport-site.json": 404, "/.ttreport-new/": 404, "/.ttreport-new/1": 404,
		"/%2ettreport-site.json": 404, "/x/../.ttreport-site.json": 404,
	} {
		w := httptest.NewRecorder()
		New(dir).file(w, httptest.NewRequest("GET", address, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", address, w.Code, want)
		}
	}
}
