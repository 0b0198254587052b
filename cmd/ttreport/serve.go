package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/ttreport/ttreport/site/preview"
)

func serveCommand(sh *shell) *cobra.Command {
	o := serveOptions{build: buildOptions{id: &identity{}}}
	return command("serve", o.build.id.flags(map[string]any{
		"port": &o.port, "poll": &o.poll, "out": &o.build.out, "lock-timeout": &sh.patience,
	}), func(c *cobra.Command, args []string) error {
		return o.serve(c.Context(), sh, args)
	})
}

type serveOptions struct {
	port  int
	poll  bool
	build buildOptions
}

func (o serveOptions) serve(ctx context.Context, sh *shell, paths []string) error {
	ws, err := openWorkspace(".")
	if err != nil {
		return err
	}
	if o.build.out == "" {
		o.build.out = ws.Site()
	}
	s := preview.New(o.build.out)
	if err := o.again(ctx, sh, s, paths); err != nil {
		if _, missing := os.Stat(filepath.Join(o.build.out, "index.html")); missing != nil {
			return err // there is no good site to show
		}
	}
	until, stop := context.WithCancel(ctx)
	defer stop()
	watched := make(chan error, 1)
	go func() {
		own := []string{ws.Results(), ws.WorkflowLogs(), ws.History(), ws.Targets(), ws.Notes(), ws.Settings(), ws.Logo()}
		opt := preview.Watched{Roots: append(own, paths...), Except: o.build.out}
		if o.poll {
			opt.Poll = time.Second
		}
		watched <- preview.Changes(until, opt, func() { _ = o.again(ctx, sh, s, paths) }) // which shows its error
		stop()
	}()
	err = s.Serve(until, o.port, func(url string) { sh.say("serving   %s  (Ctrl-C stops it)", url) })
	stop()
	if bad := <-watched; bad != nil {
		return bad
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return err
}

// again builds and reloads pages. The configuration is read again: it may be what changed.
func (o serveOptions) again(ctx context.Context, sh *shell, s *preview.Server, paths []string) error {
	ws, err := openWorkspace(".")
	if err == nil {
		b := o.build
		b.built = s.Built
		err = build(ctx, sh, ws, paths, b)
	}
	if err != nil && ctx.Err() == nil {
		sh.say("error: %v; the site is unchanged", err)
		s.Failed(err.Error())
	}
	return err
}
