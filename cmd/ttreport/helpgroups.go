package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"
)

// Annotations of flags. A command whose flags have groups shows the common ones in its help, and all of them with
// --help --all.
const (
	groupOf  = "group"
	isCommon = "common"
)

// group declares flags that the help shows under a heading.
func group(fs *pflag.FlagSet, heading string, declare func()) {
	before := map[string]bool{}
	fs.VisitAll(func(f *pflag.Flag) { before[f.Name] = true })
	declare()
	fs.VisitAll(func(f *pflag.Flag) {
		if !before[f.Name] {
			f.Annotations = map[string][]string{groupOf: {heading}}
		}
	})
}

// common marks flags that the help shows without --all.
func common(fs *pflag.FlagSet, names ...string) {
	for _, n := range names {
		if f := fs.Lookup(n); f != nil {
			f.Annotations[isCommon] = nil
		}
	}
}

// helpWidth is the width of a line of flags, in characters.
const helpWidth = 100

// writeFlags prints flags: in one list where they have no groups, else by group, the common ones or all.
func writeFlags(w io.Writer, fs *pflag.FlagSet, name string, all bool) {
	var headings []string
	groups := map[string]*pflag.FlagSet{}
	hidden := 0
	fs.VisitAll(func(f *pflag.Flag) {
		heading := "Flags"
		if g := f.Annotations[groupOf]; len(g) > 0 {
			heading = g[0]
			if _, common := f.Annotations[isCommon]; !common && !all && !f.Hidden {
				hidden++
				return
			}
		}
		if f.Hidden {
			return
		}
		if !slices.Contains(headings, heading) {
			headings = append(headings, heading)
			groups[heading] = pflag.NewFlagSet(heading, pflag.ContinueOnError)
			groups[heading].SortFlags = false
		}
		groups[heading].AddFlag(f)
	})
	for _, h := range headings {
		fmt.Fprintf(w, "\n%s:\n%s", h, groups[h].FlagUsagesWrapped(helpWidth))
	}
	if hidden > 0 {
		fmt.Fprintf(w, "\n%d more flags: ttreport %s --help --all\n", hidden, name)
	}
}
