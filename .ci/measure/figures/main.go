// Command figures measures the judge on made-up histories with a known truth and prints a table: what was measured,
// the goal, and whether it was met. It exits 1 when a goal is missed. --corpus names a folder with the annotated
// series of the Turing Change Point Dataset (tcpd/) and of Treeherder (treeherder/).
//
//	go run ./.ci/measure/figures
//	go run ./.ci/measure/figures --seed 7 --populations 3 --corpus DIR
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"text/tabwriter"

	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/targets/regression"
	"golang.org/x/sync/errgroup"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

type options struct {
	seed                 uint64
	populations          int
	corpus, series, only string
}

// run prints the table; the exit code is 1 when a goal is missed, so that CI fails.
func run(args []string, stdout, stderr io.Writer) int {
	var o options
	fs := pflag.NewFlagSet("figures", pflag.ContinueOnError)
	fs.Uint64Var(&o.seed, "seed", 1, "`number` that fixes all populations")
	fs.IntVar(&o.populations, "populations", 10, "`number` of populations for each row")
	fs.StringVar(&o.corpus, "corpus", "", "`folder` with tcpd/ and treeherder/")
	fs.StringVar(&o.series, "series", "", "`folder` with public histories that series.py made: asv-*.csv, gha-*.csv")
	fs.StringVar(&o.only, "only", "", "measure one `part` alone")
	if err := fs.Parse(args); errors.Is(err, pflag.ErrHelp) {
		return 0
	} else if err != nil || o.populations < 1 || fs.NArg() > 0 {
		fmt.Fprintln(stderr, "figures: expected only flags, and --populations of 1 or more:", err)
		return 2
	}
	parts := []struct {
		name    string
		measure func(*table)
	}{
		{"groups", shops}, {"unchanged", unchanged}, {"changed", changed},
		{"weekly", weekly}, {"aged", aged}, {"stays", staysWorse}, {"windows", windows}, {"nightlies", nightlies},
		{"annotated", annotated}, {"pairs", pairs}, {"bisect", bisect}, {"until", until},
		{"capacity", capacity},
	}
	tables := make([]*table, len(parts))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0)) // some parts keep one processor busy alone
	for i, part := range parts {
		tables[i] = &table{o: o}
		if o.only == "" || o.only == part.name {
			g.Go(func() error { part.measure(tables[i]); return nil })
		}
	}
	_ = g.Wait() // a part cannot fail
	tw := tabwriter.NewWriter(stdout, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "DATA\tMEASURED\tGOAL\t")
	var t table
	for _, part := range tables {
		tw.Write(part.w.Bytes())
		tw.Flush()
		t.missed, t.broken = t.missed+part.missed, t.broken+part.broken
	}
	switch {
	case t.broken > 0:
		fmt.Fprintf(stdout, "%d of the goals missed, %d below what was reached before\n", t.missed, t.broken)
		return 1
	case t.missed > 0:
		fmt.Fprintf(stdout, "%d of the goals missed, none below what was reached before\n", t.missed)
	default:
		fmt.Fprintln(stdout, "all goals met")
	}
	return 0
}

// judge judges a history by the rules of the product.
func judge(tab *regression.Table) *regression.Judgement {
	j, err := regression.Judge(context.Background(), tab, regression.DefaultRules())
	if err != nil {
		panic(err) // it is of a context that ends
	}
	return j
}

type table struct {
	w      bytes.Buffer
	o      options
	missed int // goals
	broken int // goals without a floor, and floors
}

// row prints one figure; goal "" marks a figure without a goal. A missed goal fails the command.
func (t *table) row(met bool, data, goal, measured string, args ...any) {
	t.floored(met, false, data, goal, "", measured, args...)
}

// floored prints a figure whose goal the method does not reach yet. A missed goal is shown as missed; what fails the
// command is a figure worse than the floor, which is what the method reached before.
func (t *table) floored(met, held bool, data, goal, floor, measured string, args ...any) {
	mark := "met"
	switch {
	case goal == "":
		mark = ""
	case !met && held:
		mark = "MISSED; floor held: " + floor
		t.missed++
	case !met:
		mark = "MISSED"
		if floor != "" {
			mark += "; floor BROKEN: " + floor
		}
		t.missed++
		t.broken++
	}
	fmt.Fprintf(&t.w, "%s\t%s\t%s\t%s\n", data, fmt.Sprintf(measured, args...), goal, mark)
}
