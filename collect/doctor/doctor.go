// Package doctor examines what a collection needs: tools, secrets, a port, memory, space, access to a model, an image.
//
// In: what a workspace configures and what a person asks about. Out: [Finding] values, each with what is to be done.
// It changes nothing, except that [Make] and [Reset] do what they say. Values of secrets are in no finding.
package doctor

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/tool/environment"
)

// Finding is one thing that was examined.
type Finding struct {
	OK    bool
	What  string // a tool, "disk", "port 8000"
	Found string
	Fix   string // what to do, mostly a command; "" when nothing is to be done
}

// Request says what to examine.
type Request struct {
	Dir   string            // the workspace
	Tools environment.Tools // how tools are found
	Exec  map[string]string // benchmarks of the user's own, by name
	Port  int               // that a server would take
	Model string            // on the hub; "" for none
	Image string            // of a server; "" for none

	hub string // where models are; "" for the usual one
}

// Check reports the first name that is no tool's.
func Check(names ...string) error {
	for _, name := range names {
		if _, known := tool.Named(name); name != "" && !known {
			return fmt.Errorf("no tool is called %q", name)
		}
	}
	return nil
}

// Tools lists the names of all tools that can be examined.
func Tools() []string { return append(tool.Names(false)[1:], tool.Names(true)...) }

// Make makes the environment of a tool now.
func Make(ctx context.Context, find environment.Tools, name string) error {
	a, _ := tool.Named(name)
	_, err := find.Ensure(ctx, a.Name, a.Program, a.Module)
	return err
}

// Examine examines everything, tools first.
func Examine(ctx context.Context, r Request) []Finding {
	out := []Finding{{true, "builtin", "in this program", ""}}
	for _, a := range tool.Adapters() {
		out = append(out, findTool(ctx, r.Tools, a))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Exec)) {
		if _, err := (plan.Finder{Exec: r.Exec}).Adapter(name, false); err != nil {
			out = append(out, Finding{false, name, err.Error(), "correct exec: in ttreport.yaml"})
		} else {
			out = append(out, Finding{true, name, "exec, " + r.Exec[name], ""})
		}
	}
	out = append(out, environments(), containers(), port(r.Port))
	out = append(out, secrets(r.Dir)...)
	out = append(out, space(r.Dir), memory())
	out = append(out, hugePages()...)
	if r.Model != "" {
		out = append(out, access(ctx, r))
	}
	if r.Image != "" {
		out = append(out, image(ctx, r.Image))
	}
	return out
}

// Missing counts what is needed and not there.
func Missing(list []Finding, needed []string) int {
	n := 0
	for _, f := range list {
		if !f.OK && slices.Contains(needed, f.What) {
			n++
		}
	}
	return n
}

// Write writes findings as a table.
func Write(w io.Writer, list []Finding) error {
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	for _, f := range list {
		sign := "ok"
		if !f.OK {
			sign = "--"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", sign, f.What, f.Found, f.Fix)
	}
	return tw.Flush()
}
