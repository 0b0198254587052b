package targets

import (
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/validity"
)

// order names what puts a release or its runs into a wrong place of the history, where they are compared with the wrong ones or
// with nothing.
func (j *Judgement) order(release int) []schema.Lint {
	out := append(j.future(release), j.channels(release)...)
	name := j.Releases[release].Name
	if line, cut := j.cutOff(release); cut {
		own := "no line"
		if l := j.Releases[release].Line; l != "" {
			own = "line " + l
		}
		out = append(out, schema.Lint{ID: "release-list", Severity: validity.Severity("release-list"), Release: name, Subject: name, Count: 1, Reason: schema.Reason{Code: "lint-release-list", Args: map[string]string{"line": line, "own": own}}})
	}
	for _, l := range j.Listed {
		if !slices.ContainsFunc(j.Releases, func(r Release) bool { return r.Name == l.Name }) { // a note: it may be planned
			out = append(out, schema.Lint{ID: "release-list", Severity: schema.SevNote, Release: name, Subject: l.Name, Count: 1, Reason: schema.Reason{Code: "lint-release-list", Args: map[string]string{}}})
		}
	}
	return out
}

// cutOff reports whether a release has no predecessor while earlier releases of its channel are all on other lines, which it names.
// A first release of a line that the list or its manifest states is meant to be that.
func (j *Judgement) cutOff(release int) (lines string, cut bool) {
	r := &j.Releases[release]
	if r.Line != "" || j.Before(release) >= 0 {
		return "", false
	}
	var others []string
	for _, o := range j.Releases[:release] {
		if o.Channel == r.Channel && o.Line != "" && !slices.Contains(others, o.Line) {
			others = append(others, o.Line)
		}
	}
	return strings.Join(others, ", "), len(others) > 0
}

// channels names runs of a channel that nobody knows: those of the release, and for the newest release that a gate would take also
// later ones, which it passes over because of that.
func (j *Judgement) channels(release int) []schema.Lint {
	known := []string{schema.ChannelRelease, schema.ChannelMain, schema.ChannelPR, schema.ChannelDev}
	runs := j.counting(release)
	serves := func(r Release) bool { return joins(r.Channel) }
	if serves(j.Releases[release]) && !slices.ContainsFunc(j.Releases[release+1:], serves) {
		for at := release + 1; at < len(j.Releases); at++ {
			runs = append(runs, j.counting(at)...)
		}
	}
	var out []schema.Lint
	for _, run := range runs {
		h := &j.Columns.Runs[run]
		if c := ChannelOf(h); !slices.Contains(known, c) {
			out = append(out, schema.Lint{ID: "channel", Severity: validity.Severity("channel"), Release: j.Releases[release].Name, Run: h.ID, Model: h.Model.Name, Device: h.Device, Subject: h.Release, Count: 1,
				Reason: schema.Reason{Code: "lint-channel", Args: map[string]string{"channel": c, "known": strings.Join(known, ", ")}}})
		}
	}
	return out
}

// future names runs that start after the day of judgement.
func (j *Judgement) future(release int) []schema.Lint {
	var out []schema.Lint
	for _, run := range j.counting(release) {
		h := &j.Columns.Runs[run]
		if j.Policy.Today.IsZero() || h.Start.Before(j.Policy.Today.AddDate(0, 0, 2)) || h.End.Before(h.Start) && !h.End.IsZero() { // a day for other time zones; the second is told already
			continue
		}
		out = append(out, schema.Lint{ID: "clock", Severity: validity.Severity("clock"), Release: j.Releases[release].Name, Run: h.ID, Model: h.Model.Name, Device: h.Device, Count: 1,
			Reason: schema.Reason{Code: "lint-clock", Args: map[string]string{"start": h.Start.UTC().Format(time.DateTime), "end": h.End.UTC().Format(time.DateTime)}}})
	}
	return out
}
