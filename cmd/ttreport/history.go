package main

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/library"
)

// labels are facts of stored runs by which they are chosen, or that they get.
type labels struct{ run, model, device, release, date, label string }

// has reports that a run has all of the labels that are given; a date may be the beginning of one.
func (l labels) has(r *schema.Run) bool {
	is := func(want, have string) bool { return want == "" || strings.EqualFold(want, have) }
	return is(l.run, r.ID) && is(l.model, cmp.Or(r.Model.Name, "unknown")) && is(l.release, r.Release) &&
		(l.device == "" || schema.SameDevice(l.device, cmp.Or(r.Device.Name, "unknown"))) &&
		(l.date == "" || !r.Start.IsZero() && strings.HasPrefix(r.Start.Format(time.RFC3339), l.date)) &&
		(l.label == "" || slices.ContainsFunc(r.Points, func(p schema.Point) bool {
			return p.Key.Dims[schema.DimLabel] == l.label
		}))
}

// storedRun is a run with the path of its document.
type storedRun struct {
	path string
	run  schema.Run
}

func historyCommand(sh *shell) *cobra.Command {
	var of, to labels
	var write bool
	c := command("history", map[string]any{
		"run": &of.run, "model": &of.model, "device": &of.device, "release": &of.release, "date": &of.date,
		"label": &of.label, "to-model": &to.model, "to-device": &to.device, "to-release": &to.release,
		"to-date": &to.date, "to-label": &to.label, "write": &write, "lock-timeout": &sh.patience,
	}, func(c *cobra.Command, args []string) error {
		if len(args) != 1 || !slices.Contains(c.ValidArgs, args[0]) {
			return fail(exitUsage, "ttreport history list", "history: list, rename, merge or drop is expected")
		}
		verb := args[0]
		if verb != "list" && of == (labels{}) {
			return fail(exitUsage, "ttreport history list shows what there is to choose from",
				"history %s: no flag says which runs: --run, --model, --device, --release, --date or --label", verb)
		}
		if isRename := verb == "rename"; isRename != (to != labels{}) {
			return fail(exitUsage, "ttreport history rename --device A --to-device B",
				"history %s: --to-model, --to-device, --to-release, --to-date and --to-label are of rename, which takes one",
				verb)
		}
		mode := folderlock.Shared
		if write {
			mode = folderlock.Exclusive
		}
		ws, release, err := sh.openLocked(c.Context(), mode)
		if err != nil {
			return err
		}
		defer release()
		lib, _, err := targetLibrary(ws, nil)
		if err != nil {
			return err
		}
		return (&edit{dir: ws.History(), lib: lib, of: of, to: to}).run(sh, verb, write)
	})
	c.ValidArgs = []string{"list", "rename", "merge", "drop"}
	return c
}

// run lists the runs that are chosen, or what they become.
func (e *edit) run(sh *shell, verb string, write bool) error {
	all, chosen, err := chooseRuns(e.dir, e.of)
	if err != nil {
		return err
	}
	switch verb {
	case "list":
		listRuns(sh, chosen)
		return nil
	case "rename":
		err = e.rename(chosen)
	case "merge":
		if len(chosen) < 2 {
			return fail(exitUsage, "ttreport history list", "history merge: the labels choose one run, %s", chosen[0].run.ID)
		}
		err = e.merge(chosen)
	}
	if err == nil {
		err = e.check(all, chosen)
	}
	if err != nil {
		return err
	}
	if verb == "drop" {
		listRuns(sh, chosen)
	} else {
		listRuns(sh, e.now)
	}
	var ids []string // of models, one of each last part: a path to a model is no other model
	seen := map[string]bool{}
	for _, s := range chosen {
		if id := s.run.Model.ID; id != "" && !seen[strings.ToLower(path.Base(id))] {
			seen[strings.ToLower(path.Base(id))], ids = true, append(ids, id)
		}
	}
	if slices.Sort(ids); e.to.model != "" && len(ids) > 1 {
		sh.say("warning: by their files these runs are of several models, which this makes one: %s", strings.Join(ids, ", "))
	}
	if write {
		return e.write(sh, chosen)
	}
	_, err = fmt.Fprintf(sh.out, "%s would become %s; nothing is written without --write\n",
		plaintext.Plural(len(chosen), "run"), plaintext.Plural(len(e.now), "run"))
	return err
}

