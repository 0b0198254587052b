package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Every command has a page with all its flags and examples, which groff reads without a warning.
func TestManPages(t *testing.T) {
	t.Parallel()
	groff, err := exec.LookPath("groff")
	root := newRoot(&shell{})
	index := manPage(root)
	for _, c := range root.Commands() {
		if c.Hidden {
			continue
		}
		page := manPage(c)
		if !strings.Contains(index, `ttreport\-`+c.Name()+"(1)") {
			t.Errorf("%s is not in the index", c.Name())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if flag := strings.TrimSpace(roff("--" + f.Name)); !strings.Contains(page, flag) && !f.Hidden {
				t.Errorf("%s: no %s", c.Name(), f.Name)
			}
		})
		if !strings.Contains(page, roff(strings.TrimSpace(c.Example))) || !c.HasExample() {
			t.Errorf("%s: no examples", c.Name())
		}
		if err != nil {
			continue
		}
		cmd := exec.Command(groff, "-man", "-ww", "-Kutf8", "-Tutf8", "-rLL=100n", "-P-c", "-P-b", "-P-u")
		cmd.Stdin = strings.NewReader(page)
		var printed strings.Builder
		cmd.Stderr = &printed
		out, err := cmd.Output()
		if err != nil || printed.Len() > 0 {
			t.Errorf("%s: %v %s", c.Name(), err, printed.String())
		}
		if !strings.Contains(string(out), "SYNOPSIS") {
			t.Errorf("%s: %s", c.Name(), out)
		}
	}
	if err != nil {
		t.Skip("no groff: the pages were not set")
	}
}

// A line of a page that begins like a macro, or holds what troff reads as its own, comes out as it was.
func TestRoff(t *testing.T) {
	t.Parallel()
	want := "\\&.PP is no macro\n\\&'nor this\na\\eb \\-\\-flag\n"
	if got := roff(".PP is no macro\n'nor this\na\\b --flag"); got != want {
		t.Errorf("%q", got)
	}
}
