//go:build race

package builtin_test

// raced says that the race detector is in: it makes the client several times slower, so what is timed is not the client
// that people run.
const raced = true
