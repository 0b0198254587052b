// Package slurm is Slurm as a scheduler of jobs.
//
// In: an [engine.Submission], and the commands sbatch, squeue, sacct, sinfo and scancel. Out: batch scripts that can be
// read and run by hand, and a [Backend] with the states of jobs in Slurm's words.
//
// Package engine follows jobs and submits them again. This package must not know what a run folder contains.
package slurm

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest/redact"
)

// Backend is Slurm behind its commands.
type Backend struct{}

// About implements [engine.Backend], as the methods below do.
func (Backend) About() engine.About {
	return engine.About{
		Name: "slurm", Title: "Slurm", Server: "the controller", Succeeded: "COMPLETED",
		Suffix: ".sh", Between: "\n", File: "the script of the job",
		FixSecret:      "put it into .env, which the job reads on its node",
		FixMissing:     "run this on a login node; --dry-run prints the scripts anywhere",
		FixUnavailable: "squeue must answer; submitted jobs continue",
	}
}

// Flags declares none.
func (Backend) Flags(*pflag.FlagSet) {}

// Find looks for Slurm's commands.
func (Backend) Find(context.Context) (engine.Target, error) {
	for _, name := range []string{"sbatch", "squeue", "scancel"} {
		if _, err := exec.LookPath(name); err != nil {
			return engine.Target{}, fmt.Errorf("%w: there is no %s", engine.ErrMissing, name)
		}
	}
	return engine.Target{}, nil
}

// Fetch does nothing: results are on a file system that the nodes share.
func (Backend) Fetch(context.Context, *engine.Submission, engine.JobStatus) error { return nil }

// run runs one of Slurm's commands; kind is its error where Slurm answers. An environment is handed to the controller
// with a script, which is "" for none, and input is read by the command.
func run(ctx context.Context, kind error, script, input string, argv ...string) (out, stderr string, err error) {
	out, stderr, err = engine.Output(ctx, handedOn(os.Environ(), script), input, argv...)
	if err != nil {
		err = failure(kind, argv[0], stderr, err)
	}
	return out, stderr, err
}

// handedOn returns the environment for one of Slurm's commands: without variables with secrets, because sbatch hands
// its environment to the controller, which writes it to its disk, and without those that would take precedence over
// what a script states; see sbatch(1), INPUT ENVIRONMENT VARIABLES.
func handedOn(environ []string, script string) []string {
	options := map[string]string{
		"SBATCH_ARRAY_INX": "array", "SBATCH_TIMELIMIT": "time", "SBATCH_MEM_PER_NODE": "mem", "SBATCH_MEM_PER_CPU": "mem",
		"SBATCH_NO_REQUEUE": "requeue",
	}
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		if !strings.Contains(value, redact.Mark) && strings.Contains(redact.Field(name, value), redact.Mark) {
			return true
		}
		option, ours := strings.CutPrefix(name, "SBATCH_")
		if !ours {
			return false
		}
		option = strings.ToLower(strings.ReplaceAll(option, "_", "-"))
		if o := options[name]; o != "" {
			option = o
		}
		directive := "\n#SBATCH --" + option
		return strings.Contains(script, directive+"=") || strings.Contains(script, directive+"\n")
	})
}

// signsOfAbsence are parts of what Slurm's commands print when the controller cannot be reached.
var signsOfAbsence = []string{
	"Unable to contact slurm controller", "Socket timed out", "Connection refused", "Communication connection failure",
	"Communication shutdown failure", "Zero Bytes were transmitted", "Transport endpoint is not connected",
	"backup controller", "temporarily unable", "Slurm temporarily", "Message receive failure", "No route to host",
}

// failure is the error of a command: [engine.ErrUnavailable] where the controller cannot be reached, else kind.
func failure(kind error, name, stderr string, err error) error {
	last := stderr[strings.LastIndexByte(stderr, '\n')+1:]
	switch {
	case errors.Is(err, engine.ErrUnavailable), errors.Is(err, engine.ErrMissing), errors.Is(err, context.Canceled):
		return err
	case slices.ContainsFunc(signsOfAbsence, func(sign string) bool { return strings.Contains(stderr, sign) }):
		return fmt.Errorf("%w: %s", engine.ErrUnavailable, last)
	case stderr == "":
		return fmt.Errorf("%w: %s: %w", kind, name, err)
	case errors.Is(kind, engine.ErrUnavailable):
		return fmt.Errorf("%w: %s", kind, last)
	}
	return fmt.Errorf("%w: %s", kind, strings.ReplaceAll(stderr, "\n", "; "))
}

