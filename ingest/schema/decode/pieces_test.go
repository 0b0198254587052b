package decode_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// A file that is read in pieces has the values, the hash and the problems of one that is read whole.
func TestPieces(t *testing.T) {
	line := func(n int) string { return fmt.Sprintf(`{"n":%d,"pad":%q}`, n, strings.Repeat("x", n%977)) }
	var b strings.Builder
	for n := range 30_000 {
		switch {
		case n%7_000 == 6_999:
			b.WriteString(line(n)[:9+n%100] + "\n") // damaged
		case n == 12_000:
			b.WriteString(fmt.Sprintf(`{"n":%d,"long":%q}`, n, strings.Repeat("y", 9<<20)) + "\n") // longer than a piece
		default:
			b.WriteString(line(n) + "\n")
		}
	}
	for name, text := range map[string]string{
		"whole": b.String(), "cut": b.String()[:b.Len()-20], "no last newline": strings.TrimSuffix(b.String(), "\n"),
	} {
		whole, pieces := readPieces(text, 0), readPieces(text, 1<<20)
		if whole.sum != pieces.sum || whole.sha256 != pieces.sha256 || whole.n != pieces.n {
			t.Errorf("%s: %d values with a sum of %v, in pieces %d with %v", name, whole.n, whole.sum, pieces.n, pieces.sum)
		}
		if strings.Join(whole.problems, "\n") != strings.Join(pieces.problems, "\n") {
			t.Errorf("%s: problems\n%s\nin pieces\n%s", name, strings.Join(whole.problems, "\n"),
				strings.Join(pieces.problems, "\n"))
		}
	}
}

type outcome struct {
	n        int
	sum      float64
	sha256   string
	problems []string
}

func readPieces(text string, pieces int64) outcome {
	lim := decode.DefaultLimits()
	lim.Pieces = pieces
	f := decode.NewFile("x.jsonl", []byte(text), time.Time{}, lim)
	out := outcome{sha256: f.SHA256}
	for v := range f.Values() {
		out.n++
		out.sum += v.Get("n").Float0()
	}
	for _, p := range f.Problems {
		out.problems = append(out.problems, fmt.Sprintf("%s %d:%d %s", p.Code, p.Line, p.Column, p.Found))
	}
	return out
}
