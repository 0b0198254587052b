package render

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// What is not stated of points is named, with the flag that states it.
func TestUnnamedPoints(t *testing.T) {
	for _, x := range []struct {
		n             int
		model, device bool
		want          string
	}{
		{1, false, true, "which device 1 point is of. … --device NAME PATH"},
		{1, true, false, "which model 1 point is of. … --model NAME PATH"},
		{3, true, true, "which model and device 3 points are of. … --model NAME --device NAME PATH"},
	} {
		e := unnamedPoints(x.n, x.model, x.device)
		if got := e.What + ". … " + e.Cmd; got != strings.Replace("Nothing states "+x.want, "… ", "… ttreport build ", 1) {
			t.Errorf("%+v: %s", x, got)
		}
	}
}

// A run has a row a point, with pictures of what happened by time beside its numbers; what all points share is said
// once, and each source of what is known once.
func TestPointsOfARun(t *testing.T) {
	run := &schema.Run{Release: "v1", Impl: "x", Provenance: map[string]schema.Origin{
		"release": {From: "manifest", Where: "a.yaml"}, "impl": {From: "manifest", Where: "a.yaml"},
		"model.id": {From: "file", Where: "b.json"},
	}}
	run.Model.ID = "acme/m"
	for i := range 60 {
		p := schema.Point{Status: schema.StatusOK, Slices: schema.Slices{Step: 2},
			Conditions: map[string]string{"seed": fmt.Sprint(i), "endpoint": "chat"}}
		for _, name := range []string{schema.GaugeWaiting, "ttft"} {
			p.Slices.Series = append(p.Slices.Series, schema.SliceOf{Name: name, Values: []float64{1, 2}})
		}
		run.Points = append(run.Points, p)
	}
	s := pointSection(run, sourcesOf(run), nil)
	tab := s.Blocks[0].(*Table)
	var heads []string
	for _, c := range tab.Cols[2:] {
		heads = append(heads, c.Head)
	}
	if got := strings.Join(heads, ", "); got != "Over, TTFT by time, Queue by time, Conditions" {
		t.Errorf("columns %s", got)
	}
	last := tab.Rows[59].Cells
	if len(tab.Rows) != 60 || last[2].Text != "4.00" || last[3].Spark == nil || last[3].Sub != "1.00 to 2.00" ||
		last[5].Text != "seed 59" {
		t.Errorf("the last of %d rows is %+v", len(tab.Rows), last)
	}
	if !strings.HasSuffix(s.Intro, allPoints+"endpoint chat.") {
		t.Errorf("of all points: %s", s.Intro)
	}
	var groups []string
	for _, r := range identityTable(run, CommitLinks{}, false).Rows {
		if r.Group != "" {
			groups = append(groups, r.Group)
		}
	}
	want := "Known from manifest: a.yaml, Known, and nothing says from where, Known from file: b.json, " + notStated
	if got := strings.Join(groups, ", "); got != want {
		t.Errorf("sources\n%s\nwant\n%s", got, want)
	}
}

