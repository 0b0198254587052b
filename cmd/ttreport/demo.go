package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/progress"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/site/preview"
)

func demoCommand(sh *shell) *cobra.Command {
	dir, port, noPreview := "ttreport-demo", 0, false
	return command("demo", map[string]any{
		"dir": &dir, "port": &port, "no-preview": &noPreview, "lock-timeout": &sh.patience,
	}, func(c *cobra.Command, args []string) error {
		ctx := c.Context()
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return failure{code: exitUsage, err: fmt.Errorf("demo: %w", err), hint: "choose another place with --dir"}
		}
		ws, err := openWorkspace(dir)
		if err != nil {
			return err
		}
		if _, err := measureDemo(ctx, sh, ws); err != nil {
			return err
		}
		if err := build(ctx, sh, ws, nil, buildOptions{}); err != nil || noPreview {
			return err
		}
		err = preview.New(ws.Site()).Serve(ctx, port, func(url string) { sh.say("preview   %s  (Ctrl-C stops it)", url) })
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil
		}
		return err
	})
}

// collectDemo runs the demo where nothing real could be mixed with it.
func (o collectOptions) collectDemo(ctx context.Context) error {
	sh, ws := o.sh, o.ws
	cols, _, err := history.Load(ctx, ws.History())
	isReal := func(h columns.RunHead) bool { return !h.IsSimulated() }
	if ws.Configured || err == nil && slices.ContainsFunc(cols.Runs, isReal) {
		return fail(exitUsage,
			"measure with ttreport collect --model MODEL --device DEVICE, or run the demo in a folder of its own: ttreport demo",
			"collect: this folder has a configuration or real runs; the demo would mix simulated numbers with them")
	}
	if o.dryRun {
		sh.say("demo: six releases of a simulated model, each:")
		progress.WritePlan(sh.err, collect.DemoPlan(), plan.Estimate{})
		return nil
	}
	outs, err := measureDemo(ctx, sh, ws)
	if err != nil {
		return err
	}
	if len(outs) == 0 {
		const text = "the demo in %s is complete already; remove the folder to measure it again. Next: ttreport build\n"
		fmt.Fprintf(sh.out, text, ws.Results())
		return nil
	}
	const text = "%s of the demo measured, all simulated; results in %s. Next: ttreport build\n"
	fmt.Fprintf(sh.out, text, plaintext.Plural(len(outs), "run"), ws.Results())
	return nil
}

// measureDemo measures what the demo still lacks, with progress.
func measureDemo(ctx context.Context, sh *shell, ws *workspace.Workspace) ([]collect.Outcome, error) {
	if err := os.MkdirAll(ws.Results(), 0o777); err != nil {
		return nil, failure{code: exitCollect, err: err, hint: "check the permissions and free space of the folder"}
	}
	for _, dir := range []string{ws.Dir, ws.Results()} { // it takes a second
		release, err := sh.lock(ctx, dir, folderlock.Exclusive)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	show := newProgress(sh)
	outs, err := collect.Demo(ctx, ws.Results(), show.Event)
	show.End()
	if err != nil {
		err = collectError(ctx, sh, ws, err)
	}
	return outs, err
}
