package judge

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// beside states what else differs between the run behind a change and the first run of the baseline's newest release
// that has the series, and the digest or the commits that both share. A fact that one side does not state differs from
// nothing. A pull request changes the build, so that its results state the build of the baseline settles nothing.
func (j *reader) beside(why *schema.Change, s *Series, run string, release int) {
	now := slices.IndexFunc(j.runs[s.System()], func(i int) bool { return j.Columns.Runs[i].ID == run })
	then := j.systems[release]()[s.System()]
	if now < 0 || len(then) == 0 {
		return
	}
	before, p := j.pointWith(then, s.KeyIndex, false)
	if before < 0 {
		before = then[0]
	}
	a, b := &j.Columns.Runs[before], &j.Columns.Runs[j.runs[s.System()][now]]
	facts := func(h *columns.RunHead) map[string]string {
		out := map[string]string{"firmware": h.Firmware, "mesh": h.Mesh}
		for _, name := range []string{"host", "accelerators", "driver", "cpu", "kernel", "governor"} {
			out[name] = h.Setting[name]
		}
		return out
	}
	out := differences(facts(a), facts(b))
	if _, q := j.pointWith(j.runs[s.System()][now:now+1], s.KeyIndex, false); p > 0 && q > 0 {
		of := func(h *columns.RunHead, point int) columns.Conditions {
			return j.Columns.Conds[j.Columns.Points[h.FirstPoint+point-1].Cond]
		}
		out = append(differences(of(a, p), of(b, q)), out...)
	}
	build := differences(buildOf(a), buildOf(b))
	switch digest, commits := shared(a, b); {
	case len(build) > 0:
	case digest == "":
		why.SameCommit = commits
	case ChannelOf(b) == schema.ChannelPR: // its files come from those who made the change
		why.StatedBuild = digest
	default:
		why.SameBuild = digest
	}
	why.Differs, why.Build = strings.Join(out, ", "), strings.Join(build, ", ")
}

// ElseChanged is what else differs between a release and what a series is compared with there, in a change that may
// have shown itself only later: the verdict of that time does not say it.
func (j *Judgement) ElseChanged(release int, s *Series) (why schema.Change) {
	obs := s.find(release)
	if obs < 0 {
		return why
	}
	r := j.reader(release)
	if base := j.baseline(s.cell, obs); base >= 0 {
		run := j.runWith(r.runs[s.System()], s.KeyIndex, j.rows.Rows[obs].Why == schema.WhyRecheck)
		r.beside(&why, s, run, int(j.table.Obs[base].Release))
	}
	return why
}

// buildOf is what identifies the software of a run.
func buildOf(h *columns.RunHead) map[string]string {
	out := map[string]string{
		"engine": h.Engine, "version": h.Version, "image": h.Image, "digest": short(digestOf(h)),
		"server": h.Setting["server"], // its command line: other flags are another build
	}
	for name, commit := range h.Commits {
		out["commit "+name] = short(commit)
	}
	if digestOf(h) != "" {
		delete(out, "image") // a tag may move, the digest does not
	}
	return out
}

// digestOf is the digest of the image of a run, which may be stated with its name: "vllm@sha256:…".
func digestOf(h *columns.RunHead) string {
	_, pinned, _ := strings.Cut(h.Image, "@")
	return cmp.Or(h.Digest, pinned)
}

// shared names what two runs were built from: the digest of an image, which holds all of the software, and the commits,
// which say nothing of what those were built with. Both are "" where the software was changed without a commit.
func shared(a, b *columns.RunHead) (digest, commits string) {
	if a.Dirty || b.Dirty {
		return "", ""
	}
	if d := digestOf(a); d != "" && d == digestOf(b) {
		digest = "digest " + short(d)
	}
	if !maps.Equal(a.Commits, b.Commits) {
		return digest, ""
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(a.Commits)) {
		if name != schema.ModelCommit && a.Commits[name] != "" {
			out = append(out, "commit "+name+" "+short(a.Commits[name]))
		}
	}
	return digest, strings.Join(out, ", ")
}

// differences lists what both sides state differently, by name: "image a → b".
func differences(a, b map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if x, y := a[name], b[name]; x != "" && y != "" && x != y {
			out = append(out, name+" "+x+" → "+y)
		}
	}
	return out
}

// short cuts a digest or commit to what people compare.
func short(id string) string {
	id = strings.TrimPrefix(id, "sha256:")
	const digits = 12
	hex := strings.IndexFunc(id, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) }) < 0
	if hex && len(id) > digits {
		return id[:digits]
	}
	return id
}
