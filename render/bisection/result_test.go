package bisection_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/render/bisection"
)

func result() *bisection.Result {
	return &bisection.Result{
		Title: "TTFT of m on d", Good: "v1", From: 1, To: 1, P: .991, Decided: true, Effect: .05, Noise: .01, Measurements: 7,
		Builds: []bisection.Build{
			{Name: "a1", Subject: "harmless | change", Bad: .01, Changes: []float64{.001}},
			{Name: "b2", Subject: "<script>alert(1)</script>", First: .991, Bad: .99, Changes: []float64{.05, .048}},
			{Name: "c3", Skipped: "it does not build"},
			{Name: "d4", First: .001, Bad: 1},
		},
		Command: "ttreport bisect",
	}
}

// The answer is in the first lines, builds without evidence are left out of the issue, and names of commits are no
// markup.
func TestReport(t *testing.T) {
	r := result()
	md := string(bisection.Markdown(r))
	for _, want := range []string{
		"# Bisection: TTFT of m on d\n\n**b2 (&lt;script>alert(1)&lt;/script>) is the first bad build", "99.1",
		"7 measurements",
		`| a1 (harmless \| change) | +0.1`, "| c3 | skipped: it does not build |", "████",
	} {
		if !strings.Contains(md, want) {
			t.Errorf("no %q in\n%s", want, md)
		}
	}
	if strings.Contains(md, "d4") || strings.Contains(md, "<script") {
		t.Errorf("%s", md)
	}
	page, err := bisection.Page(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "<circle", "&lt;script&gt;", "d4"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if strings.Contains(string(page), "<script") {
		t.Error("a commit's subject is markup")
	}
}

func TestHeadline(t *testing.T) {
	for _, c := range []struct {
		change func(r *bisection.Result)
		want   string
	}{
		{func(*bisection.Result) {}, "is the first bad build (probability 99.1"},
		{func(r *bisection.Result) { r.To = 2 }, "between which none could be measured"},
		{func(r *bisection.Result) { r.None = true }, "v1 and d4 do not differ"},
		{func(r *bisection.Result) { r.Decided, r.Why = false, "the budget is used up" },
			"Not decided: the budget is used up."},
		{func(r *bisection.Result) { r.None, r.Decided, r.Why = true, false, "x" }, "is not known yet"},
	} {
		r := result()
		c.change(r)
		if got := r.Headline(); !strings.Contains(got, c.want) || !strings.HasSuffix(got, ".") {
			t.Errorf("%q has no %q", got, c.want)
		}
	}
}
