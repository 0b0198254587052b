package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

var (
	// ErrAway is returned while a scheduler does not answer. Jobs go on without it.
	ErrAway = errors.New("the scheduler does not answer")
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

// Order is an array to submit.
type Order struct {
	File    string
	Name    string
	Group   Group
	Entries []int
	Retries int           // that are left to the scheduler
	Limit   time.Duration // 0: as the file has it
}

// Record is a job as a scheduler lists it.
type Record struct {
	Name   string
	Array  string // id of the array
	Entry  int    // index in it
	Job    string // id of the job itself
	State  string // in the scheduler's word
	Phase  Phase
	Reason string
	Node   string
	Left   string // until the time limit, as the scheduler writes it: "1:02:03"

	Restarts int    // times that the scheduler started it again
	Says     string // the last line that it printed, where its run folder is not on a shared file system
}

// Words are how a scheduler calls things.
type Words struct {
	Name      string // "slurm"
	Server    string // what answers: "the controller"
	Succeeded string // the state of a job that ended well
}

// Scheduler is what is asked of one. Each method returns [ErrAway] while it does not answer.
type Scheduler interface {
	Words() Words
	// Submit returns the id of an array. One of that name that exists already is not submitted again, or found by Queue.
	Submit(ctx context.Context, o Order) (id string, err error)
	Queue(ctx context.Context, names []string) ([]Record, error)
	// Accounts returns what ended jobs of these names used; [ErrNoAccounting] where that is not kept.
	Accounts(ctx context.Context, names []string, since time.Time) ([]Account, error)
	// Fetch brings the run folder of a job that has ended, and what it printed, from where it ran to dir and log. A
	// scheduler whose jobs share the file system does nothing.
	Fetch(ctx context.Context, r Record, dir, log string) error
	// Cancel ends jobs. A scheduler whose jobs share no file system brings what they leave to dir and log, as Fetch does;
	// [ErrUnfetched] where they ended and it could not.
	Cancel(ctx context.Context, jobs []Record, to func(Record) (dir, log string)) error
}

// Arrays returns the ids of the arrays of some jobs.
func Arrays(jobs []Record) []string {
	var ids []string
	for _, r := range jobs {
		if !slices.Contains(ids, r.Array) {
			ids = append(ids, r.Array)
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
