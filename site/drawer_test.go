package site_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

const drawerText = `(document.querySelector(".drawer") || { textContent: "" }).textContent`

// An address of a number opens what is behind it, on any page; links to numbers open it in place; Escape closes it, and
// the focus is where it was.
func TestDrawer(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	for _, page := range []string{"index.html", "releases/v0.12.0/index.html", "about/index.html", "runs/index.html"} {
		b.goTo(t, filepath.Join(dir, page)+"#run-3-0/p1/ttft")
		until(t, b, "the drawer is there on "+page, drawerText+`.indexOf("Raw file") > 0`)
		got := eval[string](t, b, drawerText)
		for _, want := range []string{"TTFT at 128/128/1", "Tiny-1B on n150", "v0.12.0", "Verdict", "Repeats", "Statistics",
			"SHA-256", "Provenance", "limit 5", "By time", "Queue", "110 to 140\u202fms", "Over 6.00\u202fs"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the drawer says nothing of %s: %s", page, want, got)
			}
		}
	}
	b.goTo(t, filepath.Join(dir, "releases/v0.12.0/index.html"))
	const link = `[...document.querySelectorAll("main td a[href*='/p'][href*='runs/']")].find(a => !a.closest("details"))`
	if !eval[bool](t, b, `!!`+link) {
		t.Fatal("no number of the release is a link")
	}
	eval[bool](t, b, `(`+link+`.focus(), `+link+`.click(), true)`)
	until(t, b, "a link opens the drawer in place", drawerText+`.indexOf("Raw file") > 0`)
	if at := eval[string](t, b, `location.pathname`); !strings.HasSuffix(at, "releases/v0.12.0/index.html") {
		t.Errorf("the page is %s", at)
	}
	if !eval[bool](t, b, `document.activeElement === document.querySelector(".drawer")`) {
		t.Error("the focus is not in the drawer")
	}
	eval[bool](t, b, `(document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" })), true)`)
	until(t, b, "Escape closes it", `document.querySelector(".drawer") === null && location.hash === ""`)
	if !eval[bool](t, b, `document.activeElement === `+link) {
		t.Error("the focus did not return")
	}
	eval[bool](t, b, `(location.hash = "#run-3-0/p1/%E0%A4", true)`) // no address, and no error
	for _, hash := range []string{
		"#nobody/p1/ttft", "#run-3-0/p99/ttft", "#run-3-0/p1/nothing", "#constructor/p1/x", "#run-3-0/p1/ttft/p98",
	} {
		eval[bool](t, b, fmt.Sprintf(`(location.hash = %q, true)`, hash))
		until(t, b, "the drawer says that there is none at "+hash, drawerText+`.indexOf("No such number") >= 0`)
	}
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(390, 800)); err != nil {
		t.Fatal(err)
	}
	eval[bool](t, b, `(location.hash = "#run-3-0/p1/ttft", true)`)
	until(t, b, "the drawer on a phone", drawerText+`.indexOf("Raw file") > 0`)
	b.sideways(t, "the drawer")
	if w := eval[float64](t, b, `document.querySelector(".drawer").scrollWidth - innerWidth`); w > 0 {
		t.Errorf("the drawer is %g px wider than a phone", w)
	}
	b.quiet(t)
}

// Close leaves the drawer, however many numbers were opened in it.
func TestDrawerCloses(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, "releases/v0.12.0/index.html"))
	const links = `[...document.querySelectorAll("main td a[href*='/p'][href*='runs/']")]`
	for _, at := range []string{"0", "1"} {
		eval[bool](t, b, fmt.Sprintf(`(%s[%s].click(), true)`, links, at))
		until(t, b, "the drawer has number "+at, fmt.Sprintf(`location.hash === %s[%s].hash && `, links, at)+
			drawerText+`.indexOf("Raw file") > 0`)
	}
	eval[bool](t, b, `(document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" })), true)`)
	until(t, b, "Escape closes it", `document.querySelector(".drawer") === null && location.hash === ""`)
	b.quiet(t)
}

// The drawer's arithmetic is the judge's: of every number of every release, the change, the baseline and the interval
// that the table of the release gives are those of the verdict.
func TestNumbersOfARelease(t *testing.T) {
	runs, in := fixture("Tiny-1B", "n150")
	r := render.New(in)
	tested := 0
	for release := range r.Releases {
		table := r.ReleaseSeries(release)
		found := r.Gate.Findings(release)
		for i := range table.Value {
			run, point := string(table.Runs[table.Run[i]]), table.Point[i]
			if table.Metrics[table.Metric[i]].Score != "" {
				continue // TestScoresAreNumbers
			}
			metric, where := table.Metrics[table.Metric[i]].Name, table.Workloads[table.Workload[i]]
			if strings.TrimSpace(words.Workload(pointOf(t, runs, run, point).Key)) != where {
				t.Errorf("%s: %s is at %s/p%d, which is another workload", r.Releases[release].Name, where, run, point)
			}
			for _, v := range found.History {
				if render.RunName(v.Run) == run && v.Metric == metric && v.Stat != "p99" &&
					v.Key.String() == pointOf(t, runs, run, point).Key.String() {
					tested++
					sameCalculation(t, &table, i, &v)
				}
			}
		}
	}
	if tested < 20 {
		t.Errorf("only %d numbers were compared", tested)
	}
}

func pointOf(t *testing.T, runs []schema.Run, name string, point int) schema.Point {
	t.Helper()
	for i := range runs {
		if render.RunName(runs[i].ID) == name && point >= 1 && point <= len(runs[i].Points) {
			return runs[i].Points[point-1]
		}
	}
	t.Fatalf("no point %d in %s", point, name)
	return schema.Point{}
}

// sameCalculation compares the columns of a number with its verdict.
func sameCalculation(t *testing.T, table *render.SeriesTable, i int, v *schema.Verdict) {
	t.Helper()
	ref, ok := v.Ref.Get()
	if ok != (table.Change[i] != nil) {
		t.Errorf("%s: baseline %v, change %v", v.ID, v.Ref, table.Change[i])
	}
	if !ok {
		return
	}
	c := *table.Change[i]
	got, stated := table.Ref[i]
	if !stated {
		got = table.Value[i] / (1 + c)
	}
	if d := got/ref - 1; d > 1e-5 || d < -1e-5 {
		t.Errorf("%s %s: the baseline is %g in the table, %g in the verdict", v.Release, v.Metric, got, ref)
	}
	if (v.Interval != nil) != (table.Half[i] != nil) {
		t.Fatalf("%s %s: interval %v, half %v", v.Release, v.Metric, v.Interval, table.Half[i])
	}
	if v.Interval == nil {
		return
	}
	lo, hi := ends(c, float64(*table.Half[i])/1e4)
	want := *v.Interval
	if judge.Higher(v.Metric) {
		want = [2]float64{-want[1], -want[0]}
	}
	if lo-want[0] > 2e-3 || want[0]-lo > 2e-3 || hi-want[1] > 2e-3 || want[1]-hi > 2e-3 {
		t.Errorf("%s %s: %g to %g in the table, %v in the verdict", v.Release, v.Metric, lo, hi, want)
	}
}

// ends are those of an interval, as drawer.js computes them.
func ends(change, half float64) (lo, hi float64) {
	d := math.Log1p(change)
	return math.Expm1(d - half), math.Expm1(d + half)
}
