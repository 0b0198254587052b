package ingest

import (
	"path"
	"regexp"
	"strings"

	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/repeat"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// complete removes secrets from every text that will be stored, then fills what follows from what is known: the model's
// name from its id, a start from the file's name, a label where lengths are unknown.
func (r *result) complete() {
	manifest.EachText(&r.facts, name)
	for i := range r.reading.Points {
		cleanPoint(&r.reading.Points[i])
	}
	for i := range r.reading.Scores {
		cleanScore(&r.reading.Scores[i])
	}
	f := &r.facts
	if m := hubFolder.FindStringSubmatch(f.Model.ID); m != nil {
		f.Model.ID = strings.ReplaceAll(m[1], "--", "/")
		r.derive("model.id", "the hub's cache folder in "+r.origin.get("model.id").Where)
	}
	if id := strings.ReplaceAll(f.Model.ID, "___", "."); id != f.Model.ID {
		f.Model.ID = id
		r.derive("model.id", "ModelScope's folder in "+r.origin.get("model.id").Where+", where ___ stands for a point")
	}
	if name := strings.ReplaceAll(f.Model.Name, "___", "."); name != f.Model.Name {
		f.Model.Name = name
	}
	if f.Model.Name == "" && f.Model.ID != "" {
		f.Model.Name = lastPart(f.Model.ID)
		r.derive("model.name", "last part of model.id")
	}
	if f.Start.IsZero() {
		r.startByName()
	}
	if t := f.Start; t.After(tomorrow()) && (len(r.reading.Points) > 0 || len(r.reading.Scores) > 0) {
		r.report(schema.Problem{
			Severity: schema.SevWarning, Path: r.shown(), Code: "future-date",
			Found:    "a start on " + t.Format("2006-01-02") + ", by the " + string(r.origin.get("start").From),
			Expected: "a time that has passed", Used: "the time as stated: the result counts as the newest until then",
			Hint: "set the clock of the machine that measured, and correct the date",
		})
	}
	if r.journal == nil && !r.sidecar {
		r.report(repeat.AddedNames(r.reading.Scores, f.Model.Name)...)
	}
	r.completeWorkloads()
}

// lastPart is the name at the end of a model's id: all of it where that is no path and no hub's name.
func lastPart(id string) string {
	trimmed := strings.TrimRight(id, "/")
	if trimmed == "" || strings.ContainsAny(id, "<>") {
		return id
	}
	return path.Base(trimmed)
}

// startByName takes the start of what nothing else dates from the names of its file and folders.
func (r *result) startByName() {
	if t, note, ok := dateInName(r.shown(), tomorrow(), r.ownNumbers()); ok {
		r.facts.Start, r.facts.StartNote = t, note
		r.origin.set("start", schema.Origin{From: schema.FromPath, Where: r.shown() + " (" + note + ")"})
	}
}

// derive records that a field follows from others.
func (r *result) derive(field, where string) {
	r.origin.set(field, schema.Origin{From: schema.FromDerived, Where: where})
}

// hubFolder matches a path into the hub's cache: …/models--org--name/snapshots/<commit>.
var hubFolder = regexp.MustCompile(`(?:^|/)models--([^/]+)/snapshots/`)

func cleanScore(s *schema.Score) {
	s.Source.Path = redact.Text(s.Source.Path)
	s.Task, s.Metric, s.Filter, s.Version = name(s.Task), name(s.Metric), name(s.Filter), name(s.Version)
	if why := s.Value.Why(); redact.Text(why) != why {
		s.Value = schema.Missing(redact.Text(why))
	}
}

// cleanReasons removes secrets from the reasons of metrics without numbers.
func cleanReasons(p *schema.Point) {
	for metric, m := range p.Metrics {
		if why := redact.Text(m.Why); why != m.Why {
			m.Why = why
			p.Metrics[metric] = m
		}
	}
}

func cleanPoint(p *schema.Point) {
	p.Source.Path = redact.Text(p.Source.Path)
	p.Conditions, p.Client = cleanTexts(p.Conditions), cleanTexts(p.Client)
	k := &p.Key
	k.Dataset, k.Tool, k.Task = name(k.Dataset), name(k.Tool), name(k.Task)
	for dim, v := range k.Dims {
		short := redact.Field(dim, name(v))
		if short == v && len(dim) <= longestName {
			continue
		}
		k.Dims = with(k.Dims, dim, short)
		if len(dim) > longestName {
			delete(k.Dims, dim)
			k.Dims[name(dim)] = short
		}
	}
}

// cleanTexts returns a map without secrets.
func cleanTexts(m map[string]string) map[string]string {
	for k, v := range m {
		if clean := redact.Field(k, name(v)); clean != v {
			m = with(m, k, clean)
		}
	}
	return m
}

// longestName is the most bytes in the name of a model, a task or a dimension.
const longestName = 300

// name returns a name without secrets, short enough for a page.
func name(s string) string {
	if len(s) > longestName {
		s = strings.ToValidUTF8(s[:longestName], "") + "…"
	}
	return redact.Text(s)
}
