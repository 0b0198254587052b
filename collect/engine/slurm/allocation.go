package slurm

import (
	"context"
	"fmt"
	"strings"
)

// Allocation is the nodes of the job that this process is part of.
type Allocation struct {
	Nodes []string // the first runs the job's script
	Here  string   // the one of this process; "" outside of the nodes, as under salloc
	// Address is where other nodes reach this one: NodeAddr of slurm.conf, a name or an address.
	Address string
	cpus    string
}

// Allocated returns the nodes of the job of this process, as its environment states them; see sbatch(1), OUTPUT
// ENVIRONMENT VARIABLES. There are none outside of a job, and in one of a single node.
func Allocated(ctx context.Context, getenv func(string) string) (a Allocation, err error) {
	if n := getenv("SLURM_JOB_NUM_NODES"); n == "" || n == "1" {
		return a, nil
	}
	out, said, err := run(ctx, "scontrol", "show", "hostnames", getenv("SLURM_JOB_NODELIST"))
	if err != nil {
		return a, fmt.Errorf("scontrol show hostnames: %w: %s", err, said)
	}
	a = Allocation{Nodes: strings.Fields(out), Here: getenv("SLURMD_NODENAME"), cpus: getenv("SLURM_CPUS_PER_TASK")}
	if a.Here == "" {
		return a, nil
	}
	out, said, err = run(ctx, "scontrol", "--oneliner", "show", "node", a.Here)
	if err != nil {
		return a, fmt.Errorf("scontrol show node %s: %w: %s", a.Here, err, said)
	}
	a.Address = a.Here
	for field := range strings.FieldsSeq(out) {
		if v, is := strings.CutPrefix(field, "NodeAddr="); is {
			a.Address = v
		}
	}
	return a, nil
}

// Step returns the command line that runs a program on a node of the allocation, with its input and output here. It
// shares the processors that the job has on the node.
func (a Allocation) Step(node string, argv ...string) []string {
	if node == a.Here {
		return argv
	}
	step := []string{"srun", "--nodes=1", "--ntasks=1", "--nodelist=" + node, "--overlap", "--quiet"}
	if a.cpus != "" { // srun does not take it from the job
		step = append(step, "--cpus-per-task="+a.cpus)
	}
	return append(step, argv...)
}
