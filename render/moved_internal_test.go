package render

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// Where several components moved, the line that searches the commit and the range of a change say whose commits they
// name, and that others differ as well.
func TestWhatMovedIsNamed(t *testing.T) {
	for _, c := range []struct{ moves, of string }{
		{"tt_metal", "tt_metal 11111111111a..22222222222a"},
		{"vllm", "vllm 11111111111c..22222222222c"},
		{"tt_metal vllm", "tt_metal 11111111111a..22222222222a; vllm differs as well"},
		{"tt_metal tt_xla vllm", "tt_metal 11111111111a..22222222222a; tt_xla and vllm differ as well"},
	} {
		r := movedReport(t, c.moves)
		good, bad, of := r.endsOf(0, 1)
		if of != c.of || !strings.Contains(of, good+".."+bad) {
			t.Errorf("%s: %s..%s of %q", c.moves, good, bad, of)
		}
		_, others, _ := strings.Cut(c.of, "; ")
		if cell := r.commitRange(1); cell.Sub != others || !strings.HasPrefix(c.of, strings.Fields(cell.Text)[0]) {
			t.Errorf("%s: %+v", c.moves, cell)
		}
	}
}

// movedReport has two releases between which the commits of some components differ.
func movedReport(t *testing.T, moves string) *Report {
	t.Helper()
	b := columns.NewBuilder()
	for i := range 2 {
		when := time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
		h := columns.RunHead{
			ID: fmt.Sprint("run-", i), Start: when, End: when, Release: fmt.Sprint("v", 1+i),
			Channel: schema.ChannelRelease, Device: "n150", Model: schema.Model{Name: "m"}, Commits: map[string]string{},
		}
		for k, name := range []string{"tt_metal", "tt_xla", "vllm"} {
			digit := "1"
			if i == 1 && strings.Contains(moves, name) {
				digit = "2"
			}
			h.Commits[name] = strings.Repeat(digit, 11) + string("abc"[k]) + "0000"
		}
		b.C.Runs = append(b.C.Runs, h)
	}
	c := b.Seal()
	judged, err := gate.New(context.Background(), c, judge.Releases(c, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	return New(Input{Gate: judged})
}