// chooseRuns reads the documents of a history, and chooses those with some labels. A document that cannot be read is an
// error: what is not seen cannot be chosen.
func chooseRuns(dir string, of labels) (all map[string]bool, chosen []storedRun, err error) {
	all = map[string]bool{}
	problems := history.Each(dir, nil, func(name string, r *schema.Run) {
		all[name] = true
		if of.has(r) {
			chosen = append(chosen, storedRun{name, *r})
		}
	})
	if len(problems) > 0 {
		return nil, nil, fail(exitInput, "restore it from version control, or delete it", "history: %w", problems[0])
	}
	if len(all) == 0 {
		return nil, nil, fail(exitInput, "ttreport ingest PATH", "history: nothing is stored in %s", dir)
	}
	if len(chosen) == 0 {
		return nil, nil, fail(exitInput, "ttreport history list shows what there is",
			"history: no run of %d has these labels", len(all))
	}
	return all, chosen, nil
}

func listRuns(sh *shell, list []storedRun) {
	w := tabwriter.NewWriter(sh.out, 2, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tMODEL\tDEVICE\tRELEASE\tSTART\tPOINTS\tSCORES")
	for _, s := range list {
		start := "-"
		if !s.run.Start.IsZero() {
			start = s.run.Start.Format("2006-01-02 15:04")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%d\n", s.run.ID, cmp.Or(s.run.Model.Name, "unknown"),
			cmp.Or(s.run.Device.Name, "unknown"), cmp.Or(s.run.Release, "-"), start, len(s.run.Points), len(s.run.Scores))
	}
	w.Flush()
}

// edit is a change of stored runs.
type edit struct {
	dir    string
	lib    *library.Library
	of, to labels
	now    []storedRun // what the runs become
}

// state gives a fact of a run another value, and its provenance the value that it had.
func state(r *schema.Run, field string, is *string, to string) {
	if to == "" || *is == to {
		return
	}
	origin := schema.Origin{From: schema.FromFlag, Where: schema.ByHistory, Over: cmp.Or(*is, "not stated") + " before"}
	if r.Provenance == nil {
		r.Provenance = map[string]schema.Origin{}
	}
	r.Provenance[field], *is = origin, to
}

// redate moves a run to a date; when its points were measured is not known then.
func redate(r *schema.Run, to time.Time, stated string) {
	start := ""
	if !r.Start.IsZero() {
		start = r.Start.Format(time.RFC3339)
	}
	state(r, "start", &start, stated)
	r.Start, r.End = to, to.Add(r.End.Sub(r.Start))
	for i := range r.Points {
		r.Points[i].Start, r.Points[i].End = time.Time{}, time.Time{}
	}
}

// rename states other facts of runs: those that flags name.
func (e *edit) rename(chosen []storedRun) error {
	var date time.Time
	if e.to.date != "" {
		var err error
		if date, err = time.Parse(time.DateOnly, e.to.date); err != nil {
			return fail(exitUsage, "--to-date 2026-04-12", "history rename: --to-date %q is not a date", e.to.date)
		}
	}
	for _, s := range chosen {
		r := s.run
		if e.to.device != "" && r.IsSimulated() != schema.SameDevice(e.to.device, schema.Simulated) {
			return fail(exitUsage, "leave it out: --device NAME chooses the runs of one device",
				"history rename: %s is on %s: what was simulated was not measured", r.ID, r.Device.Name)
		}
		was, device := r.Model, r.Device.Name
		state(&r, "model.name", &r.Model.Name, e.to.model)
		if r.Model.Name != was.Name && path.Base(r.Model.ID) != r.Model.Name {
			r.Model.ID = ""
		}
		state(&r, "device.name", &r.Device.Name, e.to.device)
		state(&r, "release", &r.Release, e.to.release)
		if !date.IsZero() {
			redate(&r, date, e.to.date)
		}
		for i := range r.Points {
			if p := &r.Points[i]; e.to.label != "" && p.Key.Dims[schema.DimLabel] == e.of.label {
				p.Key.Dims, p.Stated = maps.Clone(p.Key.Dims), maps.Clone(p.Stated)
				if p.Stated == nil {
					p.Stated = map[string]string{}
				}
				p.Key.Dims[schema.DimLabel], p.Stated[schema.DimLabel] = e.to.label, string(schema.FromFlag)
			}
		}
		if r.Model.Name != was.Name || !schema.SameDevice(device, r.Device.Name) {
			r.Model.Key = e.lib.Key(r.Model.Name)
			r.Targets = e.lib.For(r.Model, r.Device.Name, nil)
		}
		r.Arrange()
		e.now = append(e.now, storedRun{filepath.ToSlash(filepath.Join(e.dir, history.PathOf(&r))), r})
	}
	return nil
}

// merge makes one run of several of one model, device and release: that which began first.
func (e *edit) merge(chosen []storedRun) error {
	list := slices.Clone(chosen)
	slices.SortStableFunc(list, func(a, b storedRun) int { return a.run.Start.Compare(b.run.Start) })
	one := list[0].run
	var ids []string
	for _, s := range list[1:] {
		r := s.run
		if r.Model.Name != one.Model.Name || !schema.SameDevice(r.Device.Name, one.Device.Name) || r.Release != one.Release {
			return fail(exitUsage, "rename them first, so that all are of one: ttreport help history",
				"history merge: %s is of %s on %s, %s, and %s of %s on %s, %s", one.ID, one.Model.Name, one.Device.Name,
				cmp.Or(one.Release, "no release"), r.ID, r.Model.Name, r.Device.Name, cmp.Or(r.Release, "no release"))
		}
		heads := columns.NewBuilder()
		heads.Add(&one, "", "")
		heads.Add(&r, "", "")
		if a, b := judge.Apart(&heads.C.Runs[0], &heads.C.Runs[1]); a != "" {
			return fail(exitUsage, "choose runs of one of them with --run, or leave them apart",
				"history merge: %s is of %s, and %s of %s: the numbers of one would stand as the other's", one.ID, a, r.ID, b)
		}
		ids = append(ids, r.ID)
		one = history.Merge(r, one)
	}
	if len(ids) > 0 {
		if one.Provenance == nil {
			one.Provenance = map[string]schema.Origin{}
		}
		one.Provenance["id"] = schema.Origin{
			From: schema.FromFlag, Where: schema.ByHistory, Over: "merged with " + strings.Join(ids, ", "),
		}
	}
	e.now = []storedRun{{filepath.ToSlash(filepath.Join(e.dir, history.PathOf(&one))), one}}
	return nil
}

// check refuses a change after which two runs would have one document.
func (e *edit) check(all map[string]bool, chosen []storedRun) error {
	for _, s := range chosen {
		delete(all, s.path)
	}
	for _, s := range e.now {
		if all[s.path] {
			return fail(exitUsage, "merge the two, or drop one of them", "history: %s exists", s.path)
		}
		all[s.path] = true
	}
	return nil
}

// write writes the runs, each as a whole, and deletes the documents that they leave.
func (e *edit) write(sh *shell, chosen []storedRun) error {
	stays := map[string]bool{}
	for i := range e.now {
		stays[e.now[i].path] = true
		if _, err := history.Replace(e.dir, e.now[i].run); err != nil {
			return fail(exitInput, "see the permissions of history/ and the space of the disk", "history: %w", err)
		}
	}
	for _, s := range chosen {
		if !stays[s.path] {
			if err := history.Remove(e.dir, filepath.FromSlash(s.path)); err != nil {
				return fail(exitInput, "delete it: what it had is in another document", "history: %w", err)
			}
		}
	}
	after := ""
	if len(e.now) == 0 {
		after = "Their files are as they were: reading them again stores them again.\n"
	}
	_, err := fmt.Fprintf(sh.out, "%s became %s\n%s", plaintext.Plural(len(chosen), "run"),
		plaintext.Plural(len(e.now), "run"), after)
	return err
}
