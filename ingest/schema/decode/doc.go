// Package decode turns bytes that tools wrote into values, leniently where the meaning is clear and with a located
// problem where it is not.
//
// It takes a file's content and returns a [File]: one or several JSON values and the problems met. Result files are not
// clean JSON: Python writes NaN and Infinity, appended results put several values into one ".json", editors add byte
// order marks, crashed tools leave a file cut in the middle. Each is read as far as it can be read, and reported.
//
// The scanner is ours because the readers live on it: it skips what is not wanted at memory speed, keeps number arrays
// as []float64, and never lets a token that is not a number become one. Skipped parts are checked for balance and
// strings, not for grammar. Numbers are parsed exactly (the nearest float64), by strconv where the short way is not
// exact.
//
// YAML, written by people, is read strictly instead: an unknown field is an error with its line, see [YAML].
//
// The package knows no result format and no file system.
package decode
