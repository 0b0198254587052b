package render

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// The section of ranks names the first and its ties, and what would separate them; nobody is the best who is not shown
// to be, and a model with too few of the tasks has no rank.
func TestRankSection(t *testing.T) {
	rows := map[string][]*columns.ScoreRow{
		"a": {scoreOf("x", "acc", 0, .80, 1000), scoreOf("y", "acc", 0, .60, 1000)},
		"b": {scoreOf("x", "acc", 0, .79, 1000), scoreOf("y", "acc", 0, .60, 1000)},
		"c": {scoreOf("x", "acc", 0, .40, 1000)},
		"d": {scoreOf("z", "acc", 0, .99, 1000)},
	}
	s := boardOf(-1, rows, "a", "b", "c", "d").means("").section()
	if !strings.HasPrefix(s.Intro, "1 of 2 other models ties with the first, a. ") || !strings.Contains(s.Intro, ": d.") {
		t.Errorf("%s", s.Intro)
	}
	lead := func(names ...string) string {
		b := boardOf(-1, rows, names...)
		return b.lead(b.means("")).Text
	}
	if l := lead("a", "b", "c"); l != "2 of 3 models may be the best, a among them." {
		t.Errorf("%s", l)
	}
	if l := lead("a", "c"); l != "a is shown to be better than 1 other model." {
		t.Errorf("%s", l)
	}
	var got []string
	for _, r := range s.Blocks[0].(*Table).Rows {
		line := r.Group
		for _, c := range r.Cells {
			line += "|" + c.Text + c.Sub
		}
		got = append(got, line)
	}
	for i, want := range []string{
		"First, and what ties", "|1 to 2|a|70.0", "|1 to 2|b|69.5", "Shown to be behind", "|3|c|40.0",
	} {
		plain := strings.ReplaceAll(got[i], "\u202f", "")
		if !strings.HasPrefix(plain, want) {
			t.Errorf("row %d is %q, want %q", i, plain, want)
		}
	}
	if !strings.HasSuffix(got[2], "times the questions of each task") || strings.Contains(got[2], "e+") ||
		!strings.Contains(got[4], "1 of 2 tasks|") || !strings.HasSuffix(got[4], "|b|") {
		t.Errorf("%q\n%q", got[2], got[4])
	}
}

// Groups next to each other are a range; behind "z" letters are double.
func TestLetters(t *testing.T) {
	rows, order := map[string][]*columns.ScoreRow{}, []string{}
	for i := range 40 {
		name := fmt.Sprintf("m%02d", i)
		rows[name] = []*columns.ScoreRow{scoreOf("x", "acc", 0, .9-float64(i)/50, 1000)}
		order = append(order, name)
	}
	letters := boardOf(-1, rows, order[:20]...).means("").tied()
	if letters[0] != "a" || letters[1] != "a b" || letters[3] != "b to d" || letters[19] != "q" || rounded(783.2) != 780 {
		t.Errorf("%q", letters)
	}
	if letters = boardOf(-1, rows, order...).means("").tied(); letters[0] != "a" || letters[39] != "kk" {
		t.Errorf("%q", letters)
	}
}

// A model that has no task in common with the first is not shown to be behind it.
func TestRankOfWhatIsNotCompared(t *testing.T) {
	rows := map[string][]*columns.ScoreRow{
		"a": {scoreOf("x", "acc", 0, .90, 1000)},
		"b": {scoreOf("x", "acc", 0, .50, 1000), scoreOf("y", "acc", 0, .80, 1000)},
		"c": {scoreOf("y", "acc", 0, .40, 1000)},
	}
	var got []string
	for _, r := range boardOf(-1, rows, "a", "b", "c").means("").section().Blocks[0].(*Table).Rows {
		if name := r.Group; name != "" {
			got = append(got, name)
		} else {
			got = append(got, r.Cells[1].Text)
		}
	}
	want := []string{"First, and what ties with it", "a", "Shown to be behind the first", "b",
		"Not compared with the first", "c"}
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%q\nwant\n%q", got, want)
	}
}
