package judge

import (
	"cmp"
	"slices"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Release is a label that groups runs, or a build without one.
type Release struct {
	Name  string // the label; of a build, its run's id
	Label bool   // false: a build that nobody released
	Line  string
	// Channel is release, main, pr or dev. Only the first two serve as baselines.
	Channel string
	Date    time.Time // as configured, else the earliest start of its runs
	Runs    []int     // indexes into the columns' runs, by start
}

// Configured is a release as ttreport.yaml lists it.
type Configured struct {
	Name, Line string
	Date       time.Time
}

// Releases orders what was measured, oldest first: listed releases as listed, each other one behind the listed ones
// that are older than it, by the earliest start of their runs; ties by natural order of the names. A run without a
// release is a build of its own. So is a run of channel pr or dev that names a release of another channel: it was built
// on that release and is not part of it.
func Releases(c *columns.Columns, listed []Configured) []Release {
	byName := gatherReleases(c)
	rank := map[string]int{}
	for i, l := range listed {
		if r := byName[l.Name]; r != nil {
			rank[l.Name] = i + 1
			r.Line = cmp.Or(l.Line, r.Line)
			if !l.Date.IsZero() {
				r.Date = l.Date
			}
		}
	}
	out := make([]Release, 0, len(byName))
	for _, r := range byName {
		slices.SortFunc(r.Runs, func(i, j int) int {
			a, b := &c.Runs[i], &c.Runs[j]
			return cmp.Or(byTime(a.Start, b.Start), cmp.Compare(a.ID, b.ID))
		})
		out = append(out, *r)
	}
	slices.SortFunc(out, byAge)
	return asListed(out, rank)
}

// byAge orders releases by date, those of one date by name.
func byAge(a, b Release) int {
	return cmp.Or(byTime(a.Date, b.Date), schema.NaturalCompare(a.Name, b.Name))
}

// byTime puts releases without a time last: at the beginning they would become a baseline unnoticed.
func byTime(a, b time.Time) int {
	if a.IsZero() != b.IsZero() {
		if a.IsZero() {
			return 1
		}
		return -1
	}
	return a.Compare(b)
}

// gatherReleases puts runs under their releases.
func gatherReleases(c *columns.Columns) map[string]*Release {
	byName := map[string]*Release{}
	proper := map[string]bool{}
	for i := range c.Runs {
		if h := &c.Runs[i]; IsBaseline(ChannelOf(h)) {
			proper[h.Release] = true
		}
	}
	for i := range c.Runs {
		h := &c.Runs[i]
		name, label := h.Release, true
		channel := ChannelOf(h)
		if name == "" || !IsBaseline(channel) && proper[name] {
			name, label = h.ID, false
		}
		r := byName[name]
		if r == nil {
			r = &Release{Name: name, Label: label, Line: h.Line, Channel: channel, Date: h.Start}
			byName[name] = r
		}
		if !h.Start.IsZero() && (r.Date.IsZero() || h.Start.Before(r.Date)) {
			r.Date = h.Start
		}
		r.Runs = append(r.Runs, i)
	}
	return byName
}

// asListed puts the listed releases in listed order, and each other one behind the last listed one that is older than
// it. So a date that is wrong or missing moves the release that it is of and no other. Comparing by rank or date in one
// function would not be an order: with v2 and v1 listed and v1.5 dated between them, the comparison is circular.
func asListed(byDate []Release, rank map[string]int) []Release {
	var listed, others []Release
	for _, r := range byDate {
		if rank[r.Name] != 0 {
			listed = append(listed, r)
		} else {
			others = append(others, r)
		}
	}
	slices.SortFunc(listed, func(a, b Release) int { return cmp.Compare(rank[a.Name], rank[b.Name]) })
	out, placed := make([]Release, 0, len(byDate)), 0
	for _, o := range others {
		for i := len(listed); i > placed; i-- {
			if o.Date.IsZero() || byAge(listed[i-1], o) < 0 {
				out, placed = append(out, listed[placed:i]...), i
			}
		}
		out = append(out, o)
	}
	return append(out, listed[placed:]...)
}

// ChannelOf returns a run's channel with its default: release for a run with a release, dev for one without.
func ChannelOf(h *columns.RunHead) string {
	switch {
	case h.Channel != "":
		return h.Channel
	case h.Release != "":
		return schema.ChannelRelease
	}
	return schema.ChannelDev
}

// IsBaseline reports whether a channel's builds serve as baselines.
func IsBaseline(channel string) bool {
	return channel == schema.ChannelRelease || channel == schema.ChannelMain
}

// sequence is a line of releases of one channel, from which a baseline is taken.
type sequence struct{ channel, line string }

// sequences returns the sequence from which each release takes its baseline: its own, or, for a build that never
// serves as one, main's where main has earlier builds of its line, else release's. Later builds do not change the
// sequence of earlier ones.
func sequences(releases []Release) []sequence {
	has := map[sequence]bool{}
	out := make([]sequence, len(releases))
	for i, r := range releases {
		out[i] = sequence{r.Channel, r.Line}
		has[out[i]] = true
		if !IsBaseline(r.Channel) {
			out[i].channel = schema.ChannelMain
			if !has[out[i]] {
				out[i].channel = schema.ChannelRelease
			}
		}
	}
	return out
}
