package main

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
)

func TestKinds(t *testing.T) {
	for want, k := range map[string]fileKinds{"": {}, "one": {"one": 5}, "2 × b; 1 × a": {"a": 1, "b": 2, "": 3}} {
		if got := k.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	many := fileKinds{}
	for i := range 30 {
		many[fmt.Sprintf("kind number %d", i)] = 30 - i
	}
	if got := many.String(); utf8.RuneCountInString(got) > detailWidth+16 || !strings.HasSuffix(got, "kinds more") {
		t.Errorf("%q", got)
	}
}

// Notes are shown where nothing was read: they say why. A mapping in a hint is printed as it is.
func TestNotesOfNothing(t *testing.T) {
	note := schema.Problem{Severity: schema.SevNote, Path: "a.csv", Found: "a table",
		Hint: "begin with:\ntables:\n  - files: \"x\"\n    rows: y"}
	for points, shown := range map[int]bool{0: true, 1: false} {
		var b strings.Builder
		files := []ingest.File{{Path: "a.csv", Format: ingest.NotResult}, {Path: "b", Format: "vllm-serve", Points: points}}
		list(&b, ingest.Set{Files: files, Problems: []schema.Problem{note}}, false)
		if strings.Contains(b.String(), "\n         tables:\n           - files: \"x\"\n") != shown {
			t.Errorf("%d points: %s", points, b.String())
		}
	}
}

// Problems that say the same of several files are one, with the mapping of each of them: it can be copied as a whole.
func TestMappingsOfAll(t *testing.T) {
	var problems []schema.Problem
	for i := range 14 {
		hint := fmt.Sprintf("begin with:\ntables:\n  - files: \"f%02d.csv\"\n    columns:\n      x: model\n", i/2)
		problems = append(problems, schema.Problem{Severity: schema.SevWarning, Code: "c", Found: "a table", Hint: hint})
	}
	got := alikeProblems(problems)
	if len(got) != 1 || strings.Count(got[0].Hint, "tables:") != 1 || strings.Count(got[0].Hint, "- files:") != 7 ||
		!strings.HasSuffix(got[0].Hint, "x: model") || !strings.Contains(got[0].Found, "and 13 more") {
		t.Errorf("%+v", got)
	}
	for i := range problems {
		problems[i].Hint = fmt.Sprintf("begin with:\ntables:\n  - files: \"g%d.csv\"\n", i)
	}
	if got = alikeProblems(problems); len(got) != 2 || !strings.Contains(got[1].Found, "and 1 more") {
		t.Errorf("%+v", got)
	}
}

// Files of which nothing was read are no answer without problems.
func TestNothingWasRead(t *testing.T) {
	for name, c := range map[string]struct {
		files []ingest.File
		want  []string
	}{
		"texts": {[]ingest.File{{Path: "a.txt", Format: ingest.NotResult}},
			[]string{"Nothing was read", "ttreport help files"}},
		"unknown": {[]ingest.File{{Path: "a", Format: ingest.Unknown, Detail: "x"}},
			[]string{"Nothing was read", "ttreport help files"}},
		"results": {[]ingest.File{{Path: "a", Format: "vllm-serve", Points: 1}}, []string{"1 point", "no problems"}},
		"beside":  {[]ingest.File{{Path: "a", Format: "nm-vllm-copy"}}, []string{"0 points", "no problems"}},
	} {
		var b strings.Builder
		list(&b, ingest.Set{Files: c.files}, false)
		first, _, _ := strings.Cut(b.String(), "\n")
		for _, want := range c.want {
			if !strings.Contains(first, want) {
				t.Errorf("%s: %q lacks %q", name, first, want)
			}
		}
	}
}

// A note is counted as what it is: "no problems" after one would be false, and "1 problem" too much.
func TestNotesAreCounted(t *testing.T) {
	note := schema.Problem{Severity: schema.SevNote, Found: "x"}
	for want, list := range map[string][]schema.Problem{
		"no problems": nil, "1 note": {note}, "1 warning, 2 notes": {note, {Severity: schema.SevWarning}, note},
	} {
		if got := problemCounts(list); got != want {
			t.Errorf("%d problems are %q, want %q", len(list), got, want)
		}
	}
}
