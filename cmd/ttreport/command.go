package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/engine/kubernetes"
	"github.com/ttreport/ttreport/collect/meeting"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
)

// Exit codes, the same for every command. They are documented by "ttreport help exit-codes".
const (
	exitOK          = 0
	exitGate        = 1 // the gate fails
	exitUsage       = 2
	exitInput       = 3 // input problems under --strict, or nothing that could be read
	exitCollect     = 4
	exitUngraded    = 5
	exitLocked      = 6 // another process works in the workspace
	exitInterrupted = 130
)

// command is one verb. setup declares the flags and returns what runs after they were parsed.
type command struct {
	name     string
	args     string // for the usage line
	summary  string // one line, for the list
	help     string // paragraphs
	examples []example
	setup    func(*pflag.FlagSet) runFunc
}

type example struct{ does, line string }

type runFunc func(context.Context, *shell, []string) error

// shell is what a command may touch of the outside world.
type shell struct {
	in       io.Reader
	out, err io.Writer
}

// say writes one message line to standard error.
func (s *shell) say(format string, args ...any) {
	fmt.Fprintf(s.err, "%s\n", plaintext.Printable(fmt.Sprintf(format, args...)))
}

// commands is the table, in the order of the help.
func commands() []command {
	return []command{
		collectCommand(), buildCommand(), serveCommand(), demoCommand(), ingestCommand(), inspectCommand(), checkCommand(),
		acceptCommand(), compareCommand(), bisectCommand(), exportCommand(),
		verifyCommand(), targetsCommand(), modelsCommand(), doctorCommand(), initCommand(), simCommand(),
		completionCommand(), versionCommand(), helpCommand(),
	}
}

// failure is an error with an exit code and, perhaps, a hint of what to do.
type failure struct {
	code int
	err  error
	hint string
}

func (f failure) Error() string { return f.err.Error() }
func (f failure) Unwrap() error { return f.err }

func fail(code int, hint, format string, args ...any) error {
	return failure{code, fmt.Errorf(format, args...), hint}
}

// openWorkspace opens a folder as a workspace.
func openWorkspace(dir string) (*workspace.Workspace, error) {
	ws, err := workspace.Open(dir)
	if err != nil {
		return nil, failure{code: exitUsage, err: err}
	}
	return ws, nil
}

// run is the program without the process: it picks the command, parses its flags, runs it and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	redact.KnowEnvironment(os.Environ())
	out := &printable{to: stdout}
	sh := &shell{in: stdin, out: out, err: stderr}
	code := dispatch(ctx, sh, args)
	switch {
	case out.err == nil:
		return code
	case code == exitOK: // what was asked for was not delivered
		return finish(ctx, sh, failure{code: exitInput, err: fmt.Errorf("standard output: %w", out.err)})
	case code == exitUsage: // the command returned the error of writing
		return exitInput
	}
	return code
}

// dispatch runs the command that the first argument names.
func dispatch(ctx context.Context, sh *shell, args []string) int {
	if len(args) == 0 {
		writeHelp(sh.err)
		return exitUsage
	}
	if args[0] == "--help" || args[0] == "-h" {
		writeHelp(sh.out)
		return exitOK
	}
	if args[0] == "--version" {
		args[0] = "version"
	}
	if args[0] == meeting.ClientCommand { // collect or a pod starts it, and nobody else
		return finish(ctx, sh, collect.ServeLoads(ctx, args[1:], sh.in, os.Stdout))
	}
	if args[0] == kubernetes.PrintCommand { // a pod that reads a claim runs it, and nobody else
		return finish(ctx, sh, printPart(os.Stdout, args[1:]))
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return finish(ctx, sh, runCommand(ctx, sh, c, args[1:]))
		}
	}
	names := []string{}
	for _, c := range commands() {
		names = append(names, c.name)
	}
	hint := didYouMean(args[0], names, "ttreport ", "run ttreport --help for the list")
	return finish(ctx, sh, failure{exitUsage, fmt.Errorf("unknown command %q", args[0]), hint})
}

func runCommand(ctx context.Context, sh *shell, c command, args []string) error {
	fs := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	fs.SortFlags = false
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	do := c.setup(fs)
	switch err := fs.Parse(args); {
	case errors.Is(err, pflag.ErrHelp) || err != nil && wantsHelp(args):
		c.write(sh.out, fs, slices.Contains(args, "--all"))
		return nil
	case err != nil:
		return flagError(c, fs, err)
	}
	if err := errors.Join(emptyArgument(c, fs), noNumber(c, fs)); err != nil {
		return err
	}
	return do(ctx, sh, fs.Args())
}

// wantsHelp reports whether --help is among the arguments, also after a flag that the command does not have: --all
// belongs to it.
func wantsHelp(args []string) bool {
	if at := slices.Index(args, "--"); at >= 0 {
		args = args[:at]
	}
	return slices.Contains(args, "--help") || slices.Contains(args, "-h")
}

// finish prints an error as people read it and returns the exit code.
func finish(ctx context.Context, sh *shell, err error) int {
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, ctx.Err())) {
		sh.say("ttreport: interrupted")
		return exitInterrupted
	}
	var f failure
	if !errors.As(err, &f) {
		f = failure{code: exitUsage, err: err}
	}
	if f.err.Error() != "" {
		sh.say("ttreport: %s", redact.Text(err.Error()))
	}
	if f.hint != "" {
		sh.say("fix: %s", f.hint)
	}
	return f.code
}
