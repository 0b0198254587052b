// Package process runs other programs and leaves none of their processes behind.
//
// In: a command line, its environment, a log file and time limits. Out: the exit status, the time that it took, and
// the last lines of its log. Every program gets its own process group, so that its children end with it: the group
// first gets SIGINT, as with Ctrl-C, then SIGTERM, and after a grace SIGKILL. That happens when the context ends,
// when the time limit is reached, and when the program ends and leaves children. Children in sessions of their own are
// found by a mark in their environment. When we are killed, a guard does the same.
//
// It must not know what the programs are. It needs a Unix system.
package process
