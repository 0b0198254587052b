package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/engine/kubernetes"
	"github.com/ttreport/ttreport/collect/engine/transfer"
	"github.com/ttreport/ttreport/collect/session"
)

// jobOptions are the flags that a scheduler's job gives its own collect.
type jobOptions struct {
	once, allocated, print bool
	scratch                string
}

func (o *jobOptions) declare(fs *pflag.FlagSet) {
	fs.BoolVar(&o.once, "once", false,
		"measure nothing where --out has a complete run of the same plan; wait for the device while it is in use")
	fs.BoolVar(&o.allocated, "allocated", false,
		"the device is ours alone, as Slurm's GRES gives it: others on this host may measure theirs")
	fs.BoolVar(&o.print, "print-results", false,
		"print the run folders when all is measured, for a follower that reads the log")
	fs.StringVar(&o.scratch, "scratch", "",
		"`folder` on a disk of this host to measure in; run folders are moved to --out when the run ends")
}

// lockDevice keeps others from measuring the same device. A job waits for it: somebody else was given the host too.
func (o collectOptions) lockDevice(ctx context.Context, sh *shell, s *session.Session) (release func(), err error) {
	if o.job.allocated {
		return func() {}, nil
	}
	for deadline, said := time.Now().Add(o.patience), false; ; said = true {
		if release, err = s.Lock(); err == nil {
			return release, nil
		}
		if !errors.Is(err, collect.ErrBusy) || !o.job.once || !time.Now().Before(deadline) {
			const fix = "wait for it, or end it: two loads on one device measure each other"
			return nil, fail(exitCollect, fix, "collect: %w", err)
		}
		if !said {
			sh.say("waiting   %v", err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// runIn measures in results, or in the scratch folder of the host, from where results are moved there on every path.
func (o collectOptions) runIn(
	ctx context.Context, sh *shell, ws *workspace.Workspace, s *session.Session, results string,
	report func(collect.Event),
) (out collect.Outcome, err error) {
	at := results
	if o.job.scratch != "" {
		dir, put, missing := collect.Stage(o.job.scratch, results)
		if missing != nil {
			return out, missing
		}
		defer func() {
			err = errors.Join(err, put())
			out.Dir = filepath.Join(results, out.ID)
		}()
		at = dir
	}
	folder, err := openFolder(ctx, sh, ws, o.patience, func() (*collect.Folder, error) {
		return collect.Open(ctx, s.Plan, s.Server, at, report)
	})
	if err != nil {
		return out, err
	}
	return folder.Measure(ctx)
}

// printPart prints a part of what is in a folder: the one of an index, counted from the first that is asked for.
func printPart(to io.Writer, args []string) error {
	usage := fail(exitUsage, "it is run by a pod that reads a claim",
		kubernetes.PrintCommand+": expected a folder, the first part and an index")
	if len(args) != 3 {
		return usage
	}
	first, err := strconv.Atoi(args[1])
	index, wrong := strconv.Atoi(args[2])
	if err != nil || wrong != nil || first < 0 || index < 0 {
		return usage
	}
	switch list, err := os.ReadDir(args[0]); {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(list) == 0:
		fmt.Fprintln(to, "nothing was measured")
		return nil
	case err != nil:
		return failure{code: exitCollect, err: fmt.Errorf("%s: %w", kubernetes.PrintCommand, err)}
	}
	if err := transfer.WritePart(to, args[0], first+index, transfer.PartBytes); err != nil {
		return failure{code: exitCollect, err: err}
	}
	return nil
}

// printResults prints the run folders in results, which a follower takes out of the log of a pod.
func (o collectOptions) printResults(sh *shell, ws *workspace.Workspace) error {
	dir := o.resultsIn(ws)
	if list, err := os.ReadDir(dir); errors.Is(err, fs.ErrNotExist) || err == nil && len(list) == 0 {
		return nil // nothing was measured
	}
	if err := transfer.Write(sh.out, dir); err != nil {
		return failure{code: exitCollect, err: err}
	}
	return nil
}
