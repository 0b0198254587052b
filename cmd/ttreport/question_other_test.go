//go:build !linux

package main

import "testing"

// asked needs a pseudo-terminal: see question_linux_test.go.
func asked(*testing.T, []string, string) {}
