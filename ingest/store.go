package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ttreport/ttreport/ingest/archive"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/repeat"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"golang.org/x/sync/errgroup"
)

// Targets returns the targets in force for a model on a device.
type Targets interface {
	Key(name string) string // architecture key of a model, under which targets are filed
	// For merges them with those that files beside the results state.
	For(model schema.Model, device string, stated []schema.Target) []schema.Target
}

// Store keeps runs as documents in a folder.
type Store struct {
	Dir string // of history documents
	// Base is a further folder of documents, which count as stored and are only read: an update is written to Dir. ""
	// for none.
	Base string
	// Targets returns the targets in force and their problems. It is called when all files are read.
	Targets func(runs []schema.Run) (Targets, []schema.Problem, error)
	// As changes what files state of a run before it is stored; nil changes nothing.
	As func(*schema.Run)
	// Retarget replaces the targets that stored runs were stamped with by those in force today.
	Retarget bool
}

// Result is the result of reading into history.
type Result struct {
	Files    []File           // in path order
	Runs     int              // as the files have them
	Problems []schema.Problem // of files, of targets, of storing
	Written  int              // documents that are new or have changed
	Same     int              // runs whose measurements were all stored, as they are
	Replaced []Replacement
	Refused  int // runs of which something was not stored: each has a problem that is an error
}

// Replacement is a document that was deleted, because another one states more about the same measurements.
type Replacement struct {
	Old string // path, with the folder
	New string // path below the folder of the store
}

// WriteError is a document that could not be written or deleted.
type WriteError struct {
	Err  error
	Hint string // what to do
}

