package render

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// Two names have two paths on every file system, and a path depends on its name alone.
func TestSegmentsAreDistinct(t *testing.T) {
	names := []string{
		"", "unknown", "Unknown", "v1", "V1", "v1.0", "V1.0", "v1-rc", "v1/rc", "v1 rc", "v1:rc", "v1+rc", "v1  rc", "v1..",
		"v1.",
		"con", "CON", "Con", "con.txt", "nul", "aux.v1", "com1", "COM1", "lpt9.x", "..", ".", "/", "-", "_", ".git", "é",
		"e\u0301", "ß", "SS",
		"20260101T000000Z-abcd", "20260101t000000z-abcd", "20260101T000000z-abcd", "v1-", "v1_", "index.html", "release",
		strings.Repeat("a", 100), strings.Repeat("a", 101), strings.Repeat("a", 102), strings.Repeat("A", 100), "İ", "i̇",
		"K", "k",
	}
	for _, n := range names[:len(names):len(names)] {
		names = append(names, segment(n)) // a name that is the path of another
	}
	portable := regexp.MustCompile(`^[A-Za-z0-9_-]([A-Za-z0-9._~-]*[A-Za-z0-9_-])?$`)
	device := regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.|$)`)
	seen, tried := map[string]string{}, map[string]bool{}
	for _, n := range names {
		if tried[n] {
			continue
		}
		tried[n] = true
		s := segment(n)
		if other, is := seen[strings.ToLower(s)]; is {
			t.Errorf("%q and %q are both %s", other, n, s)
		}
		seen[strings.ToLower(s)] = n
		if !portable.MatchString(s) || device.MatchString(s) || len(s) > 120 {
			t.Errorf("%q is %q, which is no file everywhere", n, s)
		}
	}
	for _, plain := range []string{"v0.6.0", "sim-8b", "n150", "20260101T000000Z-0a1b2c3d", "2026-01-02-rc.1"} {
		if segment(plain) != plain {
			t.Errorf("%s is %s", plain, segment(plain))
		}
	}
}

// Sixteen bits of a hash are found twice within a few hundred names.
func TestSegmentsOfManyNames(t *testing.T) {
	seen := map[string]string{}
	for n := range 3000 {
		name := "v1" + strings.Repeat("+", n%50+1) + strings.Repeat("/", n/50+1)
		s := segment(name)
		if other := seen[s]; other != "" {
			t.Fatalf("%q and %q are both %s", other, name, s)
		}
		seen[s] = name
	}
}

// A report of a model on a device has a name of its own, whatever has underscores.
func TestReportsAreDistinct(t *testing.T) {
	seen := map[Address]string{}
	for _, pair := range [][2]string{{"a", "b"}, {"a_b", "c"}, {"a", "b_c"}, {"a_b_c", ""}, {"", "a_b_c"}, {"A", "b"},
		{"a", "B"}} {
		at := ReportPath("v1", pair[0], pair[1])
		if seen[at] != "" {
			t.Errorf("%q and %s are both %s", pair, seen[at], at)
		}
		seen[at] = fmt.Sprintf("%q", pair)
	}
}
