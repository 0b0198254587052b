package kubernetes

import (
	"bufio"
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
	"sync"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/engine/transfer"
	"github.com/ttreport/ttreport/collect/plan"
)

// leaving is how long pods may take to end after their Jobs were deleted: their grace, and a slow node.
const leaving = (grace + 30) * time.Second

// Fetch implements [engine.Backend]: a pod writes its run folder to a claim, or prints it, and its log can be read when
// it has ended. A pod that did not succeed may have none.
func (b *Backend) Fetch(ctx context.Context, s *engine.Submission, j engine.JobStatus) error {
	err := b.fetchLog(ctx, s, j)
	var here *fs.PathError // it cannot be written; a log that cannot be had leaves what is on the claim
	if g, _ := claimOf(s, j); g == nil || errors.As(err, &here) {
		return err
	}
	return b.fromClaim(ctx, s, j)
}

// fetchLog takes what a pod printed into its log and the folder of its entry.
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
	ends := b.seen.pods[j.Job].is(running) // it is being deleted, and prints its results now
	if ends {
		within, done := context.WithTimeout(ctx, leaving)
		defer done()
		ctx = within
	}
	err := logs(ctx, s.Target, j, ends, func(from io.Reader) error { return results(from, s, j) })
	if errors.Is(err, transfer.ErrNone) && j.Phase != engine.Succeeded {
		return nil
	}
	return err
}

