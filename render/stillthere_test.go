package render_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/terminal"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// slowed is a history in which the releases from v10 to v15 are 12 % slower at two of 30 workloads; each states a
// commit.
func slowed(releases int) *columns.Columns {
	h := judgetest.History{}
	for r := range releases {
		row := make([]float64, 30)
		for w := range row {
			row[w] = 50 * float64(w+1) * (1 + .004*math.Sin(float64(7*r+3*w)))
			if w < 2 && r >= 10 && r < 16 {
				row[w] *= 1.12
			}
		}
		h.TTFT = append(h.TTFT, row)
	}
	c := h.Columns()
	for i := range c.Runs {
		c.Runs[i].Commits = map[string]string{"vllm": fmt.Sprintf("%07d", i)}
	}
	return c
}

func reportOf(t *testing.T, c *columns.Columns, mode render.Mode) *render.Report {
	t.Helper()
	g, err := gate.New(context.Background(), c, judge.Releases(c, nil), &decision.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	return render.New(render.Input{Gate: g, Mode: mode})
}

// The page of changes counts as open what is still there, as the card does: what returned is fixed, and says where.
func TestOpenChangesThatAreGone(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		releases               int
		word, text, state, sub string
	}{
		{11, "None open", "1 change in history.", "suspected", "another run must confirm it"},
		{14, "1 open", "TTFT of M on n150 at 128/128/1 and 128/128/2 is still +12.0\u202f% since v10.",
			"open", "unexplained"},
		{20, "None open", "2 changes in history.", "fixed", "in v16"},
	} {
		r := reportOf(t, slowed(x.releases), render.ModeRelease)
		p := r.ChangesPage()
		if p.Lead.Word != x.word || p.Lead.Text != x.text {
			t.Errorf("%d releases: %s %s", x.releases, p.Lead.Word, p.Lead.Text)
		}
		want := x.state
		if x.sub != "" {
			want += " (" + x.sub + ")"
		}
		if got := stateOf(p, "v10"); got != want {
			t.Errorf("%d releases: %s, want %s", x.releases, got, want)
		}
		g := r.Gate.Review(x.releases-1, "", "")
		if n := len(g.OpenChanges()); fmt.Sprintf("%d open", n) != x.word && n > 0 {
			t.Errorf("%d releases: %d changes are open on the card, %s on the page", x.releases, n, p.Lead.Word)
		}
	}
}

// stateOf is what a page of changes says became of the change that began in a release, on its card or in its row.
func stateOf(p render.Page, since string) string {
	for _, b := range p.Sections[0].Blocks {
		switch b := b.(type) {
		case render.ChangeCard:
			at := slices.IndexFunc(b.Facts, func(f render.CardFact) bool { return f.Name == "State" })
			if strings.HasSuffix(b.Title, " since "+since) && at >= 0 {
				return b.Facts[at].Text
			}
		case *render.Table:
			for _, row := range b.Rows {
				if state := row.Cells[len(row.Cells)-1]; row.Cells[0].Text == since && state.Sub != "" {
					return state.Text + " (" + state.Sub + ")"
				} else if row.Cells[0].Text == since {
					return state.Text
				}
			}
		}
	}
	return ""
}

