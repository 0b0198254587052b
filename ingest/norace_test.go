//go:build !race

package ingest_test

const raced = false
