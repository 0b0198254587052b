// Package transfer carries run folders through a program's output.
//
// A pod that has ended cannot be asked for files, but what it printed is kept, and can be read by whoever may read its
// log. [Write] prints run folders as lines among others; [Read] takes them out again and puts the run folders in place
// when all of it has arrived. It must not know what a run folder contains, nor who keeps the log.
package transfer
