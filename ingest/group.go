package ingest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
)

// longestPause is how long a run may pause before what follows is another run.
const longestPause = 6 * time.Hour

// system identifies the measured system in a comparable form.
type system struct{ modelID, model, impl, device, mesh, engine string }

func systemOf(f *schema.Facts) system {
	device := schema.FoldDevice(f.Device.Name)
	return system{f.Model.ID, f.Model.Name, f.Impl, device, f.Device.Mesh, f.Stack.Engine}
}

// build identifies the measured software.
type build struct {
	commits                         string // sorted, as name=commit
	release, version, digest, image string
}

func buildOf(f *schema.Facts) build {
	var commits []string
	for name, c := range f.Stack.Commits {
		commits = append(commits, name+"="+c)
	}
	slices.Sort(commits)
	return build{strings.Join(commits, idSeparator), f.Release, f.Stack.Version, f.Stack.Digest, f.Stack.Image}
}

// bucket is what results of one run have in common: their stated id, else folder, system and build.
type bucket struct {
	id, folder string
	system     system
	build      build
}

// bucketOf also sets the run folder of a result that has none yet.
func bucketOf(r *result) bucket {
	if r.facts.RunID != "" {
		return bucket{id: r.facts.RunID, folder: r.runFolder}
	}
	if r.runFolder == "" {
		r.runFolder = folderOfRun(r.source)
	}
	return bucket{folder: r.runFolder, system: systemOf(&r.facts), build: buildOf(&r.facts)}
}

// served divides a bucket without a stated id by precision and number of accelerators, where results state several:
// rows of one file at fp8 and at fp4 would be repeats of one point. Results that state neither stay with the first.
func served(results []*result) [][]*result {
	type as struct {
		precision string
		chips     int
	}
	var order []as
	parts := map[as][]*result{}
	var silent []*result
	for _, r := range results {
		key := as{strings.ToLower(r.facts.Model.Precision), r.facts.Device.Chips}
		if key == (as{}) {
			silent = append(silent, r)
			continue
		}
		if parts[key] == nil {
			order = append(order, key)
		}
		parts[key] = append(parts[key], r)
	}
	if len(order) < 2 || results[0].facts.RunID != "" {
		return [][]*result{results}
	}
	parts[order[0]] = append(parts[order[0]], silent...)
	var out [][]*result
	for _, key := range order {
		for _, r := range parts[key] {
			r.apart = fmt.Sprintf("%s%s%d", idSeparator, key.precision, key.chips)
		}
		out = append(out, parts[key])
	}
	return out
}

// split divides a bucket where nothing started for longer than the longest pause. Results with a stated id are never
// split.
func split(results []*result) [][]*result {
	slices.SortStableFunc(results, func(a, b *result) int { // an archive has them in any order
		if c := a.facts.Start.Compare(b.facts.Start); c != 0 {
			return c
		}
		return compareWalked(a.rel, b.rel)
	})
	if results[0].facts.RunID != "" {
		return [][]*result{results}
	}
	var out [][]*result
	start, last := 0, time.Time{}
	for i, r := range results {
		if i > start && r.facts.Start.Sub(last) > longestPause {
			out = append(out, results[start:i])
			start = i
		}
		if i == start {
			last = r.facts.Start
		}
		last = later(last, later(r.facts.Start, r.facts.End))
	}
	return append(out, results[start:])
}

// compareWalked orders two paths as folders are walked: a slash comes before every other character.
func compareWalked(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		if a[i] == '/' {
			return -1
		}
		if b[i] == '/' {
			return 1
		}
		return cmp.Compare(a[i], b[i])
	}
	return cmp.Compare(len(a), len(b))
}

