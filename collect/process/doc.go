// Package process runs foreign programs and leaves none behind.
//
// In flows a command line, its environment, a log file and limits of time; out flow its exit status, what it cost, and
// its last words. Every program gets a process group of its own, so that its children end with it: first the group is
// asked (SIGINT, as a person would with Ctrl-C), then, after a grace, it is ended (SIGKILL). That happens when the
// context ends, when the time is over, and when the program itself ends and leaves children.
//
// It knows nothing of what the programs are. It needs a Unix.
package process
