// Command ttreport turns LLM serving benchmarks and evals into a results site that a reviewer can trust.
//
// This package holds the shell: the table of commands, one file a command, flags, exit codes, and what goes to which
// stream. Data go to standard output, messages to standard error. What commands do lives in the packages they call.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
