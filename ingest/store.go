package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
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
// Faults of a file or a stored document are problems in the result. The error is the context's, that of Targets, or a
// [WriteError]; what was stored until then stays stored and is in the result.
func (s Store) Read(ctx context.Context, roots []Root, opt Options) (Result, error) {
	history.RemoveUnfinished(s.Dir)
	set, err := load(ctx, roots, opt)
	if err != nil {
		return Result{}, err
	}
	inForce, problems, err := s.Targets(set.Runs)
	if err != nil {
		return Result{}, err
	}
	out := Result{Files: set.Files, Runs: len(set.Runs), Problems: append(set.Problems, problems...)}
	b := batch{
		inForce: inForce, together: map[string]bool{}, writes: newWrites(s.Dir),
		files: &storedFiles{dirs: []string{s.Dir, s.Base}},
	}
	for i := range set.Runs {
		b.together[set.Runs[i].ID] = true
	}
	for i := range set.Runs {
		if err = ctx.Err(); err == nil { // thousands of documents take seconds
			unpack(set.Runs[i].Points)
			err = s.put(set.Runs[i], b, &out)
		}
		if err != nil {
			break
		}
		set.Runs[i] = schema.Run{} // memory holds what is still to be stored
	}
	written, failed := b.writes.wait()
	out.Written += written
	if err == nil {
		err = failed
	}
	return out, err
}

// batch is what the runs of one reading have in common.
type batch struct {
	inForce  Targets
	together map[string]bool // ids of the runs
	files    *storedFiles
	writes   *writes
}

// put stores one run.
func (s Store) put(r schema.Run, b batch, out *Result) error {
	var others []string
	if s.Base != "" {
		others = append(others, s.Base)
	}
	r, err := b.files.withoutPrinted(r, b.writes)
	if err != nil {
		return err
	}
	settled := settle(s.Dir, r, b, others...)
	for _, p := range settled.problems {
		out.report(p)
	}
	if settled.nothingLeft() {
		out.Same++
		return nil
	}
	run := settled.run
	if err := b.writes.finish(history.PathOf(&run)); err != nil {
		return err
	}
	if !s.Retarget && addsNothing(s.Dir, &run) {
		out.Same++
		return nil
	}
	if s.As != nil {
		s.As(&run)
	}
	s.stamp(b.inForce, &run)
	if err := s.copyBase(&run); err != nil {
		return err
	}
	if len(settled.replaces) == 0 && b.writes.later(&run) {
		return nil
	}
	b.writes.forget()
	return s.write(run, settled.replaces, out)
}

// write stores a run whose document exists, or that replaces others.
func (s Store) write(run schema.Run, replaces []string, out *Result) error {
	changed, err := history.Put(s.Dir, run, s.Retarget)
	var damaged schema.Problem
	switch {
	case errors.As(err, &damaged): // other runs are still stored
		damaged.Hint = "the document is left as it is and this run is not stored; " +
			"restore the document from version control, or delete it"
		out.report(damaged)
		return nil
	case err != nil:
		return cannotWrite(err)
	}
	if changed {
		out.Written++
	} else {
		out.Same++
	}
	return out.replace(replaces, history.PathOf(&run))
}

// replace deletes the documents that another one contains.
func (r *Result) replace(names []string, by string) error {
	for _, name := range names {
		if err := os.Remove(name); err != nil {
			return &WriteError{
				fmt.Errorf("replacing a document: %w", err),
				"delete it: the same results are stored with what is known now",
			}
		}
		r.Replaced = append(r.Replaced, Replacement{Old: name, New: by})
	}
	return nil
}

// report adds a problem of storing a run.
func (r *Result) report(p schema.Problem) {
	r.Problems = append(r.Problems, p)
	if p.Severity == schema.SevError {
		r.Refused++
	}
}

// copyBase copies the document of a run from Base, so that the run updates the copy.
func (s Store) copyBase(run *schema.Run) error {
	if s.Base == "" {
		return nil
	}
	old, ok := history.Peek(s.Base, run)
	if !ok {
		return nil
	}
	if _, err := history.Put(s.Dir, old, false); err != nil {
		return &WriteError{err, "see the space of the disk"}
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
	stored := s.Dir
	if s.Base != "" {
		stored = s.Base
	}
	if old, ok := history.Peek(stored, run); ok && !s.Retarget && len(old.Targets) > 0 {
		run.Targets = schema.MergeTargets(old.Targets, run.Targets)
		return
	}
	run.Targets = inForce.For(run.Model, run.Device.Name, run.Targets)
}
