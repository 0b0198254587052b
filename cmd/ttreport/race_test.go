//go:build race

package main

// raced reports whether the race detector is on: hundreds of commands, each
// several times slower; .ci/run runs their tests without it.
const raced = true
