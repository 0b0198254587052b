package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Every command has a page with all its flags and examples, which groff reads without a warning.
func TestManPages(t *testing.T) {
	groff, err := exec.LookPath("groff")
	index := manIndex()
	for _, c := range commands() {
		page := manPage(c)
		if !strings.Contains(index, `ttreport\-`+c.name+"(1)") {
			t.Errorf("%s is not in the index", c.name)
		}
		fs := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
		c.setup(fs)
		fs.VisitAll(func(f *pflag.Flag) {
			if flag := `\-\-` + escapeRoff(f.Name); strings.Contains(page, flag) == f.Hidden && !f.Hidden {
				t.Errorf("%s: no %s", c.name, f.Name)
			}
		})
		for _, e := range c.examples {
			if !strings.Contains(page, escapeRoff(e.line)) {
				t.Errorf("%s: no example %q", c.name, e.line)
			}
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
			t.Errorf("%s: %v %s", c.name, err, printed.String())
		}
		if !strings.Contains(string(out), "SYNOPSIS") {
			t.Errorf("%s: %s", c.name, out)
		}
	}
	if err != nil {
		t.Skip("no groff: the pages were not set")
	}
}

// A line of a page that begins like a macro, or holds what troff reads as its own, comes out as it was.
func TestRoff(t *testing.T) {
	var r roff
	r.text(".PP is no macro\n'nor this\na\\b --flag")
	r.macro("SH", `a "word"`)
	want := "\\&.PP is no macro\n\\&'nor this\na\\eb \\-\\-flag\n.SH \"a \\(dqword\\(dq\"\n"
	if r.b.String() != want {
		t.Errorf("%q", r.b.String())
	}
}
