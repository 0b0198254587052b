// Package engine hands a plan to a scheduler and follows it: one job a server start, in arrays where resources agree.
//
// In: [Job] values, each with the file of its entry and what it needs, and a [Backend]. Out: a [Submission], a folder
// with what is submitted, which can be read and used by hand, the logs of the jobs and a journal of what was submitted;
// from [Follower.Run] the state of every job in the scheduler's words, and at its end what the scheduler recorded of it
// ([Account]). A job runs "ttreport collect", with its run folder below [Submission.Out].
//
// Schedulers place, limit and restart jobs. This package only submits what is missing after a time limit again, and
// never submits twice: what it is about to do is in the journal first, and a job is found by its name afterwards. It
// must not know a scheduler, workloads, servers or what results contain: of a run folder it reads the journal.
package engine
