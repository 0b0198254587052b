package ingest

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/repeat"
)

// dateName matches a day, and perhaps a time of it, as people and tools write them into names: 2026-03-16_15-33-00,
// 20260316-153300, 2026-03-16T15:33:00.
var dateName = regexp.MustCompile(`(?:^|[^\d])(` + repeat.Day + `)` +
	`(?:[T_ -]+([012]\d)[-:_h.]?([0-5]\d)(?:[-:_m.]?([0-5]\d))?)?(?:[^\d]|$)`)

// dateInName reads when something was measured out of the name of its file, or of the nearest folder that has a date.
// A file's own time says when it was copied, and is not asked. What lies after the latest time is no date,
// nor is what begins with a number of the result itself, such as its ISL.
func dateInName(shown string, latest time.Time, own map[int]bool) (t time.Time, note string, ok bool) {
	for ; shown != "." && shown != "/" && shown != ".." && shown != ""; shown = path.Dir(shown) {
		m := dateName.FindStringSubmatch(path.Base(shown))
		if m == nil {
			continue
		}
		day := strings.NewReplacer("-", "", "_", "", ".", "").Replace(m[1])
		layout, text, note := "20060102", day, "by a name, the day alone"
		if m[2] != "" {
			layout, text, note = layout+"1504", text+m[2]+m[3], "by a name, zone not stated"
		}
		if m[4] != "" {
			layout, text = layout+"05", text+m[4]
		}
		t, err := time.Parse(layout, text)
		if err == nil && t.Before(latest) && !(own[t.Year()] && len(m[1]) > len(day)) {
			return t, note, true
		}
	}
	return time.Time{}, "", false
}

// ownNumbers are the numbers of a result's workloads that people write into names: lengths, loads and requests.
func (r *result) ownNumbers() map[int]bool {
	out := map[int]bool{}
	for i := range r.reading.Points {
		p := &r.reading.Points[i]
		for _, x := range []*float64{p.Key.ISL, p.Key.OSL, p.Key.Concurrency} {
			if x != nil {
				out[int(*x)] = true
			}
		}
		for _, metric := range []string{"isl", "osl"} {
			if x, ok := p.Value(metric, "mean"); ok {
				out[int(x)] = true
			}
		}
		if n, err := strconv.Atoi(p.Conditions["num_prompts"]); err == nil {
			out[n] = true
		}
	}
	return out
}

// tomorrow is the latest time that a name can state: clocks of other zones are up to a day ahead.
func tomorrow() time.Time { return time.Now().Add(24 * time.Hour) }
