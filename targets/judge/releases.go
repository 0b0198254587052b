package judge

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Release is a label that groups runs, or a build without one.
type Release struct {
	Name  string // the label; of a build, the id of its first run
	Label bool   // false: a build that nobody released
	Line  string
	// Channel is release, main, pr or dev. Only the first two serve as baselines.
	Channel string
	Date    time.Time // as configured, else the earliest start of its runs
	first   string    // of a build that nothing dates: the first of its files
	Runs    []int     // indexes into the columns' runs, by start
	// Aside is a hotfix of an older line, or a candidate of a release: it is judged, and is no baseline of later ones.
	Aside bool
	Final string // the release that this is a candidate of, or the name of one that may have candidates
}

// Serves reports whether later releases are compared with a release.
func (r *Release) Serves() bool { return IsBaseline(r.Channel) && !r.Aside }

// Configured is a release as ttreport.yaml lists it.
type Configured struct {
	Name, Line string
	Date       time.Time
}

// Releases orders what was measured, oldest first: listed releases as listed, each other one behind the listed ones
// that are older than it, by the earliest start of their runs; ties by natural order of the names. Runs without a
// release are builds: those of one night, or of one folder where nothing dates them, are one, under the id of the
// first. A run of channel pr or dev that names a
// release of another channel is a build, too: it was built on that release and is not part of it.
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
		slices.SortFunc(r.Runs, byStart(c))
		out = append(out, *r)
	}
	slices.SortFunc(out, byAge)
	out = asListed(out, rank)
	candidates(out)
	return hotfixes(out, rank)
}

// candidate is the name of a candidate of a release, v0.5.0-rc1, with that release's.
var candidate = lazyregexp.New(`(?i)^(.*\d)[-_.]?(?:rc|alpha|beta|pre)[-_.]?\d*$`)

// candidates marks candidates of releases, where enough final releases came before them to compare them with: a history
// of candidates alone is one of releases.
func candidates(list []Release) {
	const enough = 3
	finals := map[sequence]int{}
	for i := range list {
		r := &list[i]
		seq := sequence{r.Channel, r.Line}
		switch of := candidate.FindStringSubmatch(r.Name); {
		case !r.Label || !IsBaseline(r.Channel):
		case of == nil:
			finals[seq]++
			r.Final = r.Name
		case finals[seq] >= enough:
			r.Aside, r.Final = true, of[1]
		}
	}
}

// version parts the name of a version with three numbers or more, v0.5.1, before its last number.
var version = lazyregexp.New(`^(\D*\d+\.\d+[\d.]*\.)\d+$`)

// hotfixes puts a release that follows later versions and continues an older one, v0.5.1 after v0.7.0, behind that one.
// What ttreport.yaml lists stays where it is.
func hotfixes(list []Release, rank map[string]int) []Release {
	lines := map[string]string{} // of versions, by name
	for i := range list {
		if m := version.FindStringSubmatch(list[i].Name); m != nil {
			lines[list[i].Name] = m[1]
		}
	}
	out := make([]Release, 0, len(list))
	for _, r := range list {
		at := len(out)
		if lines[r.Name] != "" && rank[r.Name] == 0 && !r.Date.IsZero() {
			if i := continued(out, &r, lines); i >= 0 {
				at, r.Aside, r.Final = i+1, true, "" // none of its candidates stands before it
			}
		}
		out = slices.Insert(out, at, r)
	}
	return out
}

// continued is the newest release of the line of versions of another one, which comes after it and after later
// versions; -1 for none.
func continued(list []Release, r *Release, lines map[string]string) int {
	isLater := false
	for i := len(list) - 1; i >= 0; i-- {
		o := &list[i]
		switch {
		case lines[o.Name] == "" || o.Channel != r.Channel || o.Line != r.Line:
		case lines[o.Name] != lines[r.Name]:
			isLater = isLater || schema.NaturalCompare(o.Name, r.Name) > 0
		case isLater && schema.NaturalCompare(o.Name, r.Name) < 0:
			return i
		default:
			return -1
		}
	}
	return -1
}

// Arrived is a release, or one that was measured after it and stands before it: a hotfix of an older line.
func Arrived(list []Release, at int, of func(*Release) bool) int {
	for i := range max(at, 0) {
		if r := &list[i]; r.Aside && r.Date.After(list[at].Date) && of(r) {
			at = i
		}
	}
	return at
}

// byAge orders releases by date, those of one date by name; builds that nothing dates by their files.
func byAge(a, b Release) int {
	return cmp.Or(byTime(a.Date, b.Date), schema.NaturalCompare(a.first, b.first), schema.NaturalCompare(a.Name, b.Name))
}

// byTime puts releases without a time last: at the beginning they would become a baseline unnoticed.
func byTime(a, b time.Time) int {
	if a.IsZero() != b.IsZero() {
		return b.Compare(a)
	}
	return a.Compare(b)
}