// Submit implements [engine.Backend] with sbatch.
func (Backend) Submit(ctx context.Context, s *engine.Submission, a engine.Array) (string, error) {
	argv := []string{"sbatch", "--parsable", "--job-name=" + a.Name, "--array=" + indexes(a.Entries)}
	if a.Limit > 0 {
		argv = append(argv, "--time="+engine.TimeText(a.Limit))
	}
	file := s.FileOf(a.Group)
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("submission: %w", err)
	}
	out, _, err := run(ctx, engine.ErrRefused, string(text), "", append(argv, file, strconv.Itoa(a.Retries))...)
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";") // then the name of a cluster
	return id, err
}

// queueFormat has the array's id, the index, the job's id, state, reason, node, time left, restarts and name, each
// with room for what is usual and a bar; see squeue(1), --Format.
const queueFormat = "ArrayJobID:24|,ArrayTaskID:24|,JobID:24|,State:32|,Reason:128|,NodeList:256|,TimeLeft:24|," +
	"RestartCnt:12|,Name:128|"

// Queue implements [engine.Backend]. Jobs that have ended are listed for MinJobAge, 300 s by default.
func (Backend) Queue(ctx context.Context, _ *engine.Submission, names []string) ([]engine.JobStatus, error) {
	out, _, err := run(ctx, engine.ErrUnavailable, "", "", "squeue", "--noheader", "--array", "--states=all",
		"--name="+strings.Join(names, ","), "--Format="+queueFormat)
	return parseQueue(out), err
}

// rows yields the lines of a table that have so many fields, the last with what is behind it.
func rows(out string, fields int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(out) {
			f := strings.SplitN(strings.TrimSpace(line), "|", fields)
			for i := range f {
				f[i] = strings.TrimSpace(f[i])
			}
			if len(f) == fields && !yield(f) {
				return
			}
		}
	}
}

// parseQueue reads what squeue prints in [queueFormat].
func parseQueue(out string) (list []engine.JobStatus) {
	for f := range rows(out, 10) { // the last one is empty
		entry, err := strconv.Atoi(f[1])
		if err != nil {
			continue // no array: not ours
		}
		restarts, _ := strconv.Atoi(f[7]) // 0 where it is not stated
		list = append(list, engine.JobStatus{
			Array: f[0], Entry: entry, Job: f[2], State: f[3], Phase: phaseOf(f[3]), Reason: f[4], Node: f[5], Left: f[6],
			Restarts: restarts, Name: f[8],
		})
	}
	return list
}

// Cancel implements [engine.Backend]. What jobs leave is in the file system that they share.
func (Backend) Cancel(ctx context.Context, _ *engine.Submission, jobs []engine.JobStatus) error {
	argv := append([]string{"scancel"}, engine.Arrays(jobs)...)
	_, stderr, err := run(ctx, errors.New("scancel failed"), "", "", argv...)
	if strings.Contains(stderr, "Invalid job id") { // it is gone
		return nil
	}
	return err
}

// Partition is a partition of the cluster.
type Partition struct {
	Name    string
	Default bool
	Limit   time.Duration // 0: none
	GRES    string
	Nodes   int
	CPUs    string // of a node: "64", or "64+" where some have more
}

const accountFormat = "JobID,State,ExitCode,ElapsedRaw,MaxRSS,ConsumedEnergyRaw,NodeList,Reason,JobName"

// Accounts implements [engine.Backend] with sacct.
func (Backend) Accounts(
	ctx context.Context, _ *engine.Submission, names []string, since time.Time,
) ([]engine.Account, error) {
	out, stderr, err := run(ctx, engine.ErrNoAccounting, "", "", "sacct", "--noheader", "--parsable2", "--duplicates",
		"--noconvert", "--name="+strings.Join(names, ","), "--starttime="+since.Format("2006-01-02T15:04:05"),
		"--format="+accountFormat)
	if err != nil || strings.Contains(stderr, "accounting storage is disabled") {
		return nil, fmt.Errorf("%w: %s", engine.ErrNoAccounting, stderr)
	}
	return parseAccounts(out), nil
}

