package site_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/site"
)

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=200k"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	defer func() { _ = syscall.Unmount(dir, 0) }()
	keep := filepath.Join(dir, "_site")
	if err := os.MkdirAll(keep, 0o777); err != nil {
		t.Fatal(err)
	}
	runs, in := fixture("Tiny-1B", "n150")
	_, err := site.Build(
		context.Background(),
		render.New(in),
		site.Options{Dir: keep, Run: func(i int) (schema.Run, *schema.Problem) { return runs[i], nil }},
	)
	if err == nil || !strings.Contains(err.Error(), "no space") {
		t.Fatalf("a full disk gives %v", err)
	}
	for name, text := range files(t, keep) {
		if strings.Contains(name, "ttreport-tmp") ||
			(strings.HasSuffix(name, ".html") && !strings.Contains(text, "</html>")) {
			t.Errorf("%s is not whole", name)
		}
	}
}
