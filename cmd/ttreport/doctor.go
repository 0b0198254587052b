package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ttreport/ttreport/collect/doctor"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/ingest/plaintext"
)

func doctorCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{
		Use: "doctor", Args: noArguments,
		Short: "list what tools, secrets and space are there, what is missing, and how to fix it",
		Long: `
Changes nothing unless asked: --make TOOL makes a tool's environment now instead of when it is first used, --reset
TOOL removes it, so that it is made again. Values of secrets are never shown. Exit 4 when a tool of --for TOOL,… is
missing.`,
		Example: `
# is everything there?
$ ttreport doctor
# before a night of measuring with vLLM's client
$ ttreport doctor --for vllm,lm-eval
# before a night of measuring an image
$ ttreport doctor --model meta-llama/Llama-3.1-8B-Instruct --image registry.example/acme:1
# an environment that is broken
$ ttreport doctor --reset aiperf`,
	}
	fs := c.Flags()
	var o doctorOptions
	fs.StringSliceVar(&o.needed, "for", nil, "`tools` that must be installed")
	fs.StringVar(&o.reset, "reset", "", "remove the environment of this `tool`")
	fs.StringVar(&o.make, "make", "", "make the environment of this `tool` now")
	fs.StringVar(&o.Model, "model", "", "`name` of a model on the hub: is it accessible?")
	fs.StringVar(&o.Image, "image", "", "`image` of a server: is it there?")
	fs.IntVar(&o.Port, "port", 8000, "`port` that a server would take")
	c.RunE = func(c *cobra.Command, args []string) error {
		if o.Port == 0 {
			return fail(exitUsage, "a port is a number from 1 to 65535", "doctor: --port %d", o.Port)
		}
		return o.examine(c.Context(), sh)
	}
	return c
}

type doctorOptions struct {
	doctor.Request
	needed      []string
	reset, make string
}

func (o doctorOptions) examine(ctx context.Context, sh *shell) error {
	ws, err := openWorkspace(".")
	if err != nil {
		return err
	}
	if err := doctor.Check(append([]string{o.reset, o.make}, o.needed...)...); err != nil {
		return fail(exitUsage, "tools are "+strings.Join(doctor.Tools(), ", "), "doctor: %w", err)
	}
	o.Dir, o.Exec = ws.Dir, ws.Config.Exec
	o.Tools = tool.Environments{Configured: ws.Config.Tools, Say: func(s string) { sh.say("%s", s) }}
	if o.reset != "" {
		a, _ := tool.Named(o.reset)
		if err := o.Tools.Reset(a); err != nil {
			return fail(exitCollect, "see the permissions of the cache folder", "doctor: %w", err)
		}
	}
	if o.make != "" {
		a, _ := tool.Named(o.make)
		if _, err := o.Tools.Ensure(ctx, a); err != nil {
			return fail(exitCollect, "the log next to the environment's folder has the details", "doctor: %w", err)
		}
	}
	list := doctor.Examine(ctx, o.Request)
	if ctx.Err() != nil { // what was asked of programs and servers is cut short
		return ctx.Err()
	}
	if err := doctor.Write(sh.out, list); err != nil {
		return err
	}
	if missing := doctor.Missing(list, o.needed); missing > 0 {
		return fail(exitCollect, "the last column has the commands", "%s missing",
			plaintext.Plural(missing, "needed tool"))
	}
	return nil
}
