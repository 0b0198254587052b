package plaintext

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestShortPath(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int
		want string
	}{
		{"a/b.json", 20, "a/b.json"},
		{"first/second/third/fourth/x.json", 24, "first/…/fourth/x.json"},
		{"first/second/third/fourth/x.json", 15, "first/…/x.json"},
		{"first/second/a-name-that-fits.json", 22, "a-name-that-fits.json"},
		{"first/second/a-name-that-fits.json", 23, "…/a-name-that-fits.json"},
		{"a-name-that-is-far-too-long.json", 11, "a-nam….json"},
	} {
		if got := ShortPath(c.in, c.most); utf8.RuneCountInString(got) > c.most || got != c.want {
			t.Errorf("ShortPath(%q, %d) = %q, want %q", c.in, c.most, got, c.want)
		}
	}
}

func TestMiddle(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int
		want string
	}{{"abcdef", 6, "abcdef"}, {"abcdefg", 6, "ab…efg"}, {"äöüßäöüß", 5, "äö…üß"}, {"abcdef", 2, "abcdef"}} {
		if got := Middle(c.in, c.most); got != c.want {
			t.Errorf("Middle(%q, %d) = %q, want %q", c.in, c.most, got, c.want)
		}
	}
	if got := Cut("äöü", 2); got != "äö" {
		t.Errorf("Cut: %q", got)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range [][2]string{
		{Plural(0, "run"), "0 runs"}, {Plural(1, "run"), "1 run"}, {Plural(1200, "run"), "1200 runs"},
		{Dash(0), "-"}, {Dash(7), "7"},
		{Duration(400 * time.Millisecond), "0.4 s"}, {Duration(125 * time.Second), "2 min 05 s"},
	} {
		if c[0] != c[1] {
			t.Errorf("%q, want %q", c[0], c[1])
		}
	}
}

// No line is longer than the limit unless it is one word, and no word is lost.
func TestWrap(t *testing.T) {
	text := strings.Repeat("eight888 ", 40) + strings.Repeat("x", 130) + " end"
	got := Wrap(text, "    ")
	for i, line := range strings.Split(got, "\n") {
		if i > 0 && !strings.HasPrefix(line, "    ") {
			t.Errorf("line %d is not indented: %q", i, line)
		}
		if n := utf8.RuneCountInString(line); n > LineWidth && strings.Contains(strings.TrimSpace(line), " ") {
			t.Errorf("line %d has %d characters", i, n)
		}
	}
	if strings.Join(strings.Fields(got), " ") != text {
		t.Errorf("words were lost: %q", got)
	}
}
