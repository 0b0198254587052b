package rows

import (
	"time"

	"github.com/ttreport/ttreport/render"
)

// ctrf writes the decision on a release as a test report in the Common Test Report Format 1.0.0 (ctrf-io/ctrf,
// ctrf.schema.json), a test for each case of [render.Cases]. A test takes no time of its own; the report has that of
// the runs.
func ctrf(r *render.Report, release int) ([]Written, error) {
	var start, stop int64
	for _, run := range r.Releases[release].Runs {
		h := &r.Columns.Runs[run]
		if began := millis(h.Start); began > 0 && (start == 0 || began < start) {
			start = began
		}
		stop = max(stop, start, millis(h.End))
	}
	var tests []Object
	counts := map[string]int{}
	review := r.Gate.Review(release, "", "")
	for _, c := range render.Cases(&review, r.Gate.FailsOn(release)) {
		status := "passed"
		switch c.Status {
		case render.CaseFailed:
			status = "failed"
		case render.CaseSkipped:
			status = "skipped"
		}
		counts[status]++
		test := Object{{"name", c.Name}, {"status", status}, {"duration", 0}, {"suite", []string{c.Suite, c.Class}}}
		if status != "passed" {
			test.Some("message", c.Why)
		}
		tests = append(tests, test)
	}
	w, err := document("ctrf-report.json", Object{{"reportFormat", "CTRF"}, {"specVersion", "1.0.0"},
		{"results", Object{
			{"tool", dict{"name": "ttreport"}},
			{"summary", Object{{"tests", len(tests)}, {"passed", counts["passed"]}, {"failed", counts["failed"]},
				{"skipped", counts["skipped"]}, {"pending", 0}, {"other", 0}, {"start", start}, {"stop", stop}}},
			{"tests", tests}, {"environment", dict{"appVersion": r.Releases[release].Name}},
		}}})
	return []Written{w}, err
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
