// Package decode turns the bytes of result files into values, leniently where the meaning is clear and with a located
// problem where it is not.
//
// It takes a file's content and returns a [File]: one or several JSON values and the problems found. Result files are
// not clean JSON: Python writes NaN and Infinity, tools append several values to one ".json", editors add byte order
// marks, crashes truncate files. Each is read as far as possible, and reported.
//
// The scanner is our own because no library reads NaN, goes on behind a damaged value, says where it is, keeps arrays
// of numbers as []float64 and bounds the memory of hostile input. Numbers are parsed exactly (the nearest float64).
//
// YAML written by people is read strictly instead: an unknown field is an error with its line, see [YAML].
//
// The package must not know result formats or the file system.
package decode
