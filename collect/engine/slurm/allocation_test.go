package slurm

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The nodes of a job, the address of this one, and how a program is run on another.
func TestAllocated(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh for a scontrol of our own")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\ncase \"$2\" in\nhostnames) printf 'n1\\nn2\\nn7\\n' ;;\n" +
		"*) echo \"NodeName=$4 Arch=x86_64 NodeAddr=10.0.0.$4 NodeHostName=$4\" ;;\nesac\n"
	if err := os.WriteFile(filepath.Join(dir, "scontrol"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	env := map[string]string{
		"SLURM_JOB_NUM_NODES": "3", "SLURM_JOB_NODELIST": "n[1-2,7]", "SLURMD_NODENAME": "n2", "SLURM_CPUS_PER_TASK": "8",
	}
	getenv := func(name string) string { return env[name] }
	a, err := Allocated(context.Background(), getenv)
	if err != nil || !reflect.DeepEqual(a.Nodes, []string{"n1", "n2", "n7"}) || a.Address != "10.0.0.n2" {
		t.Fatalf("%+v %v", a, err)
	}
	if got := strings.Join(a.Step("n2", "ttreport", "x"), " "); got != "ttreport x" {
		t.Errorf("here: %s", got)
	}
	const want = "srun --nodes=1 --ntasks=1 --nodelist=n7 --overlap --quiet --cpus-per-task=8 ttreport x"
	if got := strings.Join(a.Step("n7", "ttreport", "x"), " "); got != want {
		t.Errorf("there: %s", got)
	}
	env["SLURMD_NODENAME"] = "" // under salloc, outside of the nodes
	a, err = Allocated(context.Background(), getenv)
	if err != nil || len(a.Nodes) != 3 || a.Address != "" || a.Step("n1", "x")[0] != "srun" {
		t.Errorf("outside: %+v %v", a, err)
	}
	for _, n := range []string{"", "1"} {
		env["SLURM_JOB_NUM_NODES"] = n
		a, err := Allocated(context.Background(), getenv)
		if err != nil || len(a.Nodes) > 0 || a.Step("", "x")[0] != "x" {
			t.Errorf("one node: %+v %v", a, err)
		}
	}
}
