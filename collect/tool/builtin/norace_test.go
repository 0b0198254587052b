//go:build !race

package builtin_test

const raced = false