func (e *WriteError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the operating system.
func (e *WriteError) Unwrap() error { return e.Err }

// Read reads everything below the roots and stores the runs that it finds. Measurements that are stored already are
// not stored again; runs get their architecture key, and the targets in force unless they have some.
//
// Faults of a file or a stored document are problems in the result. The error is the context's, that of Targets, the
// problem of a pattern that is of no use, or a [WriteError]; what was stored until then stays stored and is in the
// result.
func (s Store) Read(ctx context.Context, roots []Root, opt Options) (Result, error) {
	history.RemoveUnfinished(s.Dir)
	base := s.Base
	if s.As != nil {
		base = "" // a build of its own beside the history, whatever that has of it
	}
	set, g, err := load(ctx, roots, opt, func(sources []*source) *memory { return recall(s.Dir, base, sources) })
	if err != nil {
		return Result{}, err
	}
	for _, p := range set.Problems { // with a pattern that is not what it was meant to be, runs would be stored as others
		if p.Code == CodePattern && p.Severity == schema.SevError {
			return Result{Files: set.Files, Runs: len(set.Runs)}, p
		}
	}
	inForce, problems, err := s.Targets(set.Runs)
	if err != nil {
		return Result{}, err
	}
	out := Result{Files: set.Files, Runs: len(set.Runs), Problems: append(set.Problems, problems...)}
	w := &writes{dir: s.Dir, names: map[string]bool{}}
	w.group.SetLimit(8)
	placed := map[*document]string{} // where the measurements of documents are now, below the folder
	for i := range set.Runs {
		if err = ctx.Err(); err == nil { // thousands of documents take seconds
			err = s.put(set.Runs[i], g.docs[set.Runs[i].ID], inForce, w, placed, &out)
		}
		if err != nil {
			break
		}
		set.Runs[i] = schema.Run{} // memory holds what is still to be stored
	}
	failed := w.group.Wait()
	if out.Written += int(w.written.Load()); err == nil {
		err = failed
	}
	if err == nil {
		err = s.settle(g.memory, placed, w.names, &out)
	}
	return out, err
}

// put stores one run, of which documents had results.
func (s Store) put(
	run schema.Run, docs []*document, inForce Targets, w *writes, placed map[*document]string, out *Result,
) error {
	slices.SortFunc(docs, func(a, b *document) int { return strings.Compare(a.path, b.path) })
	docs = slices.Compact(docs)
	own := run.ID
	run = s.succeed(run, docs)
	name := w.free(&run, own)
	if s.As != nil {
		s.As(&run)
	}
	s.stamp(inForce, &run)
	if i := slices.IndexFunc(docs, func(d *document) bool { return d.isBase && placed[d] == "" }); i >= 0 {
		rel, err := filepath.Rel(s.Base, docs[i].path)
		if err == nil {
			placed[docs[i]] = rel
			var changed bool
			if changed, err = history.Overlay(s.Base, s.Dir, rel, run); err == nil {
				out.count(changed)
				return nil
			}
		}
		return cannotWrite(err)
	}
	for _, d := range docs {
		placed[d] = name
	}
	w.names[name] = true
	whole := filepath.Join(s.Dir, name)
	at := slices.IndexFunc(docs, func(d *document) bool { return d.path == whole })
	if s.Base != "" {
		if old, ok := history.Peek(s.Base, &run); ok { // the run updates a copy of its document in Base
			if _, err := history.Put(s.Dir, old, false); err != nil {
				return cannotWrite(err)
			}
		}
	}
	if at < 0 && w.later(&run) {
		return nil
	}
	var changed bool
	var err error
	if at >= 0 {
		changed, err = s.replace(docs[at], run)
	} else {
		changed, err = history.Put(s.Dir, run, s.Retarget)
	}
	if damaged, ok := errors.AsType[schema.Problem](err); ok { // other runs are still stored
		damaged.Hint = "the document is left as it is and this run is not stored; " +
			"restore the document from version control, or delete it"
		out.Problems = append(out.Problems, damaged)
		out.Refused++
		return nil
	}
	if err != nil {
		return cannotWrite(err)
	}
	out.count(changed)
	return nil
}

// count counts a document.
func (r *Result) count(changed bool) {
	if changed {
		r.Written++
	} else {
		r.Same++
	}
}

// succeed returns a run with what its documents know of it: targets, plan, paths; and the id of a document of which
// nothing else is left, where that follows from something else than its numbers: an earlier version derived it from the
// folder, or a person corrected what was stored.
func (s Store) succeed(run schema.Run, docs []*document) schema.Run {
	hasID := !isDerivedID(&run)
	for _, d := range docs {
		if clash(&d.run, &run) {
			continue // it was another one's until now
		}
		old, _ := d.left()
		if !hasID && !d.isTaken && isDerivedID(&d.run) && d.run.ID != derivedID(&d.run) &&
			len(old.Points)+len(old.Scores) == 0 && isOneRun(&d.run, &run) && areOneSecond(run.Start, d.run.Start) {
			hasID, d.isTaken, run.ID = true, true, d.run.ID
		}
		old.Points, old.Scores, old.Start, old.End = d.run.Points, d.run.Scores, d.run.Start, d.run.End
		all, has := len(old.Points)+len(old.Scores), map[string]bool{} // files that the run has, too
		for src := range run.Sources() {
			has[src.SHA256] = true
		}
		old.Points = slices.DeleteFunc(slices.Clone(old.Points), func(p schema.Point) bool { return !has[p.Source.SHA256] })
		old.Scores = slices.DeleteFunc(old.DatedScores(), func(t schema.Score) bool { return !has[t.Source.SHA256] })
		if len(old.Points)+len(old.Scores) < all || !isStated(old.Provenance["start"].From) {
			old.Start, old.End = timesOf(&old) // what is left of a run has the times of the whole
		}
		run = history.Update(old, run, s.Retarget)
	}
	return run
}

// replace writes a run in the place of a document, with what is left of that if it is of the same run.
func (s Store) replace(d *document, run schema.Run) (changed bool, err error) {
	rest, _ := d.left()
	switch {
	case !clash(&d.run, &run):
		run = history.Update(rest, run, s.Retarget)
	case len(rest.Points)+len(rest.Scores) > 0:
		if _, err := history.Replace(s.Dir, rest); err != nil {
			return false, err
		}
		return history.Put(s.Dir, run, s.Retarget)
	}
	return history.Replace(s.Dir, run)
}

// timesOf is from when to when the results of a run were measured; zero where one does not say it.
func timesOf(run *schema.Run) (start, end time.Time) {
	for i := range run.Points {
		p := &run.Points[i]
		if p.Start.IsZero() {
			return time.Time{}, time.Time{}
		}
		start, end = earlier(start, p.Start), later(end, later(p.Start, p.End))
	}
	for i := range run.Scores {
		at := run.Scores[i].Start
		if at.IsZero() {
			return time.Time{}, time.Time{}
		}
		start, end = earlier(start, at), later(end, at)
	}
	return start, end
}

// settle leaves in the documents of earlier readings what is nowhere else now, and deletes those of which nothing is
// left. A document that a run was written to, as names has them, holds what it should hold.
func (s Store) settle(m *memory, placed map[*document]string, names map[string]bool, out *Result) error {
	for _, d := range m.docs {
		name, isPlaced := placed[d]
		if d.isMet && !isPlaced {
			out.Runs++
			out.count(d.isChanged)
		}
		rest, isWhole := d.left()
		if d.isChanged { // what a log stated may have made one workload of two
			isOld := func(p schema.Problem) bool { return p.Code == schema.CodeToldApart }
			rest.Problems = slices.DeleteFunc(rest.Problems, isOld)
			rest.Problems = append(rest.Problems, repeat.Separate(rest.Points)...)
			rest.Arrange()
		}
		if rel, err := filepath.Rel(s.Dir, d.path); d.isBase || isWhole && !d.isChanged || err == nil && names[rel] {
			continue
		}
		if len(rest.Points)+len(rest.Scores) > 0 {
			if _, err := history.Replace(s.Dir, rest); err != nil {
				return cannotWrite(err)
			}
			continue
		}
		if err := history.Remove(s.Dir, d.path); err != nil {
			return &WriteError{
				fmt.Errorf("replacing a document: %w", err),
				"delete it: the same results are stored with what is known now",
			}
		}
		out.Replaced = append(out.Replaced, Replacement{Old: d.path, New: name})
	}
	return nil
}

// stamp completes a run with its architecture key and the targets in force: those of target files, merged with those
// that are stated beside its results. A run that is in history keeps the targets that it was stamped with; what lies
// beside newly read results fills in what they leave open.
func (s Store) stamp(inForce Targets, run *schema.Run) {
	if run.Model.Key == "" && run.Model.Name != "" {
		run.Model.Key = inForce.Key(run.Model.Name)
		if run.Provenance == nil {
			run.Provenance = map[string]schema.Origin{}
		}
		run.Provenance["model.key"] = schema.Origin{From: schema.FromDerived, Where: "alias table of architectures"}
	}
	if old, ok := history.Peek(cmp.Or(s.Base, s.Dir), run); ok && !s.Retarget && len(old.Targets) > 0 {
		run.Targets = schema.MergeTargets(old.Targets, run.Targets)
		return
	}
	run.Targets = inForce.For(run.Model, run.Device.Name, run.Targets)
}

// writes stores new documents side by side, since most of the time of storing one is waiting for the disk. The result
// is that of storing one after the other: a document of this reading decides about no other run of it, and each has a
// path of its own.
type writes struct {
	dir     string
	group   errgroup.Group
	names   map[string]bool // paths below dir of all that this reading stores
	written atomic.Int64
}

// later stores a run whose document does not exist yet, and reports whether it did so.
func (w *writes) later(r *schema.Run) bool {
	name := history.PathOf(r)
	if _, err := os.Lstat(filepath.Join(w.dir, name)); !os.IsNotExist(err) {
		return false
	}
	run := *r
	w.group.Go(func() error {
		if _, err := history.Put(w.dir, run, false); err != nil {
			return cannotWrite(err)
		}
		w.written.Add(1)
		return nil
	})
	return true
}

// free returns the path of a run's document. Where another run of this reading has it, the run gets its own id, or the
// first one that is free.
func (w *writes) free(r *schema.Run, own string) (name string) {
	name = history.PathOf(r)
	for n := 1; w.names[name]; n++ {
		if r.ID = own; n > 1 {
			r.ID = fmt.Sprintf("%s~%d", own, n)
		}
		name = history.PathOf(r)
	}
	return name
}

func cannotWrite(err error) error {
	return &WriteError{err, "history/ cannot be written: check its permissions and the free space of the disk"}
}

// Contents is a hash of the names and contents of all files below roots. ok is false if one could not be read.
func Contents(roots []Root) (hash string, ok bool) {
	return hashed(roots, func(at found) (string, error) {
		f, err := at.root.FS.Open(at.rel)
		if err != nil {
			return "", err
		}
		content := sha256.New()
		_, err = io.Copy(content, f)
		return fmt.Sprintf("%q %x\n", at.shown(), content.Sum(nil)), errors.Join(err, f.Close())
	})
}

// Fingerprint is a hash of the names, sizes and times of all files below roots: equal fingerprints mean that reading
// again would give the same result. Nothing is opened. ok is false if a file or folder could not be examined, which
// reading will report.
func Fingerprint(roots []Root) (hash string, ok bool) {
	return hashed(roots, func(at found) (string, error) {
		info := at.info
		if info == nil { // a link, or a file that was named
			var err error
			if info, err = fs.Stat(at.root.FS, at.rel); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("%q %d %d\n", at.shown(), info.Size(), info.ModTime().UnixNano()), nil
	})
}

// hashed is a hash of what is said of each file below roots, in their order. All processors look at files.
func hashed(roots []Root, say func(found) (string, error)) (hash string, ok bool) {
	all, problems := walk(roots, true)
	if len(problems) > 0 {
		return "", false
	}
	said := make([]string, len(all))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range all {
		group.Go(func() (err error) {
			said[i], err = say(f)
			return err
		})
	}
	if group.Wait() != nil {
		return "", false
	}
	sum := sha256.Sum256([]byte(strings.Join(said, "")))
	return hex.EncodeToString(sum[:]), true
}

// Verification is what became of the raw files that a history names.
type Verification struct {
	Verified  int              // files whose bytes are those that were read
	Missing   []string         // files that are not there; a workspace need not keep them
	Elsewhere int              // files outside of the folder, which are not looked at
	Unknown   int              // results of which no file, or no hash, is stored
	Problems  []schema.Problem // files with other bytes, and documents that cannot be read
}

// rawFile is a file as a document names it.
type rawFile struct{ path, sha256 string }

// Verify reads the raw files again that the documents of a history name, below a folder, and compares their SHA-256
// with the stored ones. A file may be a member of an archive.
func Verify(ctx context.Context, dir, historyDir string) (Verification, error) {
	var v Verification
	folder, err := rootfs.Open(dir)
	if err != nil {
		return v, err
	}
	stored := map[rawFile]bool{}
	v.Problems = history.Each(historyDir, nil, func(_ string, r *schema.Run) {
		for src := range r.Sources() {
			stored[rawFile{src.Path, src.SHA256}] = true
		}
	})
	list := slices.SortedFunc(maps.Keys(stored), func(a, b rawFile) int {
		return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.sha256, b.sha256))
	})
	hashes := rawHashes{folder: folder, archives: map[string]map[string]string{}}
	for _, s := range list {
		if ctx.Err() != nil {
			return v, ctx.Err()
		}
		if s.path == "" || s.sha256 == "" {
			v.Unknown++
			continue
		}
		if !fs.ValidPath(s.path) {
			v.Elsewhere++
			continue
		}
		now, err := hashes.of(s.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			v.Missing = append(v.Missing, s.path)
		case err != nil:
			v.Problems = append(v.Problems, unreadable(at(&Root{}, s.path), err))
		case now != s.sha256:
			v.Problems = append(v.Problems, schema.Problem{
				Severity: schema.SevError, Path: s.path, Code: "other-bytes", Found: fmt.Sprintf("SHA-256 %.12s…", now),
				Expected: fmt.Sprintf("%.12s…, as the history states", s.sha256),
				Hint:     "restore the file, or read it again with ttreport ingest",
			})
		default:
			v.Verified++
		}
	}
	return v, nil
}

