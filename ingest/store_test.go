package ingest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
)

// inForce is a target library with one limit of TTFT for every model and device.
type inForce float64

func (inForce) Key(name string) string { return "key of " + name }

func (v inForce) For(_ schema.Model, _ string, stated []schema.Target) []schema.Target {
	ours := []schema.Target{{Metric: "ttft", Stat: "mean", Value: float64(v), Unit: "ms", Level: "target"}}
	return schema.MergeTargets(ours, stated)
}

// reads stores one result of a model on a device, under a limit of TTFT.
func reads(t *testing.T, s ingest.Store, limit inForce, device string) ingest.Result {
	t.Helper()
	s.Targets = func([]schema.Run) (ingest.Targets, []schema.Problem, error) { return limit, nil, nil }
	roots := []ingest.Root{{Name: "in", FS: fstest.MapFS{
		"a.json": {Data: []byte(serve(`"random_input_len":128,"random_output_len":32,`))},
	}}}
	got, err := s.Read(context.Background(), roots, ingest.Options{
		Flags: schema.Facts{RunID: "r1", Device: schema.Device{Name: device}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// documents returns the runs below a folder, by path.
func documents(t *testing.T, dir string) map[string]schema.Run {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]schema.Run{}
	for _, name := range names {
		r, problem := history.Read(name)
		if problem != nil {
			t.Fatal(problem)
		}
		rel, _ := filepath.Rel(dir, name)
		out[filepath.ToSlash(rel)] = r
	}
	return out
}

// only is the one document below a folder.
func only(t *testing.T, dir string) schema.Run {
	t.Helper()
	docs := documents(t, dir)
	if len(docs) != 1 {
		t.Fatalf("%d documents", len(docs))
	}
	for _, r := range docs {
		return r
	}
	return schema.Run{}
}

func TestStoreStampsTargetsOnce(t *testing.T) {
	dir := t.TempDir()
	if got := reads(t, ingest.Store{Dir: dir}, 50, "n150"); got.Written != 1 || got.Runs != 1 || len(got.Files) != 1 {
		t.Errorf("first reading: %+v", got)
	}
	r := only(t, dir)
	if r.Model.Key != "key of "+r.Model.Name || len(r.Targets) != 1 || r.Targets[0].Value != 50 {
		t.Errorf("key %q, targets %+v", r.Model.Key, r.Targets)
	}
	if got := reads(t, ingest.Store{Dir: dir}, 60, "n150"); got.Written != 0 {
		t.Errorf("the same files again wrote %d documents", got.Written)
	}
	if v := only(t, dir).Targets[0].Value; v != 50 {
		t.Errorf("stamped anew with %g", v)
	}
	reads(t, ingest.Store{Dir: dir, Retarget: true}, 70, "n150")
	if v := only(t, dir).Targets[0].Value; v != 70 {
		t.Errorf("retargeted to %g", v)
	}
}

func TestStoreReplacesWhatItKnowsMoreOf(t *testing.T) {
	dir := t.TempDir()
	reads(t, ingest.Store{Dir: dir}, 50, "")
	var old string
	for name := range documents(t, dir) {
		old = name
	}
	got := reads(t, ingest.Store{Dir: dir}, 50, "n150")
	if len(got.Replaced) != 1 || got.Replaced[0].Old != filepath.Join(dir, old) || got.Refused != 0 {
		t.Errorf("replaced %+v, %d refused", got.Replaced, got.Refused)
	}
	if r := only(t, dir); r.Device.Name != "n150" || history.PathOf(&r) != got.Replaced[0].New {
		t.Errorf("device %q, new path %q", r.Device.Name, got.Replaced[0].New)
	}
}

// Reading the same file again with another device replaces what it gave, also under the other name.
func TestStoreReplacesAnotherIdentity(t *testing.T) {
	dir := t.TempDir()
	reads(t, ingest.Store{Dir: dir}, 50, "n150")
	got := reads(t, ingest.Store{Dir: dir}, 50, "t3k")
	if got.Refused != 0 || got.Written != 1 || len(got.Replaced) != 1 {
		t.Errorf("%d refused, %d written, %v", got.Refused, got.Written, got.Replaced)
	}
	if r := only(t, dir); r.Device.Name != "t3k" {
		t.Errorf("device %q", r.Device.Name)
	}
	reads(t, ingest.Store{Dir: dir}, 50, "") // nobody states another one
	if r := only(t, dir); r.Device.Name != "t3k" {
		t.Errorf("device %q", r.Device.Name)
	}
}

func TestStoreLeavesDamagedDocumentsAlone(t *testing.T) {
	dir := t.TempDir()
	reads(t, ingest.Store{Dir: dir}, 50, "n150")
	r := only(t, dir)
	name := filepath.Join(dir, history.PathOf(&r))
	if err := os.WriteFile(name, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := reads(t, ingest.Store{Dir: dir}, 50, "n150")
	if got.Refused != 1 || got.Written != 0 {
		t.Errorf("%d refused, %d written, %v", got.Refused, got.Written, got.Problems)
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != "{" {
		t.Errorf("the document is now %q, %v", data, err)
	}
}

// Documents in the base folder count as stored and are not changed: what they hold is not stored again, and with other
// facts it is written to where it replaces them for whoever loads both.
func TestStoreOverABase(t *testing.T) {
	base, dir := t.TempDir(), t.TempDir()
	reads(t, ingest.Store{Dir: base}, 50, "n150")
	before := documents(t, base)
	if got := reads(t, ingest.Store{Dir: dir, Base: base}, 60, "n150"); got.Written != 0 || got.Same != 1 {
		t.Errorf("%d written, %d the same", got.Written, got.Same)
	}
	if got := reads(t, ingest.Store{Dir: dir, Base: base}, 60, "t3k"); got.Written != 1 || got.Refused != 0 {
		t.Errorf("%d written, %d refused, %v", got.Written, got.Refused, got.Problems)
	}
	if after := documents(t, base); len(after) != len(before) {
		t.Errorf("the base has %d documents", len(after))
	}
	c, _, err := history.Load(context.Background(), base, dir)
	if err != nil || len(c.Runs) != 1 || c.Runs[0].Device != "t3k" {
		t.Errorf("%v, %d runs", err, len(c.Runs))
	}
}

func TestStoreSaysWhatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := ingest.Store{
		Dir: dir, Targets: func([]schema.Run) (ingest.Targets, []schema.Problem, error) {
			return inForce(1), nil, nil
		},
	}
	roots := []ingest.Root{{FS: fstest.MapFS{"a.json": {Data: []byte(serve(""))}}}}
	_, err := s.Read(context.Background(), roots, ingest.Options{})
	var failed *ingest.WriteError
	if !errors.As(err, &failed) || failed.Hint == "" {
		t.Errorf("%v", err)
	}
}

// A person who ends the command while documents are written keeps those that were, and no more are written.
func TestStoreCanBeEnded(t *testing.T) {
	dir := t.TempDir()
	ctx, end := context.WithCancel(context.Background())
	s := ingest.Store{Dir: dir, Targets: func([]schema.Run) (ingest.Targets, []schema.Problem, error) {
		end()
		return inForce(1), nil, nil
	}}
	roots := []ingest.Root{{FS: fstest.MapFS{"a.json": {Data: []byte(serve(""))}}}}
	got, err := s.Read(ctx, roots, ingest.Options{})
	if !errors.Is(err, context.Canceled) || got.Written != 0 || len(documents(t, dir)) != 0 {
		t.Errorf("%v, %d written", err, got.Written)
	}
}
