package nmvllm

import (
	"slices"
	"time"

	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// builds names what was measured of a commit: a build on the main branch. It has the day in UTC on which its first
// measurement was published, so that jobs that run past midnight are one build, and no build has a day before its
// commit.
type builds map[string][]time.Time // when the builds of each commit began, in order

// oneBuild is how long measurements belong to the build that the first of them began.
const oneBuild = 12 * time.Hour

func buildsOf(suites decode.Value) builds {
	b := builds{}
	for _, suite := range suites.Members() {
		for entry := range suite.Val.Items() {
			if when, ok := dateOf(entry); ok {
				commit := entry.At("commit", "id").Str()
				b[commit] = append(b[commit], when)
			}
		}
	}
	for commit, dates := range b {
		slices.SortFunc(dates, time.Time.Compare)
		begun := dates[:0]
		for _, when := range dates {
			if len(begun) == 0 || when.Sub(begun[len(begun)-1]) >= oneBuild {
				begun = append(begun, when)
			}
		}
		b[commit] = begun
	}
	return b
}

// name is the name of the build of a commit to which a date belongs. What states no commit has the day alone.
func (b builds) name(when time.Time, commit string) string {
	if commit == "" {
		return when.Format(time.DateOnly)
	}
	for _, begun := range b[commit] {
		if !begun.After(when) && when.Sub(begun) < oneBuild {
			when = begun
			break
		}
	}
	name := when.Format(time.DateOnly)
	if len(commit) >= 7 {
		name += " " + commit[:7]
	}
	return name
}

// dateOf is when an entry was published, to the second.
func dateOf(entry decode.Value) (when time.Time, ok bool) {
	ms, ok := entry.Get("date").Float()
	if !ok || ms <= 1e11 || ms >= 1e14 {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(ms)).UTC().Truncate(time.Second), true
}
