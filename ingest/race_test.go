//go:build race

package ingest_test

// raced reports whether the race detector is on: allocations count differently.
const raced = true
