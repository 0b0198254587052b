//go:build race

package builtin_test

// raced reports whether the race detector is on: it makes the client several times slower, so timings are not those
// of the real client.
const raced = true
