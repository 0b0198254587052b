package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/engine/kubernetes"
	"github.com/ttreport/ttreport/collect/engine/slurm"
	"github.com/ttreport/ttreport/collect/plan"
)

// placing is a scheduler, and what is done before it has jobs.
type placing struct {
	engine.Scheduler
	suffix, between string // of files, and between them in one output
	target          engine.Target
	fetches         bool                     // results from where jobs ran
	check           func([]engine.Job) error // whether files can be made of jobs at all
	text            func(*engine.Submission, engine.Group) (string, error)
	accepted        func(context.Context, *engine.Submission) (*engine.Submission, error)
	begin           func(context.Context, *engine.Submission) // of following
}

// placing returns the scheduler of --on. With [engine.ErrMissing] files can be made, and nothing can be submitted.
func (o schedulerOptions) placing(target kubernetes.Target) (placing, error) {
	if o.on == plan.OnKubernetes {
		c, err := kubernetes.New(target)
		return placing{
			Scheduler: c, suffix: ".yaml", between: "---\n", target: engine.Target(c.Target), check: kubernetes.Check,
			fetches: true,
			text: func(s *engine.Submission, g engine.Group) (string, error) {
				return kubernetes.Manifest(s, g, c.Target.Namespace)
			},
			accepted: c.Accepted, begin: c.Follow,
		}, err
	}
	var p slurm.Programs
	return placing{
		Scheduler: p, suffix: ".sh", between: "\n", check: func([]engine.Job) error { return nil },
		text: func(s *engine.Submission, g engine.Group) (string, error) { return slurm.Script(s, g), nil },
		accepted: func(ctx context.Context, s *engine.Submission) (*engine.Submission, error) {
			return slurm.Accepted(ctx, s, p)
		},
		begin: func(context.Context, *engine.Submission) {},
	}, p.Installed()
}

// print prints what would be submitted.
func (p placing) print(to io.Writer, s *engine.Submission) error {
	for i, g := range s.Groups {
		text, err := p.text(s, g)
		if err != nil {
			return err
		}
		if i > 0 {
			text = p.between + text
		}
		fmt.Fprint(to, text)
	}
	return nil
}

// title is the name of the scheduler in a sentence.
func (o schedulerOptions) title() string {
	if o.on == plan.OnKubernetes {
		return "Kubernetes"
	}
	return "Slurm"
}

// jobsError gives an error of a scheduler its exit code and advice.
func (o collectOptions) jobsError(err error) error {
	onKubernetes := o.scheduler.on == plan.OnKubernetes
	var refused *engine.RefusedError
	f := failure{code: exitCollect, err: fmt.Errorf("collect: %w", err), hint: "ttreport help " + o.scheduler.on}
	switch {
	case errors.As(err, &refused):
		f.code = exitUsage
		if refused.Have != "" {
			f.hint = "this cluster has: " + refused.Have
		}
	case errors.Is(err, engine.ErrMissing) && onKubernetes:
		f.hint = "name a kubeconfig in KUBECONFIG, and a --context; --dry-run prints the manifests anywhere"
	case errors.Is(err, engine.ErrMissing):
		f.hint = "run this on a login node; --dry-run prints the scripts anywhere"
	case errors.Is(err, engine.ErrAway) && onKubernetes:
		f.hint = "kubectl get jobs must answer; jobs that were submitted go on"
	case errors.Is(err, engine.ErrAway):
		f.hint = "squeue must answer; jobs that were submitted go on"
	}
	return f
}