// Every change has a row with its size, interval and share, at an address of its own, to which pictures lead; and the
// numbers of those with several are listed below.
func TestChangesPage(t *testing.T) {
	t.Parallel()
	r := reportOf(t, slowed(20), render.ModeRelease)
	p := r.ChangesPage()
	rows := map[string]render.Row{}
	for _, row := range p.Sections[0].Blocks[0].(*render.Table).Rows {
		rows[row.Anchor] = row
	}
	list := r.Gate.Changes(19)
	if len(list) != 2 || len(rows) != 2 {
		t.Fatalf("%d changes in %d rows", len(list), len(rows))
	}
	var groups []string
	for i := range list {
		c := &list[i]
		row := rows["change-"+c.ID]
		if len(row.Cells) == 0 {
			t.Fatalf("%s has no row", c.ID)
		}
		var got []string
		for _, cell := range row.Cells[:4] {
			got = append(got, cell.Text)
		}
		want := []string{c.Since, words.ChangeOf(c), words.ChangeSize(c), words.ChangeInterval(c)}
		if !slices.Equal(got, want) || row.Cells[1].Sub != "2 of 30 numbers" || row.Cells[4].Spark == nil {
			t.Errorf("%+v, want %q", row.Cells, want)
		}
		if !(c.Interval[0] < c.Effect && c.Effect < c.Interval[1]) {
			t.Errorf("%g lies outside %g", c.Effect, c.Interval)
		}
		groups = append(groups, c.Since+", "+words.ChangeOf(c)+": 2 of 30 numbers")
	}
	var found []string
	numbers := 0
	for _, row := range p.Sections[1].Blocks[0].(*render.Table).Rows {
		if row.Group != "" {
			found = append(found, row.Group)
		} else {
			numbers++
		}
	}
	if slices.Sort(groups); !slices.Equal(groups, slices.Sorted(slices.Values(found))) || numbers != 4 {
		t.Errorf("%d numbers of %q", numbers, found)
	}
	for _, s := range list[0].Numbers {
		levels := 0
		for _, step := range r.Gate.Frame(s, 19, &judge.Quantiles{}).Steps {
			if step.Change != nil {
				levels += len(rows["change-"+step.Change.ID].Cells[:1])
			}
		}
		if levels != 2 {
			t.Errorf("%d of 2 levels of %s lead to a row", levels, s.Key.Workload())
		}
	}
}

// Each level of a series has its mean and where a value of it was expected; the size of a step is that of the series,
// as the page of changes lists it, and that of the whole change is beside it.
func TestEveryLevelHasItsBand(t *testing.T) {
	t.Parallel()
	r := reportOf(t, slowed(20), render.ModeRelease)
	moved := map[string]string{}
	for _, c := range r.Gate.Changes(19) {
		for _, m := range r.Gate.Moved(&c) {
			workload := strings.Join(strings.Fields(words.Workload(m.Key)+" "+m.Key.Tool), " ")
			moved[c.Since+" "+workload] = words.Signed(m.Metric, m.Effect) + ", " + words.ChangeSize(&c)
		}
	}
	steps := 0
	for _, x := range r.Trends(r.Pairs[0]).Series {
		for _, s := range x.Steps {
			steps++
			if got := s.Label + ", " + s.Whole; got != moved["v"+strconv.Itoa(s.At)+" "+x.Workload] {
				t.Errorf("%s: %s; the changes have %v", x.Workload, got, moved)
			}
			if !(s.Expected[0] < s.Levels[0] && s.Levels[0] < s.Expected[1]) {
				t.Errorf("%s: the level before is %g, and %g is expected", x.Workload, s.Levels, s.Expected)
			}
		}
	}
	if steps != len(moved) || steps == 0 {
		t.Errorf("%d steps, %d numbers of changes", steps, len(moved))
	}
}

// Explore begins with the numbers of a regression that is still open, with their sizes as the page of changes has them.
func TestExploreBeginsWithWhatIsOpen(t *testing.T) {
	t.Parallel()
	r := reportOf(t, slowed(14), render.ModeRelease)
	list := r.Gate.Changes(13)
	if len(list) != 1 {
		t.Fatalf("%d changes", len(list))
	}
	x := r.Explore()
	want := render.SeriesWord{Verdict: schema.Regressed, Evidence: schema.Confirmed, Since: "v10"}
	for i, m := range r.Gate.Moved(&list[0]) {
		if x.Words[x.Word[i]] != want || math.Abs(*x.Change[i]-m.Effect) > 1e-6 {
			t.Errorf("row %d: %+v, %g, want %+v, %g", i, x.Words[x.Word[i]], *x.Change[i], want, m.Effect)
		}
	}
	for row, why := range r.ReleaseSeries(13).Why {
		if row < 2 && !strings.HasPrefix(why, "Still +1") || !strings.Contains(why, " since v10") {
			t.Errorf("the drawer of row %d says %q", row, why)
		}
	}
	for i := len(list[0].Numbers); i < len(x.Word); i++ {
		if x.Words[x.Word[i]].Since != "" {
			t.Errorf("row %d is said to be slower, too", i)
		}
	}
}

