// Package slurm hands a plan to Slurm and follows it: one job a server start, in arrays where resources agree.
//
// In: [Job] values, each with the file of its entry and what it needs, and the commands sbatch, squeue, sacct, scontrol
// and scancel. Out: a [Submission], a folder with scripts that can be read and run by hand, the logs of the jobs and a
// journal of what was submitted; from [Follower.Run] the state of every job in Slurm's words, and at its end what Slurm
// accounted for ([Facts]). A job runs "ttreport collect" on its node, with the run folder below [Submission.Out].
//
// Slurm places, limits and restarts jobs. This package only submits what is missing after a time limit again, and never
// submits twice: what it is about to do is in the journal first, and a job is found by its name afterwards. It must not
// know workloads, servers or what results contain: of a run folder it reads the journal.
package slurm
