package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/collect/process"
)

var (
	// ErrUnavailable is returned while a scheduler does not answer. Jobs go on without it.
	ErrUnavailable = errors.New("the scheduler does not answer")
	// ErrMissing is returned where a scheduler cannot be reached from this machine at all.
	ErrMissing = errors.New("no scheduler can be reached")
	// ErrRefused is returned for a job that a scheduler does not take.
	ErrRefused = errors.New("refused by the scheduler")
	// ErrUnfetched is returned where jobs have ended and their results cannot be had.
	ErrUnfetched = errors.New("its results cannot be fetched")
	// ErrLater is returned by Fetch while results are on their way: it is to be called again.
	ErrLater = errors.New("not yet")
	// ErrNoAccounting is returned by a scheduler that keeps no accounts.
	ErrNoAccounting = errors.New("this cluster has no accounting")
)

// Backend is a scheduler of jobs. What asks it returns [ErrUnavailable] while it does not answer.
type Backend interface {
	About() About
	// Flags declares the flags of this scheduler alone.
	Flags(fs *pflag.FlagSet)
	// Find returns the cluster that the flags name. With [ErrMissing] files can be rendered, and nothing can be asked.
	Find(ctx context.Context) (Target, error)
	// Render returns the file of a group, as people can submit it by hand; a [RefusedError] where none can be made.
	Render(s *Submission, g Group) (string, error)
	// Check returns the submission with what the scheduler would change, or a [RefusedError]. Nothing is submitted.
	Check(ctx context.Context, s *Submission) (*Submission, error)
	// Submit returns the id of an array. One of that name that exists already is not submitted again, or found by Queue.
	Submit(ctx context.Context, s *Submission, a Array) (id string, err error)
	Queue(ctx context.Context, s *Submission, names []string) ([]JobStatus, error)
	// Accounts returns what ended jobs of these names used; [ErrNoAccounting] where that is not kept.
	Accounts(ctx context.Context, s *Submission, names []string, since time.Time) ([]Account, error)
	// Fetch brings the run folder of a job that has ended, and what it printed, from where it ran to the submission's
	// folders. A scheduler whose jobs share the file system does nothing.
	Fetch(ctx context.Context, s *Submission, j JobStatus) error
	// Cancel ends jobs, and brings what they leave as Fetch does; [ErrUnfetched] where they ended and it could not.
	Cancel(ctx context.Context, s *Submission, jobs []JobStatus) error
}

// About is what is said of a scheduler, and how it calls things.
type About struct {
	Name      string // "slurm"
	Title     string // "Slurm"
	Server    string // what answers: "the controller"
	Succeeded string // the state of a job that ended well

	Suffix  string // of the file of a group
	Between string // two files in one output
	File    string // "the script of the job"

	StartsImages bool // it starts the image of a server beside the client
	Fetches      bool // results are brought from where jobs ran

	FixSecret, FixMissing, FixUnavailable string // what to do about a secret in an argument, and about its errors
}

// Phase is what a scheduler's state means.
type Phase int

// Phases.
const (
	Active    Phase = iota // it waits, runs, or will go on
	Succeeded              // the program ended without an error
	Failed                 // the measurement failed: it is not tried again
	Disrupted              // the machine failed, or others needed it
	OutOfTime              // its time limit was reached
)

// retried reports whether what a job has left over is submitted again.
func (p Phase) retried() bool { return p == Disrupted || p == OutOfTime }

// Array is what is submitted at once: jobs of one group.
type Array struct {
	Name    string
	Group   Group
	Entries []int
	Retries int           // that are left to the scheduler
	Limit   time.Duration // 0: that of the group
}

// JobStatus is a job as a scheduler lists it.
type JobStatus struct {
	Name   string // of its array
	Array  string // id of it
	Entry  int    // index in it
	Job    string // id of the job itself
	State  string // in the scheduler's word
	Phase  Phase
	Reason string
	Node   string
	Left   string // until the time limit, as the scheduler writes it: "1:02:03"

	Restarts int    // times that the scheduler started it again
	LastLine string // that it printed, where its run folder is not on a shared file system
}

// Arrays returns the ids of the arrays of some jobs.
func Arrays(jobs []JobStatus) []string {
	var ids []string
	for _, j := range jobs {
		if !slices.Contains(ids, j.Array) {
			ids = append(ids, j.Array)
		}
	}
	return ids
}

// RefusedError is a job that a scheduler would not start, found before anything is submitted.
type RefusedError struct {
	Job   string
	Field string // of resources: that is at fault; "" where that is not known
	Why   string
	Have  string // what the cluster has; "" where that is not known
}

func (e *RefusedError) Error() string {
	field := "resources"
	if e.Field != "" {
		field += ": " + e.Field
	}
	return fmt.Sprintf("%s: %s: %s", e.Job, field, e.Why)
}

// Unwrap makes it an [ErrRefused].
func (e *RefusedError) Unwrap() error { return ErrRefused }

// Refusal is that of a job for a reason in the scheduler's words. faults are parts of these, each with the field of
// resources that it is about.
func Refusal(job, why string, faults [][2]string) *RefusedError {
	e := &RefusedError{Job: job, Why: why}
	if i := slices.IndexFunc(faults, func(f [2]string) bool { return strings.Contains(why, f[0]) }); i >= 0 {
		e.Field = faults[i][1]
	}
	return e
}

// answerWithin is how long a scheduler's command may take: Slurm's retry by themselves for MessageTimeout, 10 s by
// default.
const answerWithin = 2 * time.Minute

// Output runs a command of a scheduler with a text as its input. Ctrl-C at the terminal does not reach it: what was
// sent must not be ended. It returns [ErrMissing] where there is no such program, and [ErrUnavailable] where it takes
// more than two minutes; of others stderr says more.
func Output(ctx context.Context, env []string, input string, argv ...string) (out, stderr string, err error) {
	ctx, done := context.WithTimeout(ctx, answerWithin)
	defer done()
	var o, e bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = 10 * time.Second // of a machine that is busy
	cmd.SysProcAttr = process.OwnGroup()
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, strings.NewReader(input), &o, &e
	err = cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("%w: %s took more than %s", ErrUnavailable, argv[0], answerWithin)
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		err = fmt.Errorf("%w: there is no %s", ErrMissing, argv[0])
	}
	return o.String(), strings.TrimSpace(e.String()), err
}
