package ingest

import (
	"path"
	"regexp"
	"time"
)

// dateName matches a day, and perhaps a time of it, as people and tools write them into names: 2026-03-16_15-33-00,
// 20260316-153300, 2026-03-16T15:33:00.
var dateName = regexp.MustCompile(`(?:^|[^\d])(20\d\d)[-_.]?([01]\d)[-_.]?([0-3]\d)` +
	`(?:[T_ -]+([012]\d)[-:_h.]?([0-5]\d)(?:[-:_m.]?([0-5]\d))?)?(?:[^\d]|$)`)

// dateInName reads when something was measured out of the name of its file, or of the nearest folder that has a date.
// A file's own time says when it was copied, and is not asked.
func dateInName(shown string) (t time.Time, note string, ok bool) {
	for ; shown != "." && shown != "/" && shown != ".." && shown != ""; shown = path.Dir(shown) {
		m := dateName.FindStringSubmatch(path.Base(shown))
		if m == nil {
			continue
		}
		layout, text, note := "20060102", m[1]+m[2]+m[3], "by a name, the day alone"
		if m[4] != "" {
			layout, text, note = layout+"1504", text+m[4]+m[5], "by a name, zone not stated"
		}
		if m[6] != "" {
			layout, text = layout+"05", text+m[6]
		}
		if t, err := time.Parse(layout, text); err == nil {
			return t, note, true
		}
	}
	return time.Time{}, "", false
}