// Every release is on one page of the list, a line after the other, newest first; the pages lead to each other and to
// each line. The row of a release has its decision, how many numbers changed or did not, and its note.
func TestReleasesPages(t *testing.T) {
	r := emptyReport()
	for i := range 230 {
		channel := "main"
		if i%10 == 0 {
			channel = "release"
		}
		r.Releases = append(r.Releases, judge.Release{Name: fmt.Sprint("v", i), Label: true, Channel: channel})
		r.has, r.sim = append(r.has, 0), append(r.sim, 0)
		r.Gate.Know(i, gate.Results{Whole: gate.Result{Basis: gate.Basis{Regressed: i, Unchanged: 9, Compared: i + 9}}})
	}
	r.Notes, r.Mode = []Note{{Release: "v229", Title: "A driver changed"}}, ModeRelease
	var order, paths []string
	pages := r.ReleasesPages()
	for _, p := range pages {
		paths = append(paths, string(p.Path))
		for _, row := range p.Sections[len(p.Sections)-1].Blocks[0].(*Table).Rows {
			order = append(order, row.Cells[0].Text)
		}
	}
	if len(order) != 230 || order[0] != "v229" || order[206] != "v1" || order[207] != "v220" || order[229] != "v0" {
		t.Errorf("%d releases: %v", len(order), order)
	}
	want := "releases/index.html releases/index~2.html releases/index~3.html releases/index~4.html"
	got := strings.Join(paths, " ")
	if got != want || pages[0].Prev != nil || pages[0].Next.Href != pages[1].Path || pages[3].Next != nil {
		t.Errorf("pages %s", got)
	}
	lines := pages[1].Sections[0].Blocks[0].(Links)
	if len(lines) != 2 || lines[1].Text != "Channel release: 23" || lines[1].Href != pages[3].Path {
		t.Errorf("lines %v", lines)
	}
	row := pages[0].Sections[1].Blocks[0].(*Table).Rows[0].Cells
	marks := fmt.Sprint(row[3].Marks)
	want = fmt.Sprint([]Mark{{schema.Regressed, 0, 229, "regressed"}, {schema.Unchanged, 0, 9, "unchanged"}})
	if marks != want || row[7].Text != "A driver changed" {
		t.Errorf("the row of v229 is %+v", row)
	}
	if front := r.releaseTable(); len(front.Rows) != newestShown || front.Full.Href != ReleasesPath {
		t.Errorf("the front page lists %d, and leads to %v", len(front.Rows), front.Full)
	}
}

// The page of targets begins with what is missed: its sentence counts that first, and its first table has it.
func TestTargetsBeginWithWhatIsMissed(t *testing.T) {
	of := func(eval bool, outcome schema.Outcome) schema.Verdict {
		v := schema.Verdict{Required: true, Outcome: outcome}
		if eval {
			v.Key.Task = "eval"
		}
		return v
	}
	list := []schema.Verdict{of(false, schema.Pass), of(true, schema.Fail), of(false, schema.Inconclusive),
		of(false, schema.NotMeasured), of(false, schema.Pass)}
	want := "1 of 5 required targets are missed, 1 missing, 1 inconclusive, 2 met."
	if got := shortOf(list); got != want {
		t.Errorf("%q", got)
	}
	if first := gradedOf(list)[0]; first.Outcome != schema.Fail || !first.Key.IsEval() {
		t.Errorf("the first row is %+v", first.Verdict)
	}
}

// A row of the list says why its release failed, whatever failed it, and that before anything else.
func TestEveryFailureIsInItsRow(t *testing.T) {
	for _, kind := range gate.FailKinds() {
		b := gate.Basis{Improved: 7, Unchanged: 2, Compared: 9}
		if slices.Contains(ofHistory(), kind) { // what counts numbers
			b.Regressed, b.Inconclusive = 3, 3
		}
		marks := findings([]gate.Tally{{Kind: gate.NoteImproved, N: 7}, {Kind: kind, N: 3, Fails: true}}, b)
		if len(marks) < 2 || marks[0].N != 3 || marks[0].Text == "" {
			t.Errorf("a release that failed by %s has the findings %+v", kind, marks)
		}
	}
	warned := findings([]gate.Tally{{Kind: gate.FailOpen, N: 2}}, gate.Basis{Unchanged: 9, Compared: 9})
	if len(warned) != 2 || warned[0].N != 2 || warned[1].N != 9 {
		t.Errorf("a release with warnings alone has the findings %+v", warned)
	}
}

// What many say alike is one row with their number, in the place of the first; a few stay apart.
func TestFoldEqual(t *testing.T) {
	list := strings.Split("a b a c a b a a a", " ")
	var got []string
	for _, same := range foldEqual(list, func(s *string) string { return *s }) {
		got = append(got, fmt.Sprint(len(same), same[0]))
	}
	if s := strings.Join(got, " "); s != "6a 1b 1c 1b" {
		t.Errorf("folded to %s", s)
	}
}