// results takes what a pod printed into a folder and a log: [transfer.ErrNone] where there are none. One whose results
// are on a claim prints none.
func results(from io.Reader, s *engine.Submission, j engine.JobStatus) error {
	f, err := os.OpenFile(s.LogOf(j.Entry), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	err = transfer.Read(from, f, s.OutOf(j.Entry))
	switch g, _ := claimOf(s, j); {
	case errors.Is(err, transfer.ErrNone) && g != nil:
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

// Cancel implements [engine.Backend]. A pod prints what it measured when it is told to end, and disappears with its log
// soon after: logs are followed from before the Jobs are deleted until their pods end. A Job is deleted when all that
// its pods have printed until then is being read; one whose logs cannot be followed is not.
func (b *Backend) Cancel(ctx context.Context, s *engine.Submission, jobs []engine.JobStatus) error {
	arrays, errs := engine.Arrays(jobs), make([]error, len(jobs))
	refused := make([]error, len(arrays))
	var ends, claims sync.WaitGroup
	for i, array := range arrays {
		ends.Go(func() {
			within, leave := context.WithCancel(ctx)
			defer leave()
			follow(within, s, array, jobs, errs, func(err error) {
				if refused[i] = err; err == nil {
					refused[i] = deleteJobs(ctx, s.Target, array)
				}
				if refused[i] != nil {
					leave()
				} else {
					time.AfterFunc(leaving, leave)
				}
			})
		})
	}
	ends.Wait()
	for i, j := range jobs { // also what an evicted pod left, whose successor had not begun
		if g, _ := claimOf(s, j); g != nil && refused[slices.Index(arrays, j.Array)] == nil {
			claims.Go(func() { errs[i] = engine.Later(ctx, func() error { return b.fromClaim(ctx, s, j) }) })
		}
	}
	claims.Wait()
	if err := errors.Join(refused...); err != nil { // what has not ended can be ended, and fetched, by the next attempt
		return err
	}
	for i, err := range errs {
		if err != nil {
			errs[i] = engine.Unfetched(jobs[i], err)
		}
	}
	return errors.Join(errs...)
}

// podLogs are the arguments that print the logs of all pods of an array, each line with the name of its pod.
func podLogs(array string, more ...string) []string {
	return append([]string{"logs", "--selector=batch.kubernetes.io/job-name=" + array, "--container=" + clientName,
		"--prefix", "--ignore-errors", "--max-log-requests=1000"}, more...)
}

// podOfLine splits a line of [podLogs]: [pod/NAME/collect] text. The name is "" where it is no such line.
func podOfLine(line string) (name, text string) {
	prefix, text, _ := strings.Cut(line, "] ")
	name, _ = strings.CutPrefix(prefix, "[pod/")
	name, _, ok := strings.Cut(name, "/")
	if !ok {
		return "", line
	}
	return name, text
}

// follow takes what the pods of an array print until they end into the results of its jobs, and their errors into errs.
// It calls begun when the log of each pod is being read, or with the reason why it is not.
func follow(
	ctx context.Context, s *engine.Submission, array string, jobs []engine.JobStatus, errs []error, begun func(error),
) {
	pods, silent := map[string]*io.PipeWriter{}, map[string]bool{}
	var reading sync.WaitGroup
	for i, j := range jobs {
		if j.Array != array || j.Job == "" { // it has no pod yet
			continue
		}
		from, to := io.Pipe()
		pods[j.Job], silent[j.Job] = to, true
		reading.Go(func() {
			errs[i] = results(from, s, j)
			_, _ = io.Copy(io.Discard, from) // so that the others are not held up
		})
	}
	if len(pods) == 0 {
		begun(nil)
		return
	}
	cmd := engine.Command(ctx, argv(s.Target, podLogs(array, "--follow", "--tail=-1")...)...)
	var stderr strings.Builder
	var err error
	lines, out := io.Pipe()
	cmd.Stdout, cmd.Stderr = out, &stderr
	first := make(chan string, len(pods)) // names, at their first lines
	reading.Go(func() { err = cmd.Run(); _ = out.Close() })
	reading.Go(func() { deal(lines, pods, first) })
	begun(followed(ctx, s.Target, array, silent, first))
	reading.Wait()
	for name := range first {
		delete(silent, name)
	}
	for i, j := range jobs {
		switch {
		case pods[j.Job] == nil:
		case silent[j.Job] && err != nil && ctx.Err() == nil:
			errs[i] = fmt.Errorf("the log of %s: %w", j.Job, failure(stderr.String(), err))
		case strings.HasPrefix(stderr.String(), "No resources found"):
			errs[i] = fmt.Errorf("%s: %w", j.Job, errGone)
		case silent[j.Job], errors.Is(errs[i], transfer.ErrEmpty):
			errs[i] = nil // nothing was measured; of the others errs has what they lack
		}
	}
}

// deal hands each line of [podLogs] to its pod until there are no more, and the names of pods to first when their first
// lines come.
func deal(from io.Reader, pods map[string]*io.PipeWriter, first chan<- string) {
	said := map[string]bool{}
	for lines := bufio.NewReader(from); ; {
		line, err := lines.ReadString('\n')
		name, text := podOfLine(line)
		if to := pods[name]; to != nil {
			_, _ = io.WriteString(to, text) // its reader takes all
			if !said[name] {
				first <- name
			}
			said[name] = true
		}
		if err != nil {
			break
		}
	}
	close(first)
	for _, to := range pods {
		_ = to.Close() // which never fails
	}
}

// followed waits until each pod of an array that has printed something is followed. silent has the names of all, and
// first those of pods whose log has begun to come. A pod that has printed nothing has measured nothing.
func followed(
	ctx context.Context, t engine.Target, array string, silent map[string]bool, first <-chan string,
) error {
	within, done := context.WithTimeout(ctx, 2*time.Minute) // what a pod measured is lost when it is ended before
	defer done()
	pause, ended := 500*time.Millisecond, false
	ask := time.NewTimer(pause) // which pods have printed anything: a process that mostly need not be
	var why error
	for len(silent) > 0 {
		select {
		case name, more := <-first:
			if delete(silent, name); more {
				continue
			}
			ended = true
		case <-ask.C:
		case <-within.Done():
			return why
		}
		said, err := kubectl(within, t, "", podLogs(array, "--tail=1")...)
		why = err
		for line := range strings.Lines(said) {
			if name, _ := podOfLine(line); silent[name] && err == nil {
				why = fmt.Errorf("the log of %s does not come, which has what it measured", name)
			}
		}
		if why == nil || ended {
			return why
		}
		pause *= 2
		ask.Reset(pause)
	}
	return nil
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
			if err == nil {
				j := engine.JobStatus{Job: pod, Phase: engine.Succeeded}
				err = logs(ctx, r.sub.Target, j, false, func(from io.Reader) error {
					_, err := io.Copy(out, from)
					return err
				})
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
