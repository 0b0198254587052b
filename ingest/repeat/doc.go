// Package repeat decides which measurements of one workload are repeats of each other.
//
// Points go in that have equal keys, of one run. They are repeats only when everything that names them agrees: foreign
// texts and settings, conditions, the number of prompts where it is the load, and the names of file and folder without
// dates and counters. What differs becomes a dimension of the key, so that unlike measurements are never averaged.
//
// The package must not know formats: it goes by names that people and tools give to settings.
package repeat