// parseAccounts reads what sacct prints in [accountFormat]. The steps of a job follow it; the largest MaxRSS of them
// counts.
func parseAccounts(out string) (list []engine.Account) {
	for f := range rows(out, 9) {
		id, step, isStep := strings.Cut(f[0], ".")
		if isStep && step != "" {
			if n := len(list); n > 0 && list[n-1].Job == id {
				list[n-1].MaxRSS = larger(list[n-1].MaxRSS, f[4])
				list[n-1].Energy = larger(list[n-1].Energy, f[5])
			}
			continue
		}
		_, index, _ := strings.Cut(id, "_")
		entry, err := strconv.Atoi(index)
		if err != nil {
			continue
		}
		state, _, _ := strings.Cut(f[1], " ") // "CANCELLED by 1000"
		list = append(list, engine.Account{
			Name: f[8], Entry: entry, Job: id, State: state, Phase: phaseOf(state), ExitCode: f[2], Elapsed: f[3], MaxRSS: f[4],
			Energy: f[5], Node: f[6], Reason: f[7],
		})
	}
	return list
}

// larger returns the larger of two whole numbers; "" is not recorded.
func larger(a, b string) string {
	x, _ := strconv.ParseInt(a, 10, 64) // 0 for what is not recorded
	y, _ := strconv.ParseInt(b, 10, 64)
	if y > x {
		return b
	}
	return a
}

// parsePartitions reads what sinfo prints.
func parsePartitions(out string) (list []Partition) {
	for f := range rows(out, 5) {
		name, isDefault := strings.CutSuffix(f[0], "*")
		n, _ := strconv.Atoi(f[3])
		if f[2] == "(null)" {
			f[2] = ""
		}
		list = append(list, Partition{
			Name: name, Default: isDefault, Limit: plan.SlurmTime(f[1]), GRES: f[2], Nodes: n, CPUs: f[4],
		})
	}
	return list
}

// phaseOf returns what a state of Slurm means; see squeue(1), JOB STATE CODES.
func phaseOf(state string) engine.Phase {
	switch state {
	case "PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED",
		"RESIZING", "RESV_DEL_HOLD", "SIGNALING", "SPECIAL_EXIT", "STAGE_OUT", "STOPPED":
		return engine.Active
	case "COMPLETED":
		return engine.Succeeded
	case "TIMEOUT":
		return engine.OutOfTime
	case "NODE_FAIL", "PREEMPTED", "BOOT_FAIL":
		return engine.Disrupted
	}
	return engine.Failed
}

// fit gives jobs without a stated time limit the one of their partition where the derived one is above it, and refuses
// a partition that does not exist and a stated limit that its partition does not allow: Slurm itself would let such a
// job wait for ever.
func fit(jobs []engine.Job, have []Partition) error {
	for i := range jobs {
		j := &jobs[i]
		most, err := limitOf(*j, have)
		if err != nil {
			return err
		}
		limit, stated := j.TimeLimit()
		switch {
		case most == 0 || limit <= most:
		case stated:
			why := fmt.Sprintf("%s is more than the partition allows, %s", j.Resources.Time, engine.TimeText(most))
			return &engine.RefusedError{Job: j.Name, Field: "time", Why: why, Have: describe(have)}
		default:
			j.Limit = most
		}
	}
	return nil
}

// limitOf returns the longest time limit of a job's partitions; 0 for none.
func limitOf(j engine.Job, have []Partition) (most time.Duration, err error) {
	if j.Resources.Partition == "" {
		if i := slices.IndexFunc(have, func(p Partition) bool { return p.Default }); i >= 0 {
			most = have[i].Limit
		}
		return most, nil
	}
	for name := range strings.SplitSeq(j.Resources.Partition, ",") {
		i := slices.IndexFunc(have, func(p Partition) bool { return p.Name == name })
		if i < 0 {
			why := fmt.Sprintf("there is no partition %q", name)
			return 0, &engine.RefusedError{Job: j.Name, Field: "partition", Why: why, Have: describe(have)}
		}
		if have[i].Limit == 0 {
			return 0, nil
		}
		most = max(most, have[i].Limit)
	}
	return most, nil
}

