package plaintext_test

import (
	"bytes"
	"testing"

	"github.com/ttreport/ttreport/ingest/plaintext"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plain, ünïcödé, 日本\n\tand so on": "plain, ünïcödé, 日本\n\tand so on",
		"\x1b[31mred\x1b[0m":              "·[31mred·[0m",
		"a\rb\x00c\x7fd":                  "a·b·c·d",
		"c1 \u009b31m":                    "c1 ·31m",
		"turned \u202egnp.exe":            "turned ·gnp.exe",
		"isolated \u2066x\u2069":          "isolated ·x·",
		"dashes – and … stay":             "dashes – and … stay",
	} {
		if got := plaintext.Printable(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
		if got := plaintext.PrintableBytes([]byte(text)); !bytes.Equal(got, []byte(want)) {
			t.Errorf("%q: %q", text, got)
		}
	}
}
