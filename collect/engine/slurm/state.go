package slurm

import "github.com/ttreport/ttreport/collect/engine"

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