// rawHashes hashes files and members of archives, each archive once.
type rawHashes struct {
	folder   *rootfs.Folder
	archives map[string]map[string]string // by the archive's path: hashes of members by their path
}

func (h rawHashes) of(name string) (string, error) {
	f, err := h.folder.Open(name)
	if err == nil {
		defer f.Close()
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			return "", cmp.Or(err, rootfs.ErrNotRegular)
		}
		sum := sha256.New()
		_, err := io.Copy(sum, f)
		return hex.EncodeToString(sum.Sum(nil)), err
	}
	for at := path.Dir(name); at != "."; at = path.Dir(at) { // it may be a member of an archive
		info, statErr := h.folder.Stat(at)
		if statErr != nil {
			continue
		}
		if info.IsDir() {
			break
		}
		if h.archives[at] == nil {
			if h.archives[at], err = h.members(at, info.Size()); err != nil {
				return "", err
			}
		}
		if sum := h.archives[at][name]; sum != "" {
			return sum, nil
		}
		return "", fs.ErrNotExist
	}
	return "", err
}

func (h rawHashes) members(name string, size int64) (map[string]string, error) {
	f, err := h.folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, ok := f.(archive.Input)
	if !ok {
		return nil, rootfs.ErrNotRegular
	}
	out := map[string]string{}
	archive.Each(name, in, size, decode.DefaultLimits(), func(m archive.Member) {
		sum := sha256.Sum256(m.Data)
		out[m.Path] = hex.EncodeToString(sum[:])
	})
	return out, nil
}
