package rows

import (
	"time"

	"github.com/ttreport/ttreport/render"
)

// ctrf writes the decision on a release as a test report in the Common Test Report Format 1.0.0 (ctrf-io/ctrf,
// ctrf.schema.json), a test for each case of [render.Cases]. A test takes no time of its own; the report has that of
// the runs.
func ctrf(r *render.Report, release int) ([]Written, error) {
	type (
		test struct {
			Name     string   `json:"name"`
			Status   string   `json:"status"`
			Duration int      `json:"duration"`
			Suite    []string `json:"suite"`
			Message  string   `json:"message,omitempty"`
		}
		summary struct {
			Tests   int   `json:"tests"`
			Passed  int   `json:"passed"`
			Failed  int   `json:"failed"`
			Skipped int   `json:"skipped"`
			Pending int   `json:"pending"`
			Other   int   `json:"other"`
			Start   int64 `json:"start"`
			Stop    int64 `json:"stop"`
		}
	)
	var out struct {
		Format  string `json:"reportFormat"`
		Version string `json:"specVersion"`
		Results struct {
			Tool        map[string]string `json:"tool"`
			Summary     summary           `json:"summary"`
			Tests       []test            `json:"tests"`
			Environment map[string]string `json:"environment"`
		} `json:"results"`
	}
	out.Format, out.Version = "CTRF", "1.0.0"
	out.Results.Tool = map[string]string{"name": "ttreport"}
	out.Results.Environment = map[string]string{"appVersion": r.Releases[release].Name}
	sum := &out.Results.Summary
	for _, run := range r.Releases[release].Runs {
		h := &r.Columns.Runs[run]
		if start := millis(h.Start); start > 0 && (sum.Start == 0 || start < sum.Start) {
			sum.Start = start
		}
		sum.Stop = max(sum.Stop, sum.Start, millis(h.End))
	}
	review := r.Gate.Review(release, "", "")
	for _, c := range render.Cases(&review, r.Gate.FailsOn(release)) {
		t := test{Name: c.Name, Suite: []string{c.Suite, c.Class}, Status: "passed", Message: c.Why}
		switch c.Status {
		case render.CaseFailed:
			t.Status = "failed"
			sum.Failed++
		case render.CaseSkipped:
			t.Status = "skipped"
			sum.Skipped++
		default:
			t.Message = ""
			sum.Passed++
		}
		sum.Tests++
		out.Results.Tests = append(out.Results.Tests, t)
	}
	w, err := document("ctrf-report.json", out)
	return []Written{w}, err
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
