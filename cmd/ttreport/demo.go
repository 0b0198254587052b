package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/site/preview"
)

func demoCommand() command {
	return command{
		name: "demo", summary: "see it: measure a simulated model, build and preview in ./ttreport-demo/",
		help: `Does in a folder of its own what collect and build do: measures six releases of a simulated model, builds the site and serves it
on the loopback interface until Ctrl-C. The simulator runs on a clock of its own, so the numbers are the same on every machine. A second
demo keeps the measurements and builds the site again.`,
		examples: []example{
			{"see what ttreport makes", "ttreport demo"},
			{"without a preview, for a script", "ttreport demo --no-preview"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			dir := fs.String("dir", "ttreport-demo", "`folder` to work in")
			port := fs.Int("port", 0, "`port` of the preview; 0 takes a free one")
			noPreview := fs.Bool("no-preview", false, "stop after building")
			return func(ctx context.Context, sh *shell, args []string) error {
				if len(args) > 0 {
					return fail(exitUsage, "ttreport demo --dir "+args[0], "demo: unexpected %q", args[0])
				}
				if *port < 0 || *port > 65535 {
					return fail(exitUsage, "a port is a number from 0 to 65535", "demo: --port %d", *port)
				}
				return demo(ctx, sh, *dir, *port, !*noPreview)
			}
		},
	}
}

// demo measures the demo in a folder, builds its site and shows it.
func demo(ctx context.Context, sh *shell, dir string, port int, show bool) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return failure{code: exitUsage, err: fmt.Errorf("demo: %w", err), hint: "choose another place with --dir"}
	}
	ws, err := workspace.Open(dir)
	if err != nil {
		return failure{code: exitUsage, err: err}
	}
	if _, err := measureDemo(ctx, sh, ws); err != nil {
		return err
	}
	if err := build(ctx, sh, ws, nil, &identity{}, buildOptions{}); err != nil || !show {
		return err
	}
	err = preview.New(ws.Site()).Serve(ctx, port, func(url string) { sh.say("preview   %s  (Ctrl-C ends it)", url) })
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return err
}
