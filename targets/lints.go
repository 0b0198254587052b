package targets

import (
	"slices"
	"strconv"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
	"github.com/ttreport/ttreport/targets/validity"
)

// Lints lists what makes numbers of a release untrustworthy, worst first, with the decisions of people about it.
func (j *Judgement) Lints(release int) []schema.Lint {
	var before []int
	if b := j.Before(release); b >= 0 {
		before = j.Releases[b].Runs
	}
	name := j.Releases[release].Name
	out := validity.Release(j.Columns, name, j.counting(release), before)
	for _, v := range j.impossibleValues(release) {
		out = append(out, schema.Lint{ID: "not-positive", Severity: validity.Severity("not-positive"), Release: name, Run: v.Run, Model: v.Model, Device: v.Device, Subject: v.Key.Workload(), Count: 1,
			Reason: schema.Reason{Code: "lint-not-positive", Args: v.Reason.Args}})
	}
	if n := len(j.Lost); n > 0 {
		out = append(out, schema.Lint{ID: "lost-document", Severity: validity.Severity("lost-document"), Release: name, Subject: j.Lost[0].Path, Count: 1,
			Reason: schema.Reason{Code: "lint-lost-document", Args: map[string]string{"path": j.Lost[0].Path, "found": j.Lost[0].Found, "more": strconv.Itoa(n - 1)}}})
	}
	out = append(out, j.nothingGraded(release)...)
	out = append(append(append(out, j.twice(release)...), j.order(release)...), j.slow(release)...)
	for _, u := range append(j.Policy.Unused(j.Releases, j.Columns.Runs), j.idle(release, out)...) {
		out = append(out, schema.Lint{ID: "unused-decision", Severity: validity.Severity("unused-decision"), Release: name, Subject: u, Count: 1, Reason: schema.Reason{Code: "lint-unused-decision", Args: map[string]string{"what": u}}})
	}
	for i := range out {
		if out[i].Decision == nil {
			out[i].Decision = j.Policy.aboutLint(&out[i])
		}
	}
	return append(out, j.expired(release)...)
}

// earlier reports whether a name is that of an earlier release.
func (j *Judgement) earlier(name string, release int) bool {
	return slices.ContainsFunc(j.Releases[:release], func(r Release) bool { return glob(name, r.Name) })
}

// expired names decisions about this release that no longer hold, whether or not they speak of anything any more, and those about an
// earlier one that bear on this: what is void, pinned, accepted or dismissed there decides what this is compared with. What they held
// back is decided again, or they are removed.
func (j *Judgement) expired(release int) []schema.Lint {
	name := j.Releases[release].Name
	var out []schema.Lint
	for _, d := range j.Policy.Decisions {
		if j.Policy.holds(d) || d.Release != "" && !glob(d.Release, name) && !(d.Kind != Waive && j.earlier(d.Release, release)) {
			continue
		}
		what := d.ID + ": it expired on " + d.Expires
		out = append(out, schema.Lint{ID: "unused-decision", Severity: validity.Severity("unused-decision"), Release: name, Subject: what, Count: 1, Decision: j.Policy.shown(d),
			Reason: schema.Reason{Code: "lint-unused-decision", Args: map[string]string{"what": what}}})
	}
	return out
}

// idle lists decisions about this release by name that match nothing that was found in it.
func (j *Judgement) idle(release int, lints []schema.Lint) []string {
	name := j.Releases[release].Name
	var list []schema.Verdict
	var out []string
	for i := range j.Policy.Decisions {
		d := &j.Policy.Decisions[i]
		if d.Kind != Waive && d.Kind != Accept || d.Release == "" || !glob(d.Release, name) || !j.Policy.holds(*d) {
			continue
		}
		if d.Select.Lint != "" {
			if !slices.ContainsFunc(lints, func(l schema.Lint) bool { return d.speaksOfLint(&l) }) {
				out = append(out, d.ID+": no such lint was found in "+name)
			}
			continue
		}
		if list == nil {
			list = j.all(release)
		}
		if !slices.ContainsFunc(list, func(v schema.Verdict) bool { return d.speaksOf(&v) }) {
			out = append(out, d.ID+": nothing in "+name+" is what it selects")
		}
	}
	return out
}

// all is every verdict of a release.
func (j *Judgement) all(release int) []schema.Verdict {
	list := j.History(release)
	seen := map[[2]string]bool{}
	for _, run := range j.Releases[release].Runs {
		h := &j.Columns.Runs[run]
		if id := [2]string{h.Model.Name, h.Device}; !seen[id] {
			seen[id] = true
			list = append(list, j.Targets(release, id[0], id[1])...)
		}
	}
	return list
}

// counting are the runs of a release that nobody voided.
func (j *Judgement) counting(release int) []int {
	var runs []int
	for _, run := range j.Releases[release].Runs {
		if !j.Policy.void(&j.Columns.Runs[run]) {
			runs = append(runs, run)
		}
	}
	return runs
}

// Before is the release whose history a release continues: the newest earlier one of its sequence; -1 when there is none.
func (j *Judgement) Before(release int) int {
	seqs := sequences(j.Releases)
	for i := release - 1; i >= 0; i-- {
		if joins(j.Releases[i].Channel) && seqs[i] == seqs[release] {
			return i
		}
	}
	return -1
}

// nothingGraded names pairs that were measured and of which no number was graded, by target or history: a gate that says nothing
// of them has not passed them.
func (j *Judgement) nothingGraded(release int) []schema.Lint {
	graded := map[[2]string]bool{}
	for _, i := range j.byCell[release] {
		if w := j.rows.Rows[i].Word; w != regression.NoBaseline && w != regression.NotComparable {
			s := &j.Series[j.cellOf[i]]
			graded[[2]string{s.Model, s.Device}] = true
		}
	}
	for _, v := range j.evals.rows[release] {
		if v.Word != schema.Insufficient && v.Word != schema.NotComparable {
			graded[[2]string{v.Model, v.Device}] = true
		}
	}
	var out []schema.Lint
	for _, run := range j.Releases[release].Runs {
		h := &j.Columns.Runs[run]
		id := [2]string{h.Model.Name, h.Device}
		if graded[id] {
			continue
		}
		graded[id] = true
		some := false
		for _, v := range j.Targets(release, h.Model.Name, h.Device) {
			some = some || v.Word == schema.Pass || v.Word == schema.Fail || v.Word == schema.Inconclusive
		}
		if !some {
			out = append(out, schema.Lint{ID: "nothing-graded", Severity: validity.Severity("nothing-graded"), Release: j.Releases[release].Name, Run: h.ID, Model: h.Model.Name, Device: h.Device, Count: 1,
				Reason: schema.Reason{Code: "lint-nothing-graded", Args: map[string]string{}}})
		}
	}
	return out
}
