package ingest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest"
)

// What may state facts is kept until all files are read; an archive of 50 kB may hold 5 MB of it.
func TestFactsOfAnArchiveAreBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("in/%d/meta.json", i)] = fmt.Sprintf(`{"model":"m","of":[%s0]}`, strings.Repeat("0,", 7_980))
	}
	root, err := ingest.OSRoot(zipped(t, filepath.Join(t.TempDir(), "in.zip"), files))
	if err != nil {
		t.Fatal(err)
	}
	set, err := ingest.Load(t.Context(), []ingest.Root{root}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, f := range set.Files {
		kept += len(f.Facts)
	}
	if len(set.Files) < len(files) || kept == 0 || kept > 4<<20 {
		t.Errorf("%d bytes kept of %d files", kept, len(set.Files))
	}
}
