package tool_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect/tool"
)

func TestPin(t *testing.T) {
	for _, tt := range []struct{ tool, distribution, want string }{
		{"inspect", "inspect-ai", "inspect-ai=="}, {"inspect", "", ""}, {"lm-eval", "", "lm-eval=="}, {"none", "", ""},
	} {
		got := tool.Adapter{Name: tt.tool, Package: tt.distribution}.Pin()
		if !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") || strings.ContainsAny(got, " \n") {
			t.Errorf("%s: %q", tt.tool, got)
		}
	}
}

// A configured program takes precedence over one on the PATH; a program that is nowhere is reported as missing.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "mytool")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	ctx := context.Background()
	of := func(name, program string) tool.Adapter { return tool.Adapter{Name: name, Program: program} }
	find := tool.Environments{Configured: map[string]string{"other": program,
		"gone": filepath.Join(dir, "gone")}}
	if f, err := find.Find(ctx, of("mytool", "mytool")); err != nil || f.From != "PATH" || f.Program != program {
		t.Errorf("%+v %v", f, err)
	}
	if f, err := find.Find(ctx, of("other", "nothing")); err != nil || f.From != "configured" {
		t.Errorf("%+v %v", f, err)
	}
	if _, err := find.Find(ctx, of("gone", "mytool")); err == nil || errors.Is(err, tool.ErrNone) {
		t.Errorf("a configured program that does not exist: %v", err)
	}
	if _, err := find.Find(ctx, of("x", "x")); !errors.Is(err, tool.ErrNone) {
		t.Error(err)
	}
	if _, err := find.Ensure(ctx, of("x", "x")); err == nil || !strings.Contains(err.Error(), "tools: {x: /path/to/it}") {
		t.Error(err)
	}
}
