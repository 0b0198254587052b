package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
)

// ending is a scheduler with jobs in some phases. Its other methods are not called.
type ending struct {
	engine.Backend
	shared bool // file system
	phases []engine.Phase
	cancel error
	fetch  error
}

func (e ending) About() engine.About { return engine.About{Name: "kubernetes", Fetches: !e.shared} }

func (e ending) Queue(context.Context, *engine.Submission, []string) ([]engine.JobStatus, error) {
	var out []engine.JobStatus
	for i, p := range e.phases {
		out = append(out, engine.JobStatus{Entry: i + 1, Array: "1", Phase: p})
	}
	return out, nil
}

func (e ending) Fetch(context.Context, *engine.Submission, engine.JobStatus) error { return e.fetch }

func (e ending) Cancel(context.Context, *engine.Submission, []engine.JobStatus) error {
	return e.cancel
}

// What --cancel announces and says afterwards is what there was to do, and what was done.
func TestCancelSaysWhatIsDone(t *testing.T) {
	t.Parallel()
	lost := fmt.Errorf("job 1: %w: its pod is gone", engine.ErrUnfetched)
	for _, c := range []struct {
		name          string
		phases        []engine.Phase
		slurm         bool
		cancel, fetch error
		announced     string
		said          string
		failed        string
	}{
		{"all", []engine.Phase{engine.Active, engine.Active}, false, nil, nil,
			"cancelling 2 jobs and fetching what they measured", "2 jobs cancelled; what was measured so far is", ""},
		{"a shared file system", []engine.Phase{engine.Active}, true, nil, nil,
			"cancelling 1 job\n", "1 job cancelled; what was measured so far is in ", ""},
		{"all had ended", []engine.Phase{engine.Failed}, false, nil, nil,
			"fetching what 1 job measured", "no job was left to cancel; what was measured so far is in ", ""},
		{"nothing is there", nil, false, nil, nil, "", "no job was left to cancel; ", ""},
		{"a log that broke off", []engine.Phase{engine.Active, engine.Active}, false, lost, nil,
			"cancelling 2 jobs", "2 jobs cancelled\n", "its results cannot be fetched"},
		{"a pod that is gone", []engine.Phase{engine.Failed}, false, nil, errors.New("gone"),
			"fetching what 1 job measured", "no job was left to cancel\n", "its results cannot be fetched"},
		{"an API server that is away", []engine.Phase{engine.Failed, engine.Active}, false, engine.ErrUnavailable,
			errors.New("gone"), "cancelling 1 job", "", "the scheduler does not answer"},
	} {
		sub := engine.Prepare(engine.Submission{Engine: "kubernetes", Jobs: []engine.Job{{Entry: 1}, {Entry: 2}}},
			t.TempDir(), t.TempDir(), time.Now())
		if err := os.MkdirAll(sub.Dir, 0o777); err != nil {
			t.Fatal(err)
		}
		var out, shown bytes.Buffer
		o := collectOptions{sh: &shell{out: &out, err: &shown}, scheduler: schedulerOptions{
			on:       "kubernetes",
			backends: []engine.Backend{ending{phases: c.phases, shared: c.slurm, cancel: c.cancel, fetch: c.fetch}},
		}}
		err := o.cancelJobs(t.Context(), sub)
		if (err == nil) != (c.failed == "") || err != nil && !strings.Contains(err.Error(), c.failed) {
			t.Errorf("%s: %v", c.name, err)
		}
		if !strings.Contains(shown.String(), c.announced) || c.announced == "" && shown.Len() > 0 {
			t.Errorf("%s: announced %q", c.name, shown.String())
		}
		if !strings.HasPrefix(out.String(), c.said) || c.said == "" && out.Len() > 0 {
			t.Errorf("%s: said %q", c.name, out.String())
		}
	}
}
