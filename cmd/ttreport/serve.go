package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/site/preview"
	"github.com/ttreport/ttreport/site/watch"
)

func serveCommand() command {
	return command{
		name: "serve", args: "[PATH…]", summary: "build, show the site on the loopback interface, and build again on every change",
		help: `Builds like ttreport build, serves the site on 127.0.0.1 and watches results/, history/, targets/, notes/, ttreport.yaml and every
PATH. When something changes it builds again, and pages that changed reload in the browser where the reader was. A build that fails is
told in the terminal and on the page; what is shown stays the last good site. Ctrl-C ends it.`,
		examples: []example{
			{"look at results while they come in", "ttreport serve"},
			{"somebody's logs, on a network file system, which tells nothing of changes", "ttreport serve --poll /mnt/logs/workflow_logs"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			var o serveOptions
			fs.IntVar(&o.port, "port", 0, "`port`; 0 takes a free one")
			fs.BoolVar(&o.poll, "poll", false, "look every second in place of being told of changes")
			fs.StringVar(&o.build.out, "out", "", "output `folder` (default _site)")
			id := identityFlags(fs)
			return func(ctx context.Context, sh *shell, args []string) error {
				if o.port < 0 || o.port > 65535 {
					return fail(exitUsage, "a port is a number from 0 to 65535", "serve: --port %d", o.port)
				}
				return o.serve(ctx, sh, args, id)
			}
		},
	}
}

type serveOptions struct {
	port  int
	poll  bool
	build buildOptions
}

func (o serveOptions) serve(ctx context.Context, sh *shell, paths []string, id *identity) error {
	ws, err := workspace.Open(".")
	if err != nil {
		return failure{code: exitUsage, err: err}
	}
	if o.build.out == "" {
		o.build.out = ws.Site()
	}
	s := preview.New(o.build.out)
	if err := o.again(ctx, sh, s, paths, id); err != nil {
		if _, missing := os.Stat(filepath.Join(o.build.out, "index.html")); missing != nil {
			return err // there is no good site to show
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	watched := make(chan error, 1)
	go func() {
		opt := watch.Options{Roots: append([]string{ws.Results(), ws.History(), ws.Targets(), ws.Notes(), ws.Settings(), ws.Logo()}, paths...), Except: o.build.out}
		if o.poll {
			opt.Poll = time.Second
		}
		watched <- watch.Changes(ctx, opt, func() { _ = o.again(ctx, sh, s, paths, id) }) // told by again
		stop()
	}()
	err = s.Serve(ctx, o.port, func(url string) { sh.say("serving   %s  (Ctrl-C ends it)", url) })
	stop()
	if bad := <-watched; bad != nil {
		return bad
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return err
}

// again builds and tells the pages. The configuration is read anew: it may be what changed.
func (o serveOptions) again(ctx context.Context, sh *shell, s *preview.Server, paths []string, id *identity) error {
	ws, err := workspace.Open(".")
	if err == nil {
		b := o.build
		b.built = s.Built
		err = build(ctx, sh, ws, paths, id, b)
	}
	if err != nil && ctx.Err() == nil {
		sh.say("error: %v; the site stays as it was", err)
		s.Failed(err.Error())
	}
	return err
}
