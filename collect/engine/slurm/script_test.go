package slurm

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/plan"
)

// hard is a submission with everything that a script can have.
func hard(dir string) *engine.Submission {
	many := plan.Resources{
		Partition: "gpu", GRES: "gpu:h100:8", CPUs: "16", Mem: "64G", Time: "2:00:00", Account: "bench", Constraint: "a&b",
		Exclusive: "true", Modules: []string{"cuda/12.4"}, RunArgs: []string{"--label=it's $HOME"},
	}
	jobs := []engine.Job{
		{Entry: 1, Name: "a", Resources: many}, {Entry: 2, Name: "b", Limit: time.Hour},
		{Entry: 3, Name: "c", Resources: many},
		{Entry: 4, Name: "d", Resources: many}, {Entry: 5, Name: "e", Limit: 2 * time.Hour},
	}
	return engine.Prepare(engine.Submission{
		Engine: "slurm", Suffix: ".sh",
		Workspace: dir, Program: "/opt/tt report/ttreport", Jobs: jobs, Args: []string{"--tokenizer=./my tok", "--seed=3"},
		After: []string{"--model", "a b"},
	}, filepath.Join(dir, "st%ate"), filepath.Join(dir, "results"), time.Unix(0, 0))
}

// Jobs whose resources and limits agree share an array, and the script has every option in sbatch's words.
func TestScripts(t *testing.T) {
	s := hard("/w s")
	var arrays [][]int
	for _, g := range s.Groups {
		arrays = append(arrays, g.Entries)
	}
	if len(arrays) != 3 || !slices.Equal(arrays[0], []int{1, 3, 4}) {
		t.Fatalf("%v", arrays)
	}
	text, _ := Backend{}.Render(s, s.Groups[0])
	for _, want := range []string{
		"#!/bin/bash -l\n", "#SBATCH --array=1,3-4\n", "#SBATCH --partition=gpu\n", "#SBATCH --gres=gpu:h100:8\n",
		"#SBATCH --cpus-per-task=16\n", "#SBATCH --mem=64G\n", "#SBATCH --time=0-02:00:00\n", "#SBATCH --account=bench\n",
		"#SBATCH --constraint=a&b\n", "#SBATCH --exclusive\n", "#SBATCH --requeue\n", "\nmodule load cuda/12.4\n",
		"/st%%ate/", `--chdir="/w s"`, "--allocated", "--once",
		`'--run-arg=--label=it'"'"'s $HOME'`,
		"exec '/opt/tt report/ttreport' collect '--tokenizer=./my tok' --seed=3 ", " -- --model 'a b'\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text, _ := (Backend{}).Render(s, s.Groups[1]); strings.Contains(text, "--allocated") {
		t.Error("without GRES the host's lock is the lock")
	}
}

// A shell reads each script, and hands its arguments on as they were stated.
func TestScriptsRun(t *testing.T) {
	dir := t.TempDir()
	s := hard(dir)
	s.Program = filepath.Join(dir, "my program")
	if err := os.WriteFile(s.Program, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range s.Groups {
		s.Groups[i].Resources.Modules = nil
	}
	if err := s.Write(Backend{}.Render); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", s.FileOf(s.Groups[0]))
	cmd.Env = append(os.Environ(), "SLURM_ARRAY_TASK_ID=3")
	out, err := cmd.CombinedOutput()
	want := strings.Join([]string{"collect", "--tokenizer=./my tok", "--seed=3", "--run-arg=--label=it's $HOME", "--once",
		"--allocated", "--out", s.OutOf(3), "--plan", filepath.Join(s.Dir, "entry-003.yaml"),
		"--", "--model", "a b"}, "\n") + "\n"
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
	cmd = exec.Command("bash", s.FileOf(s.Groups[0]), "1")
	cmd.Env = append(os.Environ(), "SLURM_ARRAY_TASK_ID=3", "SLURM_RESTART_COUNT=2")
	if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != exitRetries {
		t.Errorf("requeued too often: %v %s", err, out)
	}
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("no shellcheck")
	}
	for _, g := range s.Groups {
		if out, err := exec.Command("shellcheck", s.FileOf(g)).CombinedOutput(); err != nil {
			t.Errorf("shellcheck: %s", out)
		}
	}
}

func TestTimes(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Minute: "0-00:01:00", 26*time.Hour + 90*time.Second: "1-02:01:30", time.Millisecond: "0-00:00:01",
	} {
		if got := engine.TimeText(d); got != want {
			t.Errorf("%s: %s", d, got)
		}
	}
	for estimate, want := range map[time.Duration]time.Duration{
		0: 15 * time.Minute, 10 * time.Minute: 30 * time.Minute, 5 * time.Hour: 12 * time.Hour,
		20 * time.Hour: 48 * time.Hour,
	} {
		if got := engine.Derived(estimate, 10*time.Minute); got != want {
			t.Errorf("%s: %s", estimate, got)
		}
	}
}

// Slurm lets jobs wait for ever that its partition does not allow; they are refused before they are submitted.
func TestFit(t *testing.T) {
	have := []Partition{{Name: "bench", Default: true, Limit: time.Hour, Nodes: 4, CPUs: "2"}, {Name: "long"}}
	jobs := []engine.Job{{Name: "m on d", Limit: 4 * time.Hour},
		{Limit: 4 * time.Hour, Resources: plan.Resources{Partition: "long"}}}
	if err := fit(jobs, have); err != nil || jobs[0].Limit != time.Hour || jobs[1].Limit != 4*time.Hour {
		t.Errorf("%v %+v", err, jobs)
	}
	for field, r := range map[string]plan.Resources{"time": {Time: "2:00:00"}, "partition": {Partition: "bench,gpu"}} {
		err := fit([]engine.Job{{Name: "m on d", Resources: r}}, have)
		var refused *engine.RefusedError
		if !errors.As(err, &refused) || refused.Field != field || !errors.Is(err, engine.ErrRefused) ||
			!strings.Contains(refused.Have, "bench (4 nodes of 2 CPUs, at most 0-01:00:00)") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestRefusalsNameTheField(t *testing.T) {
	for why, field := range map[string]string{
		"sbatch: error: Invalid generic resource (gres) specification":                   "gres",
		"sbatch: error: invalid partition specified: gpux\nallocation failure: Invalid":  "partition",
		"allocation failure: Invalid feature specification":                              "constraint",
		"allocation failure: Requested node configuration is not available":              "gres, cpus, mem",
		"allocation failure: Invalid node name specified":                                "nodelist",
		"allocation failure: Requested reservation is invalid":                           "reservation",
		"allocation failure: Invalid account or account/partition combination specified": "account",
		"something else": "",
	} {
		err := refusal(failure(engine.ErrRefused, "sbatch", why, errors.New("1")), "m on d", nil)
		var refused *engine.RefusedError
		if !errors.As(err, &refused) || refused.Field != field || !strings.HasPrefix(err.Error(), "m on d: resources: ") {
			t.Errorf("%s: %v", why, err)
		}
	}
}
