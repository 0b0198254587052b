package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

func targetsCommand() command {
	return command{
		name: "targets", args: "list", summary: "list the targets in targets/",
		help: `Reads targets/*.json of the workspace (tt-inference-server's model_performance_reference.json and overrides of the same form),
then the file that OVERRIDE_BENCHMARK_TARGETS names, and lists every target by model, device and level.`,
		examples: []example{
			{"all targets of a model on a device", "ttreport targets list --model Llama-3.1-8B --device n150"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			model := fs.String("model", "", "only this `name` of a model")
			device := fs.String("device", "", "only this `name` of a device")
			return func(_ context.Context, sh *shell, args []string) error {
				if len(args) != 1 || args[0] != "list" {
					return fail(exitUsage, "ttreport targets list", "targets: say what to do: list")
				}
				ws, err := workspace.Open(".")
				if err != nil {
					return failure{code: exitUsage, err: err}
				}
				lib, problems, err := targetLibrary(ws, nil)
				if err != nil {
					return err
				}
				for _, p := range problems {
					sh.say("%s: %s", p.Severity, p)
				}
				tw := tabwriter.NewWriter(sh.out, 2, 0, 2, ' ', 0)
				fmt.Fprintln(tw, "MODEL\tDEVICE\tWORKLOAD\tMETRIC\tLEVEL\tTARGET\tTOLERANCE\tSOURCE")
				rows := 0
				for _, e := range lib.List() {
					if *model != "" && !strings.EqualFold(e.Model, *model) && !strings.EqualFold(e.Model, lib.Key(*model)) || *device != "" && !strings.EqualFold(e.Device, *device) {
						continue
					}
					for _, t := range e.Targets {
						info, _ := schema.MetricByName(t.Metric)
						fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%g %%\t%s\n", e.Model, e.Device, t.Key.Workload(), info.Label, t.Level, words.Quantity(t.Value, t.Unit), 100*t.Tolerance, t.Source)
						rows++
					}
				}
				if rows == 0 {
					return fail(exitUngraded, "targets/ needs a target file that can be read, for instance tt-inference-server's model_performance_reference.json", "no target to list")
				}
				return tw.Flush()
			}
		},
	}
}
