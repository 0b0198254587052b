package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestRules(t *testing.T) {
	body := func(lines int) string {
		return "package p\n\nfunc f() {\n" + strings.Repeat("\t_ = 1\n", lines-2) + "}\n"
	}
	branches := func(n int) string {
		return "package p\n\nfunc f(a bool) {\n" + strings.Repeat("\tif a && a {\n\t}\n", n/2) +
			strings.Repeat("\tfor a {\n\t}\n", n%2) + "}\n"
	}
	for name, tt := range map[string]struct {
		path, text string
		want       rule
	}{
		"a line of 120":               {"a.go", "package p\n\n// " + strings.Repeat("ä", 117) + "\n", ""},
		"a line of 121":               {"a.go", "package p\n\n// " + strings.Repeat("ä", 118) + "\n", longLine},
		"a line of Python":            {"b.py", "# " + strings.Repeat("x", 119) + "\n", longLine},
		"a function of 100":           {"a.go", body(100), ""},
		"a function of 101":           {"a.go", body(101), longFunction},
		"complexity 15":               {"a.go", branches(14), ""},
		"complexity 16":               {"a.go", branches(15), complexity},
		"an else and a default":       {"a.go", "package p\n\nfunc f() { switch { default: } }\n", ""},
		"a vague name":                {"a.go", "package util\n", vagueName},
		"init":                        {"a.go", "package p\n\nfunc init() {}\n", initFunction},
		"a method named init":         {"a.go", "package p\n\nfunc (x T) init() {}\n", ""},
		"a variable":                  {"a.go", "package p\n\nvar x = 1\n\nfunc f() { x = 2 }\n", changedVar},
		"a variable counted up":       {"a.go", "package p\n\nvar x = 1\n\nfunc f() { x++ }\n", changedVar},
		"an element":                  {"a.go", "package p\n\nvar x = map[int]int{}\n\nfunc f() { x[1] = 2 }\n", changedVar},
		"a field":                     {"a.go", "package p\n\nvar x T\n\nfunc f() { (*x).y.z = 2 }\n", changedVar},
		"a variable that is read":     {"a.go", "package p\n\nvar x = 1\n\nfunc f() int { return x }\n", ""},
		"a parameter of the name":     {"a.go", "package p\n\nvar x = 1\n\nfunc f(x int) { x = 2 }\n", ""},
		"a local of the name":         {"a.go", "package p\n\nvar x = 1\n\nfunc f() { x := 1; x = 2; _ = x }\n", ""},
		"a range variable":            {"a.go", "package p\n\nvar x = 1\n\nfunc f() { for x := range 2 { x++ } }\n", ""},
		"testdata":                    {"testdata/a.go", "package util\n", ""},
		"the blank variable":          {"a.go", "package p\n\nvar _ = 1\n\nfunc f() { _ = 2 }\n", ""},
		"an external test, and tests": {"util_test.go", "package util_test\n", vagueName},
	} {
		found, err := check(fstest.MapFS{tt.path: {Data: []byte(tt.text)}, "ok/ok.go": {Data: []byte("package ok\n")}})
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.want == "" && len(found) > 0, tt.want != "" && (len(found) != 1 || found[0].rule != tt.want):
			t.Errorf("%s: %v, want %q", name, found, tt.want)
		}
	}
}

// A variable may be declared in one file and assigned to in another.
func TestAcrossFiles(t *testing.T) {
	found, err := check(fstest.MapFS{
		"a.go": {Data: []byte("package p\n\nvar x = 1\n")}, "b.go": {Data: []byte("package p\n\nfunc f() { x = 2 }\n")},
		"q/b.go": {Data: []byte("package q\n\nfunc f() { x = 2 }\n")},
	})
	if err != nil || len(found) != 1 || found[0].path != "b.go" || found[0].line != 3 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestFailures(t *testing.T) {
	found := []finding{
		{longLine, "a.go", 1, ""}, {longLine, "a_test.go", 1, ""},
		{longFunction, "a.go", 1, ""}, {longFunction, "a_test.go", 1, ""},
	}
	if n := report(found); n != 3 {
		t.Errorf("%d findings fail, want all but the long function of a test", n)
	}
	for _, files := range []fstest.MapFS{{}, {"a.go": {Data: []byte("package")}}} {
		if _, err := check(files); err == nil {
			t.Errorf("%v: no error", files)
		}
	}
}
