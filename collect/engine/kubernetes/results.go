package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/engine/transfer"
	"github.com/ttreport/ttreport/collect/plan"
	"golang.org/x/sync/errgroup"
)

// Fetch implements [engine.Backend]: a pod writes its run folder to a claim, or prints it as it grows. A pod that did
// not succeed may have none.
func (b *Backend) Fetch(ctx context.Context, s *engine.Submission, j engine.JobStatus) error {
	err := b.fetchLog(ctx, s, j)
	var here *fs.PathError // it cannot be written; a log that cannot be had leaves what is on the claim
	if g, _ := claimOf(s, j); g == nil || errors.As(err, &here) {
		return err
	}
	return b.fromClaim(ctx, s, j)
}

// fetchLog takes what a pod has printed into its log and the folder of its entry.
func (b *Backend) fetchLog(ctx context.Context, s *engine.Submission, j engine.JobStatus) error {
	if j.Job == "" { // it has ended between two looks
		if err := b.look(ctx, s); err != nil {
			return err
		}
		list := b.seen.statuses([]string{j.Name}, time.Now())
		at := slices.IndexFunc(list, func(n engine.JobStatus) bool { return n.Entry == j.Entry && n.Job != "" })
		if at < 0 {
			return errGone
		}
		j = list[at]
	}
	text, err := logs(ctx, s.Target, j)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.LogOf(j.Entry), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	err = transfer.Read(strings.NewReader(text), f, s.OutOf(j.Entry))
	switch g, _ := claimOf(s, j); {
	case errors.Is(err, transfer.ErrNone) && (g != nil || j.Phase != engine.Succeeded):
		return nil
	case errors.Is(err, transfer.ErrCut):
		return fmt.Errorf("%w; a kubelet keeps the last 10 MB of one: state a claim in results: of resources", err)
	}
	return err
}

// claimOf returns the group of a job whose results are on a claim, and their folder there; nil where they are not.
func claimOf(s *engine.Submission, j engine.JobStatus) (g *engine.Group, folder string) {
	for _, g := range s.Groups {
		if i := slices.Index(g.Entries, j.Entry); i >= 0 && g.Resources.Results != "" {
			return &g, path.Join(onClaim(s, g), strconv.Itoa(i))
		}
	}
	return nil, ""
}

// Cancel implements [engine.Backend]. A pod disappears with its log soon after it is told to end: what it has printed
// is read before its Job is deleted. A Job with a pod whose log cannot be read is not. What is on a claim is read when
// the pods have ended.
func (b *Backend) Cancel(ctx context.Context, s *engine.Submission, jobs []engine.JobStatus) error {
	errs, refused := make([]error, len(jobs)), []error(nil)
	for _, array := range engine.Arrays(jobs) {
		var reading errgroup.Group
		reading.SetLimit(8) // each is a process
		for i, j := range jobs {
			if j.Array == array && j.Job != "" { // else it has no pod yet
				reading.Go(func() error {
					errs[i] = b.fetchLog(ctx, s, j)
					if errors.Is(errs[i], errGone) || errors.Is(errs[i], transfer.ErrCut) {
						return nil
					}
					return errs[i]
				})
			}
		}
		err := reading.Wait()
		if err == nil {
			err = deleteJobs(ctx, s.Target, array)
		}
		if err != nil { // what has not ended can be ended, and fetched, by the next attempt
			refused = append(refused, err)
		}
	}
	if len(refused) > 0 {
		return errors.Join(refused...)
	}
	for i, j := range jobs {
		if g, _ := claimOf(s, j); g != nil { // also what an evicted pod left, whose successor had not begun
			_, _ = kubectl(ctx, s.Target, "", "wait", "--for=delete", "--request-timeout=0", // a slow node has half a minute
				fmt.Sprintf("--timeout=%ds", grace+30), "pods", "--selector=batch.kubernetes.io/job-name="+j.Array)
			errs[i] = engine.Later(ctx, func() error { return b.fromClaim(ctx, s, j) })
		}
		if errs[i] != nil {
			errs[i] = engine.Unfetched(j, errs[i])
		}
	}
	return errors.Join(errs...)
}

// fromClaim brings what an entry has on its claim to its folder: from the claim itself where it is mounted here, else
// through the logs of pods that mount it and measure nothing. [engine.ErrLater] while that is on its way.
func (b *Backend) fromClaim(ctx context.Context, s *engine.Submission, j engine.JobStatus) error {
	g, folder := claimOf(s, j)
	err := transfer.ErrNone
	if at := g.Resources.ResultsAt; at != "" {
		from := filepath.Join(at, filepath.FromSlash(folder))
		if err = transfer.Copy(from, s.OutOf(j.Entry)); errors.Is(err, transfer.ErrNone) {
			err = fmt.Errorf("%w: nothing is in %s; is results_at where %s is mounted?", err, from, g.Resources.Results)
		}
	} else {
		// nothing is known of one whose pods are gone; one that never ran has written nothing
		pods := b.seen.podsOf(j.Array, j.Entry)
		if j.Phase == engine.Succeeded || len(pods) == 0 || slices.ContainsFunc(pods, func(p *pod) bool { return p.ran }) {
			r := reader{s, *g, folder, fmt.Sprintf("%s-read-%d", j.Array, j.Entry)} // a retry has one of its own
			err = r.bring(ctx, s.OutOf(j.Entry))
		}
	}
	if errors.Is(err, transfer.ErrNone) && j.Phase != engine.Succeeded {
		return nil
	}
	return err
}

