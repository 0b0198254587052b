package markdown_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/markdown"
)

// What stands in names and numbers is text: no markup, no link, no mention, no issue.
func TestNamesAreText(t *testing.T) {
	for name, want := range map[string]string{
		"@everyone":                  "@<!-- -->everyone",
		"@acme/team":                 "@<!-- -->acme/team",
		"a@b.example":                "a@<!-- -->b.example",
		"fix #12":                    `fix \#<!-- -->12`,
		"https://evil.example/x":     "https:<!-- -->//evil.example/x",
		"www.evil.example":           "www<!-- -->.evil.example",
		"<img src=x onerror=a()>":    `\<img src=x onerror=a()\>`,
		"&lt;b&gt;":                  `\&lt;b\&gt;`,
		"[x](javascript:a)":          `\[x\](javascript:a)`,
		"a\nb|c":                     `a b\|c`,
		"\x1b[31m\u202ered":          `·\[31m·red`,
		"64/128 at 8, v1.2 (50 % @)": "64/128 at 8, v1.2 (50 % @)",
	} {
		page := render.Page{Title: "x", Lead: render.Lead{Text: name}}
		if got := string(markdown.Page(page, "")); !strings.Contains(got, ":** "+want+"\n") {
			t.Errorf("%q: %q", name, got)
		}
	}
}

// took is how long a conversion takes: the least of three when it takes longer than it may, because another process may
// have the machine once.
func took(t *testing.T, text string, most time.Duration) time.Duration {
	t.Helper()
	least := time.Duration(math.MaxInt64)
	for tries := 0; tries < 3 && least > most; tries++ {
		began := time.Now()
		if _, err := markdown.HTML(text); err != nil {
			t.Error(err)
		}
		least = min(least, time.Since(began))
	}
	return least
}

// Notes take seconds at most, whatever is in them: what takes time that grows with the square is shown as it is. The
// measure is what 45 kB of plain paragraphs take here, some milliseconds: the worst of what is converted takes 50 times
// as much, and a megabyte of it that were converted thousands of times.
func TestHostileNotesAreLinear(t *testing.T) {
	plain := took(t, strings.Repeat("some words\n\n", 45_000/12), 0)
	for name, part := range map[string]string{
		"brackets": "[", "links": "[a](", "images": "![", "quotes": ">", "lists": "- ", "emphasis": "*a_ ", "code": "`a ``b ",
		"entities": "&amp", "html": "<a ", "comments": "<!-- ", "headings": "# a\n", "tables": "|a\n|-\n",
		"addresses":   "http://a.b ",
		"definitions": "[a]: b\n", "tabs": "\t", "strikes": "~~a ", "deep": "> - ", "mails": "a@b.c ", "numbers": "1. ",
		"same headings": "# x\n\n", "backslashes": "\\", "wide table": "a|",
	} {
		paragraph := strings.Repeat(part, 15_000/len(part)) + "\n\n"
		for _, text := range []string{strings.Repeat(paragraph, 3), strings.Repeat(part, 1_000_000/len(part))} {
			if took := took(t, text, 1000*plain); took > 1000*plain {
				t.Errorf("%s: %d kB take %s, and 45 kB of plain text %s", name, len(text)/1000, took, plain)
				break
			}
		}
	}
}
