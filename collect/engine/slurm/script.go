package slurm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/ttreport/ttreport/collect/engine"
)

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

// Render returns the batch script of a group.
func (Backend) Render(s *engine.Submission, g engine.Group) (string, error) {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	shell := "#!/bin/bash"
	if len(g.Resources.Modules) > 0 {
		shell += " -l" // which defines module
	}
	line("%s", shell)
	line("# %d of the %d jobs of ttreport collect --on slurm: one server start each, one array for equal resources.",
		len(g.Entries), len(s.Jobs))
	line("# By hand: sbatch %s", shellescape.Quote(s.FileOf(g)))
	directives := []string{
		"--job-name=" + s.JobName(g, 0), "--array=" + indexes(g.Entries),
		fmt.Sprintf(`--output="%s/log-%%3a.txt"`, strings.ReplaceAll(s.Dir, "%", "%%")),
		"--open-mode=append", fmt.Sprintf("--chdir=%q", s.Workspace),
		"--nodes=1", "--requeue",
	}
	for _, f := range g.Resources.Fields() {
		if f.Option != "" && f.Name != "time" && f.Text != "" {
			directives = append(directives, "--"+f.Option+"="+f.Text)
		}
	}
	if g.Resources.Exclusive == "true" {
		directives = append(directives, "--exclusive")
	}
	if g.Limit > 0 {
		directives = append(directives, "--time="+engine.TimeText(g.Limit))
	}
	for _, o := range directives {
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
	line("%s", commandLine(s, g))
	return b.String(), nil
}

// exitRetries is the exit code of a job that was requeued too often: EX_TEMPFAIL of sysexits.h.
const exitRetries = 75

// commandLine returns what a job runs.
func commandLine(s *engine.Submission, g engine.Group) string {
	quoted := []string{"exec", shellescape.Quote(s.Program), "collect"}
	argv := slices.Clone(s.Args)
	for _, a := range g.Resources.RunArgs {
		argv = append(argv, "--run-arg="+a)
	}
	argv = append(argv, "--once")
	if g.Resources.GRES != "" {
		argv = append(argv, "--allocated") // GRES is the lock
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