// reader reads the results of one entry from its claim, in parts that a log keeps: each is printed by a pod.
type reader struct {
	sub    *engine.Submission
	group  engine.Group
	folder string
	name   string // of its Job
}

// bring puts what is on the claim into a folder. The first part states how many there are.
func (r reader) bring(ctx context.Context, dir string) error {
	rest := r.name + "-rest"
	pods, err := r.read(ctx, r.name, 0, 1)
	if err != nil {
		return err
	}
	said, err := tail(ctx, r.sub.Target, pods[0], 1)
	if err != nil {
		return err
	}
	switch n := transfer.PartsOf(said); {
	case n == 0:
		_ = deleteJobs(ctx, r.sub.Target, r.name) // else its TTL ends it
		return transfer.ErrNone
	case n > 1:
		more, err := r.read(ctx, rest, 1, n-1)
		if err != nil {
			return err
		}
		pods = append(pods, more...)
	}
	in, out := io.Pipe()
	go func() { // one log after the other
		var err error
		for _, pod := range pods {
			text := ""
			if err == nil {
				text, err = logs(ctx, r.sub.Target, engine.JobStatus{Job: pod, Phase: engine.Succeeded})
				_, _ = io.WriteString(out, text) // its reader may have given up
			}
		}
		_ = out.CloseWithError(err)
	}()
	err = transfer.Read(in, io.Discard, dir)
	_ = in.Close()
	if err == nil || errors.Is(err, transfer.ErrCut) { // what is cut is read again
		_ = deleteJobs(ctx, r.sub.Target, r.name, rest) // else their TTL ends them
	}
	return err
}

// read returns the pods, by index, of a Job that prints n parts from one on. [engine.ErrLater] while they run: the Job
// is made when there is none.
func (r reader) read(ctx context.Context, name string, from, n int) ([]string, error) {
	t, claim := r.sub.Target, r.group.Resources.Results
	list, err := objects(ctx, t, "get", "jobs.batch,pods", "--selector=ttreport/reads="+name)
	if err != nil {
		return nil, err
	}
	later := fmt.Errorf("%w: its results are being read from %s", engine.ErrLater, claim)
	at := slices.IndexFunc(list, func(o object) bool { return o.Kind == "Job" })
	if at < 0 {
		text, err := readerJob(r.sub, r.group, name, r.folder, from, n)
		if err == nil {
			_, err = kubectl(ctx, t, text, "create", "--filename=-")
		}
		return nil, cmp.Or(err, later)
	}
	pods, why, broken, found := make([]string, n), "", "", []*pod{}
	for _, o := range list {
		p := podOf(o)
		if p == nil || p.index >= n || p.Metadata.OwnerReferences[0].UID != list[at].Metadata.UID {
			continue // or of one that was deleted
		}
		switch found = append(found, p); p.phase {
		case succeeded:
			pods[p.index] = p.name
		case failed:
			broken, why = p.name, p.reason
		default:
			why = cmp.Or(p.reason, why)
		}
	}
	if !slices.Contains(pods, "") {
		return pods, nil
	}
	if job := jobOf(list[at]); job.why == "" && goesOn(job, found, time.Now()) {
		if why != "" {
			later = fmt.Errorf("%w: %s", later, why)
		}
		return nil, later
	}
	if broken != "" {
		said, _ := tail(ctx, t, broken, 3) // without it the reason says enough
		why = cmp.Or(strings.TrimSpace(said), why)
	}
	_ = deleteJobs(ctx, t, name) // so that the next attempt is another one
	return nil, fmt.Errorf("the pod that reads the claim %s did not succeed: %s", claim, why)
}

// goesOn reports whether a Job is to be waited for: while Kueue has not admitted it, while one of its pods runs, and a
// while for pods to begin.
func goesOn(j job, pods []*pod, now time.Time) bool {
	began := j.Metadata.CreationTimestamp
	if !j.Status.StartTime.IsZero() { // since it was not suspended any more
		began = j.Status.StartTime
	}
	runs, last := false, began
	for _, p := range pods {
		runs = runs || p.phase == running && !p.deleted
		for _, at := range []time.Time{p.Metadata.CreationTimestamp, p.finished} {
			if at.After(last) {
				last = at
			}
		}
	}
	const starts, reads = 10 * time.Minute, 24 * time.Hour
	return j.Spec.Suspend || runs && now.Sub(began) < reads || !runs && now.Sub(last) < starts
}

// readerJob returns the Job that prints n parts of a folder of a claim, from one on, each in a pod.
func readerJob(s *engine.Submission, g engine.Group, name, folder string, from, n int) (string, error) {
	f := fieldsOf(s, g)
	f.Name, f.Folder, f.Parts, f.AtOnce = name, folder, n, min(n, 4) // pods at once
	f.Args = []string{PrintCommand, resultsPath, strconv.Itoa(from), indexVariable}
	f.ClientResources = requirements(plan.Resources{CPUs: "200m", Mem: "128M"})
	return execute("reader", f)
}
