package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest/redact"
)

// Cluster is what is asked of Slurm before jobs are submitted. Each method returns [engine.ErrAway] while the
// controller does not answer.
type Cluster interface {
	// Test returns [engine.ErrRefused] with Slurm's reason for the text of a script that it would not take.
	Test(ctx context.Context, script string) error
	Partitions(ctx context.Context) ([]Partition, error)
}

// Programs is Slurm behind its commands.
type Programs struct{}

// Words implements [engine.Scheduler].
func (Programs) Words() engine.Words {
	return engine.Words{Name: "slurm", Server: "the controller", Succeeded: "COMPLETED"}
}

// Fetch implements [engine.Scheduler]: results are on a file system that the nodes share.
func (Programs) Fetch(context.Context, engine.Record, string, string) error { return nil }

// Installed returns [engine.ErrMissing] where a command is missing.
func (Programs) Installed() error {
	for _, name := range []string{"sbatch", "squeue", "scancel"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%w: there is no %s", engine.ErrMissing, name)
		}
	}
	return nil
}

// answerWithin is how long a command may take. They retry by themselves for MessageTimeout, 10 s by default.
const answerWithin = 2 * time.Minute

// run runs one of Slurm's commands.
func run(ctx context.Context, argv ...string) (out, stderr string, err error) {
	return runWith(ctx, "", "", argv...)
}

// runWith runs one with a text on its standard input. script is what is submitted; "" for none.
func runWith(ctx context.Context, script, stdin string, argv ...string) (out, stderr string, err error) {
	ctx, done := context.WithTimeout(ctx, answerWithin)
	defer done()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Stdin = handedOn(os.Environ(), script), strings.NewReader(stdin)
	cmd.WaitDelay = time.Second
	ownGroup(cmd) // Ctrl-C must not end an sbatch that was sent
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %s took more than %s", engine.ErrAway, argv[0], answerWithin)
	}
	return o.String(), strings.TrimSpace(e.String()), err
}

// handedOn returns the environment for one of Slurm's commands: without secrets, and without the variables that would
// take precedence over what a script states; see sbatch(1), INPUT ENVIRONMENT VARIABLES.
func handedOn(environ []string, script string) []string {
	options := map[string]string{
		"SBATCH_ARRAY_INX": "array", "SBATCH_TIMELIMIT": "time", "SBATCH_MEM_PER_NODE": "mem", "SBATCH_MEM_PER_CPU": "mem",
		"SBATCH_NO_REQUEUE": "requeue",
	}
	return slices.DeleteFunc(withoutSecrets(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
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

// withoutSecrets leaves out variables with secrets: sbatch hands its environment to the controller, which writes it to
// its disk.
func withoutSecrets(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		return !strings.Contains(value, redact.Mark) && strings.Contains(redact.Field(name, value), redact.Mark)
	})
}

// signsOfAbsence are parts of what Slurm's commands print when the controller cannot be reached.
func signsOfAbsence() []string {
	return []string{
		"Unable to contact slurm controller", "Socket timed out", "Connection refused", "Communication connection failure",
		"Communication shutdown failure", "Zero Bytes were transmitted", "Transport endpoint is not connected",
		"backup controller", "temporarily unable", "Slurm temporarily", "Message receive failure", "No route to host",
	}
}

// failure is the error of a command: [engine.ErrAway] where the controller cannot be reached, else kind.
func failure(kind error, name, stderr string, err error) error {
	if errors.Is(err, engine.ErrAway) || errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w: there is no %s", engine.ErrMissing, name)
	}
	for _, sign := range signsOfAbsence() {
		if strings.Contains(stderr, sign) {
			return fmt.Errorf("%w: %s", engine.ErrAway, lastLine(stderr))
		}
	}
	if stderr == "" {
		return fmt.Errorf("%w: %s: %w", kind, name, err)
	}
	if errors.Is(kind, engine.ErrAway) {
		return fmt.Errorf("%w: %s", kind, lastLine(stderr))
	}
	return fmt.Errorf("%w: %s", kind, strings.ReplaceAll(stderr, "\n", "; "))
}

