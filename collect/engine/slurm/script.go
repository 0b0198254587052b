package slurm

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"

	"github.com/ttreport/ttreport/collect/plan"
)

// Job is one server start: an entry of a plan.
type Job struct {
	Entry     int            `json:"entry"` // from 1; the index in its array
	Name      string         `json:"name"`  // "acme/tiny on h100"
	Total     int            `json:"total"` // measurements
	Resources plan.Resources `json:"-"`
	Limit     time.Duration  `json:"-"` // from the estimate, where the resources state none
	Plan      []byte         `json:"-"` // file of the entry
}

// limit returns the time limit, and whether it was stated.
func (j Job) limit() (d time.Duration, stated bool) {
	if d := j.Resources.TimeLimit(); d > 0 {
		return d, true
	}
	return j.Limit, false
}

// Group is an array: jobs whose resources agree.
type Group struct {
	Number    int            `json:"number"` // from 1
	Entries   []int          `json:"entries"`
	Resources plan.Resources `json:"resources"`
	Limit     time.Duration  `json:"limit"`
	Stated    bool           `json:"stated"` // the limit was not derived
}

// groups returns the arrays of jobs, in the order of their first jobs.
func groups(jobs []Job) []Group {
	var out []Group
	at := map[string]int{}
	for _, j := range jobs {
		limit, stated := j.limit()
		key := fmt.Sprintf("%q %s", fmt.Sprintf("%+v", j.Resources), limit)
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			out = append(out, Group{Number: i + 1, Resources: j.Resources, Limit: limit, Stated: stated})
		}
		out[i].Entries = append(out[i].Entries, j.Entry)
	}
	return out
}

// Derived returns a time limit for a plan that is estimated to take so long: twice the estimate and the start of the
// server, rounded up to steps that let similar plans share an array.
func Derived(estimate, start time.Duration) time.Duration {
	need := 2*estimate + start
	for _, step := range []time.Duration{15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour,
		8 * time.Hour, 12 * time.Hour} {
		if need <= step {
			return step
		}
	}
	const day = 24 * time.Hour
	return (need + day - 1) / day * day
}

// timeText writes a time limit as sbatch takes it: days-hours:minutes:seconds.
func timeText(d time.Duration) string {
	d = (d + time.Second - 1) / time.Second
	return fmt.Sprintf("%d-%02d:%02d:%02d", d/86400, d/3600%24, d/60%60, d%60)
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

// script returns the batch script of a group.
func (s *Submission) script(g Group) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	shell := "#!/bin/bash"
	if len(g.Resources.Modules) > 0 {
		shell += " -l" // which defines module
	}
	line("%s", shell)
	line("# %d of the %d jobs of ttreport collect --on slurm: one server start each, one array for equal resources.",
		len(g.Entries), len(s.Jobs))
	line("# By hand: sbatch %s", shellescape.Quote(s.scriptName(g)))
	for _, o := range s.directives(g) {
		line("#SBATCH %s", o)
	}
	line("")
	for _, m := range g.Resources.Modules {
		line("module load %s", shellescape.Quote(m))
	}
	line("set -euo pipefail")
	line("")
	line("# Slurm requeues a job whose node fails, or that is preempted: at most this often.")
	line("retries=${1:-%d}", g.Resources.MostRetries())
	line(`if [ "${SLURM_RESTART_COUNT:-0}" -gt "$retries" ]; then`)
	line(`  echo "requeued $SLURM_RESTART_COUNT times, and retries: $retries is stated" >&2`)
	line("  exit %d", exitRetries)
	line("fi")
	line("")
	line("entry=$(printf '%%03d' \"$SLURM_ARRAY_TASK_ID\")")
	if strings.ContainsAny(strings.Join(slices.Concat(s.Args, s.After, g.Resources.RunArgs), ""), "$`") {
		line("# shellcheck disable=SC2016 # the program gets these signs as they are")
	}
	line("%s", s.commandLine(g))
	return b.String()
}

// exitRetries is the exit code of a job that was requeued too often: EX_TEMPFAIL of sysexits.h.
const exitRetries = 75

// directives returns the options of sbatch.
func (s *Submission) directives(g Group) []string {
	out := []string{
		"--job-name=" + s.jobName(g, 0), "--array=" + indexes(g.Entries),
		fmt.Sprintf(`--output="%s/log-%%3a.txt"`, strings.ReplaceAll(s.Dir, "%", "%%")),
		"--open-mode=append", fmt.Sprintf("--chdir=%q", s.Workspace), "--nodes=1", "--requeue",
	}
	for _, f := range plan.ResourceFields() {
		if f.Option == "" || f.Name == "time" || *f.Text(&g.Resources) == "" {
			continue
		}
		out = append(out, "--"+f.Option+"="+*f.Text(&g.Resources))
	}
	if g.Resources.Exclusive == "true" {
		out = append(out, "--exclusive")
	}
	if g.Limit > 0 {
		out = append(out, "--time="+timeText(g.Limit))
	}
	return out
}

// commandLine returns what a job runs.
func (s *Submission) commandLine(g Group) string {
	quoted := []string{"exec", shellescape.Quote(s.Program), "collect"}
	argv := slices.Clone(s.Args)
	for _, a := range g.Resources.RunArgs {
		argv = append(argv, "--run-arg="+a)
	}
	argv = append(argv, "--once")
	if g.Resources.GRES != "" {
		argv = append(argv, "--allocated") // GRES is the lock
	}
	if g.Resources.Scratch != "" {
		argv = append(argv, "--scratch="+g.Resources.Scratch)
	}
	for _, a := range argv {
		quoted = append(quoted, shellescape.Quote(a))
	}
	under := func(dir, name string) string { return shellescape.Quote(dir) + `/` + name }
	quoted = append(quoted, "--out", under(s.Out, `"$entry"`), "--plan", under(s.Dir, `"entry-$entry.yaml"`))
	if len(s.After) > 0 {
		quoted = append(quoted, "--")
		for _, a := range s.After {
			quoted = append(quoted, shellescape.Quote(a))
		}
	}
	return strings.Join(quoted, " ")
}

// jobName returns the name of a group's jobs at a retry, by which they are found.
func (s *Submission) jobName(g Group, retry int) string {
	name := fmt.Sprintf("ttreport-%s-%d", s.ID, g.Number)
	if retry > 0 {
		name += fmt.Sprintf("-r%d", retry)
	}
	return name
}

func (s *Submission) scriptName(g Group) string {
	return filepath.Join(s.Dir, fmt.Sprintf("group-%d.sh", g.Number))
}

// Scripts returns the batch scripts, in order.
func (s *Submission) Scripts() []string {
	var out []string
	for _, g := range s.Groups {
		out = append(out, s.script(g))
	}
	return out
}

// String describes what a group asks for: "gpu, gpu:h100:8, at most 30m0s".
func (g Group) String() string {
	parts := []string{cmp.Or(g.Resources.Partition, "the default partition")}
	if g.Resources.GRES != "" {
		parts = append(parts, g.Resources.GRES)
	}
	return strings.Join(append(parts, "at most "+timeText(g.Limit)), ", ")
}
