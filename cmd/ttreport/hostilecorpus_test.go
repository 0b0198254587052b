//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// hostileCase is a file of testdata/hostile.
type hostileCase struct {
	run, says, never []string
	exit             int
	files            []txtar.File
}

func readHostile(t *testing.T, name string) hostileCase {
	t.Helper()
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	c := hostileCase{files: a.Files}
	for line := range strings.Lines(string(a.Comment)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if text, err := strconv.Unquote(value); err == nil {
			value = text
		}
		switch key {
		case "run":
			c.run = append(c.run, value)
		case "says":
			c.says = append(c.says, value)
		case "never":
			c.never = append(c.never, value)
		case "exit":
			if c.exit, err = strconv.Atoi(value); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(c.run) == 0 || len(c.says) == 0 {
		t.Fatalf("%s says neither what to run nor what to expect", name)
	}
	return c
}

// lay writes the files of a case, beside a file that must not be read.
func (c hostileCase) lay(t *testing.T) {
	t.Helper()
	top := t.TempDir()
	secret, dir := filepath.Join(top, "secret"), filepath.Join(top, "ws")
	if err := os.WriteFile(secret, []byte("title: PLANTED\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, f := range c.files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		text := strings.TrimSuffix(string(f.Data), "\n")
		to, link := strings.CutPrefix(text, "-> ")
		err := os.MkdirAll(filepath.Dir(name), 0o777)
		switch {
		case err != nil:
		case link:
			err = os.Symlink(strings.ReplaceAll(to, "{SECRET}", secret), name)
		case text == "fifo":
			err = syscall.Mkfifo(name, 0o600)
		default:
			err = os.WriteFile(name, f.Data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

// written is the content of every file that a case made.
func written(before map[string]bool) string {
	var b strings.Builder
	_ = filepath.WalkDir(".", func(name string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && !before[name] {
			data, _ := os.ReadFile(name)
			b.WriteString(name + string(data))
		}
		return nil
	})
	return b.String()
}

// The public corpus of hostile inputs; its README says how to read it.
func TestHostile(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	names, err := filepath.Glob(filepath.Join("..", "..", "testdata", "hostile", "*.txtar"))
	if err != nil || len(names) < 60 {
		t.Fatalf("%d cases, %v", len(names), err)
	}
	for _, name := range names {
		c := readHostile(t, name)
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			c.lay(t)
			before := map[string]bool{}
			for _, f := range c.files {
				before[filepath.FromSlash(f.Name)] = true
			}
			began, code, said := time.Now(), 0, ""
			for _, line := range c.run {
				var out bytes.Buffer
				code = run(context.Background(), strings.Fields(line), strings.NewReader(""), &out, &out)
				said = out.String()
			}
			if code != c.exit {
				t.Errorf("exit %d, want %d: %s", code, c.exit, said)
			}
			for _, w := range c.says {
				if !strings.Contains(said, w) {
					t.Errorf("it does not say %q: %s", w, said)
				}
			}
			for _, w := range c.never {
				if strings.Contains(said+written(before), w) {
					t.Errorf("%q is shown", w)
				}
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}