func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// Test implements [Cluster] with sbatch --test-only.
func (Programs) Test(ctx context.Context, script string) error {
	_, stderr, err := runWith(ctx, script, script, "sbatch", "--test-only")
	if err != nil {
		return failure(engine.ErrRefused, "sbatch", stderr, err)
	}
	return nil
}

// Submit implements [engine.Scheduler].
func (Programs) Submit(ctx context.Context, o engine.Order) (string, error) {
	argv := []string{"sbatch", "--parsable", "--job-name=" + o.Name, "--array=" + indexes(o.Entries)}
	if o.Limit > 0 {
		argv = append(argv, "--time="+engine.TimeText(o.Limit))
	}
	text, err := os.ReadFile(o.File)
	if err != nil {
		return "", fmt.Errorf("submission: %w", err)
	}
	out, stderr, err := runWith(ctx, string(text), "", append(argv, o.File, strconv.Itoa(o.Retries))...)
	if err != nil {
		return "", failure(engine.ErrRefused, "sbatch", stderr, err)
	}
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";") // then the name of a cluster
	return id, nil
}

// queueFormat has the array's id, the index, the job's id, state, reason, node, time left, restarts and name, each
// with room for what is usual and a bar; see squeue(1), --Format.
const queueFormat = "ArrayJobID:24|,ArrayTaskID:24|,JobID:24|,State:32|,Reason:128|,NodeList:256|,TimeLeft:24|," +
	"RestartCnt:12|,Name:128|"

// Queue implements [engine.Scheduler]. Jobs that have ended are listed for MinJobAge, 300 s by default.
func (Programs) Queue(ctx context.Context, names []string) ([]engine.Record, error) {
	out, stderr, err := run(ctx, "squeue", "--noheader", "--array", "--states=all", "--name="+strings.Join(names, ","),
		"--Format="+queueFormat)
	if err != nil {
		return nil, failure(engine.ErrAway, "squeue", stderr, err)
	}
	return parseQueue(out), nil
}

// parseQueue reads what squeue prints in [queueFormat].
func parseQueue(out string) []engine.Record {
	var list []engine.Record
	for line := range strings.Lines(out) {
		f := strings.Split(line, "|")
		if len(f) < 9 {
			continue
		}
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		entry, err := strconv.Atoi(f[1])
		if err != nil {
			continue // no array: not ours
		}
		restarts, _ := strconv.Atoi(f[7]) // 0 where it is not stated
		list = append(list, engine.Record{
			Array: f[0], Entry: entry, Job: f[2], State: f[3], Phase: phaseOf(f[3]), Reason: f[4], Node: f[5], Left: f[6],
			Restarts: restarts, Name: f[8],
		})
	}
	return list
}

// Cancel implements [engine.Scheduler]. What jobs leave is in the file system that they share.
func (Programs) Cancel(ctx context.Context, jobs []engine.Record, _ func(engine.Record) (dir, log string)) error {
	_, stderr, err := run(ctx, append([]string{"scancel"}, engine.Arrays(jobs)...)...)
	if err != nil && !strings.Contains(stderr, "Invalid job id") {
		return failure(errors.New("scancel failed"), "scancel", stderr, err)
	}
	return nil
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

// Accounts implements [engine.Scheduler] with sacct.
func (Programs) Accounts(ctx context.Context, names []string, since time.Time) ([]engine.Account, error) {
	out, stderr, err := run(ctx, "sacct", "--noheader", "--parsable2", "--duplicates", "--noconvert",
		"--name="+strings.Join(names, ","), "--starttime="+since.Format("2006-01-02T15:04:05"), "--format="+accountFormat)
	if err != nil || strings.Contains(stderr, "accounting storage is disabled") {
		return nil, fmt.Errorf("%w: %s", engine.ErrNoAccounting, stderr)
	}
	return parseAccounts(out), nil
}

// parseAccounts reads what sacct prints in [accountFormat]. The steps of a job follow it; the largest MaxRSS of them
// counts.
func parseAccounts(out string) []engine.Account {
	var list []engine.Account
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), "|", 9)
		if len(f) != 9 {
			continue
		}
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