// earlier returns the earlier of two times that are known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// assemble makes one run of results that belong together, and returns the reason.
func assemble(results []*result) (schema.Run, string) {
	first := results[0]
	f := first.facts
	run := schema.Run{
		ID: f.RunID, Start: f.Start, Release: f.Release, Channel: f.Channel, Line: f.Line, Model: f.Model, Impl: f.Impl,
		Device: f.Device, Stack: f.Stack, Provenance: first.provenance(), Plan: first.plan,
		Interleaved: first.reading.Interleaved,
	}
	points := 0
	for _, r := range results {
		points += len(r.reading.Points)
	}
	run.Points = slices.Grow(run.Points, points)
	for _, r := range results {
		run.Targets = schema.MergeTargets(run.Targets, r.targets)
		run.Acceptance = run.Acceptance.With(r.accepted)
		for _, p := range r.reading.Points {
			if p.Start.IsZero() {
				p.Start, p.End = r.facts.Start, r.facts.End
			}
			run.Points = append(run.Points, p)
		}
		run.Scores = append(run.Scores, r.reading.Scores...)
		run.Problems = append(run.Problems, r.reading.Problems...)
		for name, v := range r.reading.Extra {
			if _, has := run.Extra[name]; !has {
				run.Extra = withUnknown(run.Extra, name, v)
			}
		}
		run.Start = earlier(run.Start, r.facts.Start)
		run.End = later(run.End, later(r.facts.End, r.facts.Start))
		r.give()
	}
	run.Problems = countContradictions(run.Problems)
	reason := fmt.Sprintf("%s under id %s", countFiles(len(results)), run.ID)
	if run.ID == "" {
		folder := first.folderWithinRoot()
		if run.Start.IsZero() { // two nights may leave files of one name in folders of one name
			folder = contents(results)
		}
		folder += first.apart
		run.ID = derivedID(first, run.Start, folder)
		reason = fmt.Sprintf("%s in %s, one system and build, no pause over 6 h",
			countFiles(len(results)), first.runFolder)
	}
	return run, reason
}

// idSeparator separates the parts that are hashed into an id. It must not change, because ids would change.
const idSeparator = "\x00"

// derivedID is the id of a run that nothing names: when it began, and a hash of who was measured and of its folder.
// What nothing dates stands by itself: there the contents of its files take the folder's place.
func derivedID(r *result, start time.Time, folder string) string {
	f, b := &r.facts, buildOf(&r.facts)
	parts := []string{f.Model.ID, f.Model.Name, f.Impl, f.Device.Name, f.Device.Mesh, f.Stack.Engine}
	if b.commits != "" {
		parts = append(parts, b.commits)
	}
	parts = append(parts, b.release, b.version, b.digest, b.image, folder, start.Format(time.RFC3339))
	sum := sha256.Sum256([]byte(strings.Join(parts, idSeparator)))
	if start.IsZero() {
		return history.Undated + hex.EncodeToString(sum[:4])
	}
	return start.UTC().Format(history.StartInID) + hex.EncodeToString(sum[:4])
}

// contents names the results of a run by what is in their files, whatever their order.
func contents(results []*result) string {
	var hashes []string
	for _, r := range results {
		hashes = append(hashes, r.file.Content)
	}
	slices.Sort(hashes)
	return strings.Join(slices.Compact(hashes), idSeparator)
}

// withUnknown adds an unknown field of a file to those of its run.
func withUnknown(to schema.Unknown, name string, v []byte) schema.Unknown {
	if to == nil {
		to = schema.Unknown{}
	}
	to[name] = v
	return to
}

// folderWithinRoot returns the run's folder within its root, so that an id does not depend on where the root is. A root
// that is an archive counts as the folder that was packed, with or without its name in the archive: results have one id
// in a folder and in its archive.
func (r *result) folderWithinRoot() string {
	folder := cutFolder(r.runFolder, r.root.Name)
	if r.root.Only == "" || r.rel == r.root.Only {
		return folder
	}
	packed := cutFolder(folder, r.root.Only)
	stem, _, _ := strings.Cut(path.Base(r.root.Only), ".")
	return cutFolder(packed, stem)
}

// cutFolder returns what is below a folder; the whole where the folder is not its beginning.
func cutFolder(name, folder string) string {
	if rest, ok := strings.CutPrefix(name, folder); ok && (rest == "" || rest[0] == '/' || folder == "") {
		return strings.TrimPrefix(rest, "/")
	}
	return name
}

// countContradictions merges equal contradictions of several files into one, with the number of files.
func countContradictions(list []schema.Problem) []schema.Problem {
	out, count := schema.Alike(list, func(p schema.Problem) string {
		if p.Code != codeContradiction {
			return ""
		}
		return p.Found
	})
	for i, n := range count {
		if n > 1 {
			out[i].Found += fmt.Sprintf(" (in %d files)", n)
		}
	}
	return out
}

func countFiles(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}
