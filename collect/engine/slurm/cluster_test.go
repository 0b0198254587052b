package slurm

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
)

func recorded(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// In the form of Slurm 22.05: a job that runs, one that waits, one that was requeued, ended ones, and a job of others.
func TestParseQueue(t *testing.T) {
	list := parseQueue(recorded(t, "squeue.txt"))
	var got []string
	for _, r := range list {
		got = append(got, strings.Join([]string{r.Name, r.Array, r.Job, r.State, r.Reason, r.Node}, " "))
	}
	want := []string{
		"ttreport-x-1 20 21 COMPLETED None n1", "ttreport-x-1 20 22 TIMEOUT TimeLimit n2",
		"ttreport-x-1 20 23 RUNNING None n3", "ttreport-x-1 20 24 PENDING BeginTime ",
		"ttreport-x-1 20 20 PENDING Resources ",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	if list[3].Restarts != 1 || list[3].Entry != 4 || list[2].Left != "59:21" {
		t.Errorf("%+v", list)
	}
	if parseQueue("") != nil || parseQueue("garbage\n|||\n") != nil {
		t.Error("garbage is jobs")
	}
}

func TestParseAccounts(t *testing.T) {
	list := parseAccounts(recorded(t, "sacct.txt"))
	if len(list) != 4 {
		t.Fatalf("%+v", list)
	}
	want := engine.Account{Name: "ttreport-x-1", Entry: 4, Job: "20_4", State: "NODE_FAIL", Phase: engine.Disrupted,
		ExitCode: "0:0", Elapsed: "16",
		Node: "n4", Reason: "None"}
	if list[1] != want {
		t.Errorf("%+v", list[1])
	}
	if list[0].MaxRSS != "45453312" || list[3].State != "CANCELLED" {
		t.Errorf("%+v", list)
	}
	got := engine.Settings("slurm", []engine.Account{list[1], list[2]})
	if got["slurm_state"] != "NODE_FAIL, COMPLETED" || got["slurm_node"] != "n4, n1" || got["slurm_job_id"] != "20_4" ||
		got["slurm_max_rss_bytes"] != "51200000" || got["slurm_energy_j"] != "1830" || got["slurm_reason"] != "" {
		t.Errorf("%v", got)
	}
}

// What Slurm 22.05 printed when it had preempted two of eight jobs, and of them when they had ended.
func TestRecordedPreemption(t *testing.T) {
	list := parseQueue(recorded(t, "squeue-preempted.txt"))
	if len(list) != 8 || list[0].Entry != 1 || list[0].Restarts != 1 || list[0].Reason != "BeginTime" ||
		list[0].State != "PENDING" || list[7].Node != "n4" || list[7].State != "RUNNING" || list[7].Name != "ttreport-x-1" {
		t.Errorf("%+v", list)
	}
	var first []engine.Account
	for _, a := range parseAccounts(recorded(t, "sacct-preempted.txt")) {
		if a.Entry == 1 {
			first = append(first, a)
		}
	}
	got := engine.Settings("slurm", first)
	if got["slurm_state"] != "PREEMPTED, COMPLETED" || got["slurm_elapsed_s"] != "8, 21" || got["slurm_node"] != "n1" ||
		got["slurm_max_rss_bytes"] != "47341568, 50249728" || got["slurm_job_id"] != "2_1" {
		t.Errorf("%v", got)
	}
}

func TestParsePartitions(t *testing.T) {
	got := parsePartitions("bench*|1:00:00|(null)|4|2\ngpu|infinite|gpu:h100:8(S:0-1)|16|64+\n")
	want := []Partition{
		{Name: "bench", Default: true, Limit: time.Hour, Nodes: 4, CPUs: "2"},
		{Name: "gpu", GRES: "gpu:h100:8(S:0-1)", Nodes: 16, CPUs: "64+"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// What keeps people waiting is told apart from what they must change.
func TestFailures(t *testing.T) {
	exit := errors.New("exit status 1")
	for text, away := range map[string]bool{
		"squeue: error: slurm_receive_msg: Socket timed out on send/recv operation":                        true,
		"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)": true,
		"sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received":              true,
		"sbatch: error: Batch job submission failed: Invalid account or account/partition combination":     false,
		"sbatch: error: invalid partition specified: gpux":                                                 false,
	} {
		if err := failure(engine.ErrRefused, "sbatch", text, exit); errors.Is(err, engine.ErrUnavailable) != away {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// sbatch hands its environment to the controller, which keeps it on its disk.
func TestSecretsAreNotSubmitted(t *testing.T) {
	got := handedOn([]string{"PATH=/bin", "HOME=/root", "OPENAI_API_KEY=sk-abcdefghijklmnop123456",
		"HF_TOKEN=hf_x1y2z3", "JWT_SECRET=abc", "https_proxy=http://me:pa55word@proxy:3128", "SLURM_CONF=/etc/slurm.conf",
		"TOKENIZERS_PARALLELISM=false"}, "")
	want := []string{"PATH=/bin", "HOME=/root", "SLURM_CONF=/etc/slurm.conf", "TOKENIZERS_PARALLELISM=false"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

func TestNotInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Backend{}.Find(t.Context())
	if !errors.Is(err, engine.ErrMissing) || !strings.Contains(err.Error(), "sbatch") {
		t.Error(err)
	}
}

// Variables of sbatch take precedence over the lines of a script; those that the plan states must not be overridden.
func TestVariablesDoNotOverride(t *testing.T) {
	script := "#!/bin/bash\n#SBATCH --partition=gpu\n#SBATCH --array=1\n#SBATCH --time=0-01:00:00\n#SBATCH --requeue\n"
	got := handedOn([]string{"SBATCH_PARTITION=cpu", "SBATCH_ACCOUNT=mine", "SBATCH_TIMELIMIT=1", "SBATCH_ARRAY_INX=9",
		"SBATCH_NO_REQUEUE=1", "SLURM_CONF=/c"}, script)
	if want := []string{"SBATCH_ACCOUNT=mine", "SLURM_CONF=/c"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}