// larger returns the larger of two whole numbers; "" and 0 are not recorded.
func larger(a, b string) string {
	x, _ := strconv.ParseInt(a, 10, 64) // 0 for what is not recorded
	y, _ := strconv.ParseInt(b, 10, 64)
	if y > x {
		return b
	}
	return a
}

// Partitions implements [Cluster] with sinfo.
func (Programs) Partitions(ctx context.Context) ([]Partition, error) {
	out, stderr, err := run(ctx, "sinfo", "--noheader", "--format=%P|%l|%G|%D|%c")
	if err != nil {
		return nil, failure(engine.ErrAway, "sinfo", stderr, err)
	}
	return parsePartitions(out), nil
}

func parsePartitions(out string) []Partition {
	var list []Partition
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 5 {
			continue
		}
		name, isDefault := strings.CutSuffix(f[0], "*")
		limit, _ := plan.SlurmTime(f[1]) // 0 for "infinite"
		n, _ := strconv.Atoi(f[3])
		if f[2] == "(null)" {
			f[2] = ""
		}
		list = append(list, Partition{Name: name, Default: isDefault, Limit: limit, GRES: f[2], Nodes: n, CPUs: f[4]})
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

// Fit gives jobs without a stated time limit the one of their partition where the derived one is above it, and refuses
// a partition that does not exist and a stated limit that its partition does not allow: Slurm itself would let such a
// job wait for ever.
func Fit(jobs []engine.Job, have []Partition) error {
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
	at := func(is func(Partition) bool) (Partition, bool) {
		i := slices.IndexFunc(have, is)
		if i < 0 {
			return Partition{}, false
		}
		return have[i], true
	}
	if j.Resources.Partition == "" {
		p, _ := at(func(p Partition) bool { return p.Default })
		return p.Limit, nil
	}
	for name := range strings.SplitSeq(j.Resources.Partition, ",") {
		p, ok := at(func(p Partition) bool { return p.Name == name })
		if !ok {
			why := fmt.Sprintf("there is no partition %q", name)
			return 0, &engine.RefusedError{Job: j.Name, Field: "partition", Why: why, Have: describe(have)}
		}
		if p.Limit == 0 {
			return 0, nil
		}
		most = max(most, p.Limit)
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
func faults() [][2]string {
	return [][2]string{
		{"generic resource", "gres"}, {"account", "account"}, {"partition", "partition"}, {"feature", "constraint"},
		{"qos", "qos"}, {"reservation", "reservation"}, {"time limit", "time"}, {"node name", "nodelist"},
		{"Memory", "mem"}, {"CPU count", "cpus"}, {"Requested node configuration is not available", "gres, cpus, mem"},
	}
}

// Accepted returns the submission with time limits that the partitions allow, when Slurm would take all of it; a
// [engine.RefusedError] otherwise.
func Accepted(ctx context.Context, s *engine.Submission, c Cluster) (*engine.Submission, error) {
	have, err := c.Partitions(ctx)
	if err != nil {
		return nil, err
	}
	fitted := *s
	fitted.Jobs = slices.Clone(s.Jobs)
	if err := Fit(fitted.Jobs, have); err != nil {
		return nil, err
	}
	fitted.Groups = engine.GroupsOf(fitted.Jobs)
	return &fitted, check(ctx, &fitted, c, have)
}

// check asks Slurm whether it would take every script, before one is submitted.
func check(ctx context.Context, s *engine.Submission, c Cluster, have []Partition) error {
	for _, g := range s.Groups {
		err := c.Test(ctx, Script(s, g))
		if err == nil {
			continue
		}
		if !errors.Is(err, engine.ErrRefused) {
			return err
		}
		why := strings.TrimPrefix(strings.TrimPrefix(err.Error(), engine.ErrRefused.Error()+": "), "sbatch: error: ")
		refused := &engine.RefusedError{Job: s.NameOf(g.Entries[0]), Why: why, Have: describe(have)}
		for _, f := range faults() {
			if strings.Contains(why, f[0]) {
				refused.Field = f[1]
				break
			}
		}
		return refused
	}
	return nil
}
