// Package slurm is Slurm as a scheduler of jobs.
//
// In: an [engine.Submission], and the commands sbatch, squeue, sacct, sinfo and scancel. Out: batch scripts that can be
// read and run by hand, and a [Backend] with the states of jobs in Slurm's words.
//
// Package engine follows jobs and submits them again. This package must not know what a run folder contains.
package slurm
