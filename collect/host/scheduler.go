package host

import "os"

// Scheduler returns facts about the job that this process is part of, as Slurm states them in its environment, see
// sbatch(1), OUTPUT ENVIRONMENT VARIABLES, or as our pods do. It is empty outside of a job.
func Scheduler() map[string]string {
	out := map[string]string{}
	if pod := os.Getenv("TTREPORT_POD"); pod != "" {
		out["kubernetes_job_id"], out["kubernetes_node"] = pod, os.Getenv("TTREPORT_NODE")
	}
	id := os.Getenv("SLURM_JOB_ID")
	if id == "" {
		return out
	}
	if array := os.Getenv("SLURM_ARRAY_JOB_ID"); array != "" {
		id = array + "_" + os.Getenv("SLURM_ARRAY_TASK_ID")
	}
	out["slurm_job_id"] = id
	for name, variable := range map[string]string{
		"slurm_node": "SLURMD_NODENAME", "slurm_partition": "SLURM_JOB_PARTITION", "slurm_restarts": "SLURM_RESTART_COUNT",
	} {
		if v := os.Getenv(variable); v != "" {
			out[name] = v
		}
	}
	return out
}
