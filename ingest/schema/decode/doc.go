// Package decode turns the bytes of result files into values, leniently where the meaning is clear and with a located
// problem where it is not.
//
// It takes a file's content and returns a [File]: one or several JSON values and the problems found. Result files are
// not clean JSON: Python writes NaN and Infinity, tools append several values to one ".json", editors add byte order
// marks, crashes truncate files. Each is read as far as possible, and reported.
//
// The scanner is our own because the readers depend on its speed: it skips unneeded values at memory speed, keeps
// number arrays as []float64, and never turns a token that is not a number into one. Skipped parts are checked for
// balanced brackets and strings, not for grammar. Numbers are parsed exactly (the nearest float64), by strconv where
// the fast path is not exact.
//
// YAML written by people is read strictly instead: an unknown field is an error with its line, see [YAML].
//
// The package must not know result formats or the file system.
package decode