// The card accepts a change by its id: where it decides, and where a release has it from an earlier one.
func TestCardAcceptsAChange(t *testing.T) {
	t.Parallel()
	r := reportOf(t, slowed(14), render.ModeRelease)
	line := func(release int, what string) string {
		g := r.Gate.Review(release, "", "")
		for _, w := range r.Card(&g).Ways {
			if w.What == what {
				return w.Cmd
			}
		}
		return ""
	}
	list := r.Gate.Changes(13)
	if len(list) != 1 {
		t.Fatalf("%d changes", len(list))
	}
	found := judge.Named(r.Releases, list[0].Found)
	for release, what := range map[int]string{found: "Accept with a reason", 13: "Accept what is still there"} {
		want := fmt.Sprintf("ttreport accept v%d --change %s --reason \"…\"", release, list[0].ID)
		if got := line(release, what); got != want {
			t.Errorf("%s of v%d: %q, want %q", what, release, got, want)
		}
	}
	if got := line(found, "Accept what is still there"); got != "" {
		t.Errorf("v%d found it itself: %s", found, got)
	}
}

// What an earlier release confirmed on a model is no news of a release that measured another one alone.
func TestChangeOfAnotherModelIsNoNews(t *testing.T) {
	t.Parallel()
	const last = 14
	h := judgetest.History{}
	for r := range last + 1 {
		slow, steady := make([]float64, 30), make([]float64, 30)
		for w := range slow {
			steady[w] = 50 * float64(w+1) * (1 + .004*math.Sin(float64(7*r+3*w)))
			if slow[w] = steady[w]; w < 2 && r >= 10 {
				slow[w] *= 1.12
			}
			if r == last {
				slow[w] = 0
			}
		}
		h.TTFT, h.Again = append(h.TTFT, slow), append(h.Again, steady)
	}
	c := h.Columns()
	for i := range c.Runs {
		if strings.HasSuffix(c.Runs[i].ID, "-again") {
			c.Runs[i].Model.Name = "other"
		}
	}
	r := reportOf(t, c, render.ModeRelease)
	before, g := r.Gate.Review(last-1, "", ""), r.Gate.Review(last, "", "")
	if len(before.OpenChanges()) != 1 {
		t.Fatalf("nothing is open before: %+v", before.Changes)
	}
	if text := render.ChangeTexts(&g); len(text) > 0 {
		t.Errorf("v%d is said to have: %s", last, text)
	}
	p := r.ChangesPage()
	state := stateOf(p, "v10")
	if !strings.HasSuffix(p.Lead.Text, "; not seen in v14.") || !strings.HasSuffix(state, "not seen in v14)") {
		t.Errorf("what v14 did not measure: %s %s", p.Lead.Text, state)
	}
	var out strings.Builder
	terminal.Check(&out, &g, r.Card(&g), false)
	if strings.Contains(out.String(), "slower since v10") || strings.Contains(out.String(), "since v10 (") {
		t.Errorf("%s", out.String())
	}
}

// The front page of builds says since when it is slower, and by which commits.
func TestNightlySaysSinceWhen(t *testing.T) {
	t.Parallel()
	p := reportOf(t, slowed(12), render.ModeNightly).Landing()
	at := slices.IndexFunc(p.Sections, func(s render.Section) bool { return s.ID == "changes" })
	card := p.Sections[at].Blocks[0].(render.ChangeCard)
	if p.Lead.Word != "Slower since v10" || !slices.ContainsFunc(card.Facts, func(f render.CardFact) bool {
		return f.Name == "Commits" && strings.Contains(f.Text, "0000009..0000010")
	}) {
		t.Errorf("%s: %s %+v", p.Lead.Word, p.Lead.Text, card.Facts)
	}
}

// The page of a model on a device counts what was compared of it, and not of all of the release.
func TestPairCountsItsOwnNumbers(t *testing.T) {
	t.Parallel()
	c := slowed(6)
	for i := range c.Runs { // every second run is of another device
		c.Runs[i].Device = []string{"n150", "t3k"}[i%2]
	}
	c.Runs[4].Release = c.Runs[5].Release
	r := reportOf(t, c, render.ModeRelease)
	for _, pair := range r.Pairs {
		found := false
		for _, s := range r.PairPage(pair).Sections {
			for _, b := range s.Blocks {
				if e, ok := b.(render.Empty); ok && e.What == "Nothing changed" {
					found = strings.HasPrefix(e.Why, "30 numbers compared")
				}
			}
		}
		if !found {
			t.Errorf("%v: no count of its 30 numbers", pair.Pair)
		}
	}
}