// byStart orders runs by their start, then by their id.
func byStart(c *columns.Columns) func(i, j int) int {
	return func(i, j int) int {
		a, b := &c.Runs[i], &c.Runs[j]
		return cmp.Or(byTime(a.Start, b.Start), cmp.Compare(a.ID, b.ID))
	}
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
	nightOf := nights(c)
	for i := range c.Runs {
		h := &c.Runs[i]
		name, label := h.Release, true
		channel := ChannelOf(h)
		if name == "" || !IsBaseline(channel) && proper[name] {
			name, label = cmp.Or(nightOf[i], h.ID), false
		}
		r := byName[name]
		if r == nil {
			r = &Release{Name: name, Label: label, Line: h.Line, Channel: channel, Date: h.Start}
			byName[name] = r
		}
		if !label && (r.first == "" || schema.NaturalCompare(h.First, r.first) < 0) {
			r.first = h.First
		}
		if !h.Start.IsZero() && (r.Date.IsZero() || h.Start.Before(r.Date)) {
			r.Date = h.Start
		}
		r.Runs = append(r.Runs, i)
	}
	return byName
}

// Bounds of a night: no pause within it is longer, and it is no longer in all.
const (
	nightPause = 6 * time.Hour
	nightAll   = 24 * time.Hour
)

// night is a build while its runs are found.
type night struct {
	first, last time.Time
	name        string                                // the id of its first run
	measured    map[schema.System][]map[string]string // what was stated of each
	engines     map[[2]string]*columns.RunHead        // by device and name: a run with the version that it has
}

func newNight(h *columns.RunHead) *night {
	return &night{first: h.Start, name: h.ID, measured: map[schema.System][]map[string]string{},
		engines: map[[2]string]*columns.RunHead{}}
}

// has reports that a later run is of the night: after no long pause, of another model, device, implementation or setup
// than the night has, and of no other version of an engine on a device.
func (n *night) has(h *columns.RunHead) bool {
	if n == nil || h.Start.Sub(n.last) > nightPause || h.Start.Sub(n.first) > nightAll {
		return false
	}
	own := statedBy(h)
	isLike := func(states map[string]string) bool { return inCommon(states, own) >= 0 }
	if slices.ContainsFunc(n.measured[foldedSystem(h)], isLike) {
		return false
	}
	e := n.engines[[2]string{schema.FoldDevice(h.Device), h.Engine}]
	return e == nil || e.Version == h.Version && e.Image == h.Image && maps.Equal(e.Commits, h.Commits)
}

// statedBy is what a run states of its setup; what its folder says is known when builds are.
func statedBy(h *columns.RunHead) map[string]string {
	states := statesOf(h)
	delete(states, "folder")
	return states
}

func foldedSystem(h *columns.RunHead) schema.System {
	return schema.System{Model: h.Model.Name, Device: schema.FoldDevice(h.Device), Impl: h.Impl}
}

func (n *night) add(h *columns.RunHead) {
	id := foldedSystem(h)
	n.measured[id] = append(n.measured[id], statedBy(h))
	n.engines[[2]string{id.Device, h.Engine}] = h
	for _, t := range []time.Time{h.Start, h.End} {
		if t.After(n.last) {
			n.last = t
		}
	}
}

// nights finds the runs without a release that are one build: of one night, channel and line. It returns by run the
// name of its build. Measurements in turns stand by themselves.
func nights(c *columns.Columns) map[int]string {
	var order, undated []int
	for i := range c.Runs {
		switch h := &c.Runs[i]; {
		case h.Release != "" || !h.Interleaved.IsZero():
		case !h.Start.IsZero():
			order = append(order, i)
		case h.First != "":
			undated = append(undated, i)
		}
	}
	slices.SortFunc(order, byStart(c))
	out, newest := map[int]string{}, map[sequence]*night{}
	for _, i := range order {
		h := &c.Runs[i]
		seq := sequence{ChannelOf(h), h.Line}
		n := newest[seq]
		if !n.has(h) {
			n = newNight(h)
			newest[seq] = n
		}
		n.add(h)
		out[i] = n.name
	}
	folders(c, undated, out)
	return out
}

// folders adds runs that nothing dates: those of one folder are one build, and a system that is there twice is of two;
// but for a folder that was filled again.
func folders(c *columns.Columns, undated []int, out map[int]string) {
	type folder struct {
		sequence
		path string
	}
	slices.SortFunc(undated, func(i, j int) int {
		a, b := &c.Runs[i], &c.Runs[j]
		return cmp.Or(schema.NaturalCompare(a.First, b.First), cmp.Compare(a.ID, b.ID))
	})
	type measured struct {
		file string
		schema.System
	}
	seen, again := map[measured]bool{}, map[string]bool{} // by folder: of which night a file is, nobody knows
	for _, i := range undated {
		m := measured{c.Runs[i].First, foldedSystem(&c.Runs[i])}
		again[path.Dir(m.file)] = again[path.Dir(m.file)] || seen[m]
		seen[m] = true
	}
	builds := map[folder][]*night{}
	for _, i := range undated {
		h := &c.Runs[i]
		of := folder{sequence{ChannelOf(h), h.Line}, path.Dir(h.First)}
		if again[of.path] {
			continue
		}
		at := slices.IndexFunc(builds[of], func(n *night) bool { return n.has(h) })
		if at < 0 {
			at = len(builds[of])
			builds[of] = append(builds[of], newNight(h))
		}
		builds[of][at].add(h)
		out[i] = builds[of][at].name
	}
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

func hostOf(h *columns.RunHead) string { return h.Setting["host"] }

// hostOfRun is the host of a run; "" where it is not stated.
func (j *Judgement) hostOfRun(id string) string {
	for i := range j.Columns.Runs {
		if h := &j.Columns.Runs[i]; h.ID == id {
			return hostOf(h)
		}
	}
	return ""
}
