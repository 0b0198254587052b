// Command ttreport turns LLM serving benchmarks and evals into a results site that a reviewer can trust.
//
// This package holds the shell: the table of commands, one file a command, flags, exit codes, and what goes to which
// stream. Data go to standard output, messages to standard error. What commands do lives in the packages they call.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/ttreport/ttreport/collect/process"
)

func main() {
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	if !signal.Ignored(syscall.SIGHUP) { // nohup asks to go on
		signal.Notify(signals, syscall.SIGHUP)
	}
	cobra.EnableCommandSorting = false // the help has them by use
	ctx, stop := interruptible(signals, os.Stderr)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// interruptible returns a context that the first signal ends: what was started is asked to end, and what was measured
// is kept. After the second nothing that was started is waited for.
func interruptible(signals <-chan os.Signal, w io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	hurry, rush := context.WithCancel(context.Background())
	var leaves atomic.Bool
	go func() {
		<-signals
		cancel()
		const patience = time.Second
		select {
		case <-signals:
		case <-time.After(patience): // most have ended by now
			if !leaves.Load() {
				fmt.Fprintln(w, "ending what was started, which may take half a minute; Ctrl-C again ends it at once")
			}
			<-signals
		}
		rush()
	}()
	ctx = context.WithValue(ctx, leavesKey{}, func() { leaves.Store(true) })
	return process.WithHurry(ctx, hurry), func() { cancel(); rush() }
}

// leavesKey is the key of a function of the context: what was started goes on after the first signal, and nothing is
// said about its end.
type leavesKey struct{}

// leavesRunning says that what was started goes on after the first signal.
func leavesRunning(ctx context.Context) {
	if leave, ok := ctx.Value(leavesKey{}).(func()); ok {
		leave()
	}
}
