// Command figures measures the judge on made-up histories with a known truth and prints a table: what was measured,
// the goal, and whether it was met. It exits 1 when a goal is missed. --corpus names a folder with the annotated
// series of the Turing Change Point Dataset (tcpd/) and of Treeherder (treeherder/).
//
//	go run ./.ci/measure/figures
//	go run ./.ci/measure/figures --seed 7 --populations 3 --speed --corpus DIR
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"text/tabwriter"

	"github.com/spf13/pflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

type options struct {
	seed        uint64
	populations int
	corpus      string
	speed       bool
}

// run prints the table; the exit code is 1 when a goal is missed, so that CI fails.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	fs := pflag.NewFlagSet("figures", pflag.ContinueOnError)
	fs.Uint64Var(&o.seed, "seed", 1, "`number` that fixes all populations")
	fs.IntVar(&o.populations, "populations", 10, "`number` of populations for each row")
	fs.StringVar(&o.corpus, "corpus", "", "`folder` with tcpd/ and treeherder/")
	fs.BoolVar(&o.speed, "speed", false, "measure time and memory too, which depend on the machine")
	if err := fs.Parse(args); errors.Is(err, pflag.ErrHelp) {
		return 0
	} else if err != nil || o.populations < 1 || fs.NArg() > 0 {
		fmt.Fprintln(stderr, "figures: expected only flags, and --populations of 1 or more:", err)
		return 2
	}
	tw := tabwriter.NewWriter(stdout, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "DATA\tMEASURED\tGOAL\t")
	t := &table{w: tw, o: o, ctx: ctx}
	for _, part := range parts() {
		part(t)
		if ctx.Err() != nil {
			return 130
		}
		tw.Flush()
	}
	if t.missed > 0 {
		fmt.Fprintf(stdout, "%d of the goals missed\n", t.missed)
		return 1
	}
	fmt.Fprintln(stdout, "all goals met")
	return 0
}

// parts returns the sections of the table. An interrupted section prints nothing.
func parts() []func(*table) {
	return []func(*table){unchanged, heavyTails, changed, wholeDevice, changePoints, annotated, invariance, speed}
}

type table struct {
	ctx    context.Context
	w      io.Writer
	o      options
	missed int
}

// row prints one figure; goal "" marks a figure without a goal.
func (t *table) row(met bool, data, goal, measured string, args ...any) {
	mark := "met"
	switch {
	case goal == "":
		mark = ""
	case !met:
		mark = "MISSED"
		t.missed++
	}
	fmt.Fprintf(t.w, "%s\t%s\t%s\t%s\n", data, fmt.Sprintf(measured, args...), goal, mark)
}