// describe lists partitions: "bench (4 nodes of 64 CPUs, gpu:h100:8, at most 0-01:00:00)".
func describe(have []Partition) string {
	var list []string
	for _, p := range have {
		parts := []string{fmt.Sprintf("%d nodes of %s CPUs", p.Nodes, p.CPUs)}
		if p.GRES != "" {
			parts = append(parts, p.GRES)
		}
		if p.Limit > 0 {
			parts = append(parts, "at most "+engine.TimeText(p.Limit))
		}
		list = append(list, fmt.Sprintf("%s (%s)", p.Name, strings.Join(parts, ", ")))
	}
	return strings.Join(list, ", ")
}

// faults are parts of Slurm's messages, and the fields of resources that they are about.
var faults = [][2]string{
	{"generic resource", "gres"}, {"account", "account"}, {"partition", "partition"}, {"feature", "constraint"},
	{"qos", "qos"}, {"reservation", "reservation"}, {"time limit", "time"}, {"node name", "nodelist"},
	{"Memory", "mem"}, {"CPU count", "cpus"}, {"Requested node configuration is not available", "gres, cpus, mem"},
}

// Check returns the submission with time limits that the partitions allow, when sbatch --test-only takes all of it; a
// [engine.RefusedError] otherwise.
func (b Backend) Check(ctx context.Context, s *engine.Submission) (*engine.Submission, error) {
	out, _, err := run(ctx, engine.ErrUnavailable, "", "", "sinfo", "--noheader", "--format=%P|%l|%G|%D|%c")
	if err != nil {
		return nil, err
	}
	have, fitted := parsePartitions(out), *s
	fitted.Jobs = slices.Clone(s.Jobs)
	if err := fit(fitted.Jobs, have); err != nil {
		return nil, err
	}
	fitted.Groups = engine.GroupsOf(fitted.Jobs)
	for _, g := range fitted.Groups {
		text, err := b.Render(&fitted, g)
		if err != nil {
			return nil, err
		}
		if _, _, err := run(ctx, engine.ErrRefused, text, text, "sbatch", "--test-only"); err != nil {
			return nil, refusal(err, s.NameOf(g.Entries[0]), have)
		}
	}
	return &fitted, nil
}

// refusal names the field of resources that sbatch does not take.
func refusal(err error, job string, have []Partition) error {
	if !errors.Is(err, engine.ErrRefused) {
		return err
	}
	why := strings.TrimPrefix(strings.TrimPrefix(err.Error(), engine.ErrRefused.Error()+": "), "sbatch: error: ")
	refused := engine.Refusal(job, why, faults)
	refused.Have = describe(have)
	return refused
}

// indexes writes array indexes as sbatch takes them: "1,3,5-7".
func indexes(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		part := strconv.Itoa(list[i])
		if j > i {
			part += "-" + strconv.Itoa(list[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

//go:embed script.sh.tmpl
var scriptText string

// exitRetries is the exit code of a job that was requeued too often: EX_TEMPFAIL of sysexits.h.
const exitRetries = 75

// Render returns the batch script of a group.
func (Backend) Render(s *engine.Submission, g engine.Group) (string, error) {
	args := slices.Clone(s.Args)
	for _, a := range g.Resources.RunArgs {
		args = append(args, "--run-arg="+a)
	}
	args = append(args, "--once")
	if g.Resources.GRES != "" {
		args = append(args, "--allocated") // GRES is the lock
	}
	limit := ""
	if g.Limit > 0 {
		limit = engine.TimeText(g.Limit)
	}
	text, err := template.New("script").Funcs(template.FuncMap{
		"quote": shellescape.Quote, "indexes": indexes,
	}).Parse(scriptText)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = text.Execute(&b, struct {
		engine.Group
		Submission            *engine.Submission
		Resources             *plan.Resources
		File, Name, Log, Time string
		Args                  []string
		Signs                 bool // arguments have signs that a shell would replace
		ExitRetries           int
	}{
		g, s, &g.Resources, s.FileOf(g), s.JobName(g, 0), strings.ReplaceAll(s.Dir, "%", "%%"), limit, args,
		strings.ContainsAny(strings.Join(slices.Concat(args, s.After), ""), "$`"), exitRetries,
	})
	return b.String(), err
}
