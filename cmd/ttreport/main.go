// Command ttreport turns LLM serving benchmarks and evals into a results site that a reviewer can trust.
//
// This package holds the shell: the table of commands, one file a command, flags, exit codes, and what goes to which
// stream. Data go to standard output, messages to standard error. What commands do lives in the packages they call.
package main

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/credentials"
	"github.com/ttreport/ttreport/collect/engine/kubernetes"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
)

func main() {
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	if !signal.Ignored(syscall.SIGHUP) { // nohup asks to go on
		signal.Notify(signals, syscall.SIGHUP)
	}
	cobra.EnableCommandSorting = false // the help has them by use
	ctx, stop := interruptible(signals, os.Stderr)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// interruptible returns a context that the first signal ends: what was started is asked to end, and what was measured
// is kept. After the second nothing that was started is waited for.
func interruptible(signals <-chan os.Signal, w io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	hurry, rush := context.WithCancel(context.Background())
	var leaves atomic.Bool
	go func() {
		<-signals
		cancel()
		const patience = time.Second
		select {
		case <-signals:
		case <-time.After(patience): // most have ended by now
			if !leaves.Load() {
				fmt.Fprintln(w, "stopping what was started, which may take half a minute; press Ctrl-C again to stop at once")
			}
			<-signals
		}
		rush()
	}()
	ctx = context.WithValue(ctx, leavesKey{}, func() { leaves.Store(true) })
	return process.WithHurry(ctx, hurry), func() { cancel(); rush() }
}

// leavesKey is the key of a function of the context: what was started goes on after the first signal, and nothing is
// said about its end.
type leavesKey struct{}

// leavesRunning says that what was started goes on after the first signal.
func leavesRunning(ctx context.Context) {
	if leave, ok := ctx.Value(leavesKey{}).(func()); ok {
		leave()
	}
}

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

// shell is what a command may touch of the outside world.
type shell struct {
	in       io.Reader
	out, err io.Writer
	patience time.Duration // with other commands in the same workspace
}

// say writes one message line to standard error.
func (s *shell) say(format string, args ...any) {
	fmt.Fprintf(s.err, "%s\n", plaintext.Printable(fmt.Sprintf(format, args...)))
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
	_, _ = credentials.Open(dir) // its values are searched for; collect says what is wrong with it
	ws, err := workspace.Open(dir)
	if err != nil {
		return nil, failure{code: exitUsage, err: err}
	}
	return ws, nil
}

// lock keeps other commands from writing to a folder, and, where exclusive, from reading it. It waits for them, and
// says so.
func (s *shell) lock(ctx context.Context, dir string, mode folderlock.Mode) (release func(), err error) {
	if s.patience < 0 {
		return nil, fail(exitUsage, "0 does not wait", "--lock-timeout must be 0 or more, got %s", s.patience)
	}
	release, err = folderlock.Take(ctx, dir, mode, folderlock.Wait{Patience: s.patience, Waiting: func() {
		s.say("waiting for another ttreport in %s", dir)
	}})
	switch {
	case errors.Is(err, folderlock.ErrHeld):
		fix := "wait for it, or stop it"
		if s.patience > 0 {
			fix += "; --lock-timeout sets how long to wait"
		}
		return nil, fail(exitLocked, fix, "%w", err)
	case err != nil && ctx.Err() == nil:
		return nil, failure{code: exitInput, err: err}
	}
	return release, err
}

// openLocked opens the current folder as a workspace and locks it.
func (s *shell) openLocked(ctx context.Context, mode folderlock.Mode) (*workspace.Workspace, func(), error) {
	ws, err := openWorkspace(".")
	if err != nil {
		return nil, nil, err
	}
	release, err := s.lock(ctx, ws.Dir, mode)
	return ws, release, err
}

//go:embed commands
var commandTexts embed.FS

// commandText is a file of texts.
func commandText(file string) string {
	data, err := commandTexts.ReadFile("commands/" + file)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}

// command makes a command of its text, commands/NAME.txt: a line with its usage, one that says what it does, what its
// help explains, behind "Flags:" what [bind] declares for its variables, behind "Rules:" which of them go together, see
// [obeyRules], and behind "Examples:" lines to type. One whose usage is its name takes no arguments.
func command(name string, vars map[string]any, run func(*cobra.Command, []string) error) *cobra.Command {
	use, text, _ := strings.Cut(commandText(name+".txt"), "\n")
	short, text, _ := strings.Cut(text, "\n")
	text, examples, _ := strings.Cut(text, "\nExamples:\n")
	text, rules, _ := strings.Cut(text, "\nRules:\n")
	long, flags, _ := strings.Cut(text, "\nFlags:\n")
	c := &cobra.Command{Use: use, Short: short, Long: long, Example: examples, RunE: run,
		Annotations: map[string]string{flagLines: flags, goTogether: rules}}
	if use == name && run != nil {
		c.Args = noArguments
	}
	if vars != nil {
		bind(c, vars)
	}
	return c
}

// Annotations of commands: parts of their texts.
const (
	flagLines  = "flags"
	goTogether = "rules"
)

// obeyRules refuses flags that do not go together, and values, by the rules of a command's text, each with what to do
// behind a colon: "--a, --b needs --c, --d" (one of these), "--a excludes --b, --c=x", "--a is x, y or z", "--a is
// from 1 to 9", "--a is from 1", "--a is above 0".
func obeyRules(c *cobra.Command) error {
	for line := range strings.Lines(strings.ReplaceAll(c.Annotations[goTogether], "\n  ", " ")) {
		rule, fix, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for _, verb := range []string{" needs ", " excludes ", " is "} {
			left, right, _ := strings.Cut(rule, verb)
			others := strings.Split(strings.Replace(right, " or ", ", ", 1), ", ")
			for flag := range strings.SplitSeq(left, ", ") {
				if right == "" || !isGiven(c, flag) {
					continue
				}
				value := c.Flag(flag[2:]).Value.String()
				at := slices.IndexFunc(others, func(other string) bool { return other == value || isGiven(c, other) })
				switch {
				case verb == " is " && at < 0 && !isWithin(right, value):
					return fail(exitUsage, cmp.Or(fix, "as in "+flag+" "+others[0]), "%s: %s must be %s, got %s", c.Name(), flag,
						right, value)
				case verb == " needs " && at < 0:
					all := strings.Join(others, " or ")
					return fail(exitUsage, cmp.Or(fix, "add "+all), "%s: %s needs %s", c.Name(), flag, all)
				case verb == " excludes " && at >= 0:
					return fail(exitUsage, cmp.Or(fix, "leave one of them out"), "%s: %s and %s cannot be combined", c.Name(), flag,
						strings.Replace(others[at], "=", " ", 1))
				}
			}
		}
	}
	return nil
}

// isWithin reports whether bounds such as "above 0", "from 1" and "from 1 to 9" hold a number or a time in seconds.
func isWithin(bounds, value string) bool {
	kind, numbers, _ := strings.Cut(bounds, " ")
	low, high, _ := strings.Cut(numbers, " to ")
	v, err := strconv.ParseFloat(value, 64)
	if d, notTime := time.ParseDuration(value); notTime == nil {
		v, err = d.Seconds(), nil
	}
	least, noLeast := strconv.ParseFloat(low, 64)
	most, noMost := strconv.ParseFloat(high, 64)
	return err == nil && noLeast == nil && (v > least || v == least && kind == "from") && (noMost != nil || v <= most)
}

// isGiven reports whether a flag is given, as --name, or has a value, as --name=value.
func isGiven(c *cobra.Command, text string) bool {
	name, isFlag := strings.CutPrefix(text, "--")
	name, want, _ := strings.Cut(name, "=")
	f := c.Flag(name)
	if isFlag && f == nil {
		panic(fmt.Sprintf("%s.txt has a rule of %s, which is not declared", c.Name(), text))
	}
	return isFlag && f.Changed && f.Value.String() != "false" && (want == "" || want == f.Value.String())
}

// newRoot makes the program: its commands in the order of the help, and how all of them explain themselves and fail.
func newRoot(sh *shell) *cobra.Command {
	root := command("ttreport", nil, nil)
	root.Version, root.SilenceErrors, root.SilenceUsage = versionText(), true, true
	root.Args = cobra.ArbitraryArgs // so that RunE says what is unknown
	root.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			hint := didYouMean(args[0], commandNames(c), "ttreport ", "run ttreport --help for the list")
			return fail(exitUsage, hint, "unknown command %q", args[0])
		}
		writeHelp(sh.err, c, false)
		return failure{code: exitUsage, err: errors.New("")}
	}
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		return cmp.Or(emptyArgument(c, args), obeyRules(c))
	}
	root.AddCommand(
		collectCommand(sh), buildCommand(sh), serveCommand(sh), demoCommand(sh), ingestCommand(sh), inspectCommand(sh),
		identifyCommand(sh),
		checkCommand(sh), acceptCommand(sh), compareCommand(sh), bisectCommand(sh), exportCommand(sh), verifyCommand(sh),
		historyCommand(sh),
		targetsCommand(sh), modelsCommand(sh), doctorCommand(sh), initCommand(sh), simCommand(sh), completionCommand(sh),
		versionCommand(sh),
		// collect starts a client, and a pod that reads a claim prints its part.
		&cobra.Command{Use: collect.ClientCommand, Hidden: true, DisableFlagParsing: true,
			RunE: func(c *cobra.Command, args []string) error {
				return builtin.Serve(c.Context(), sh.in, os.Stdout)
			}},
		&cobra.Command{Use: kubernetes.PrintCommand, Hidden: true, DisableFlagParsing: true,
			RunE: func(_ *cobra.Command, args []string) error { return printPart(os.Stdout, args) }},
	)
	help := helpCommand(sh)
	root.SetHelpCommand(help)
	root.AddCommand(help)
	for _, c := range root.Commands() {
		c.DisableFlagsInUseLine, c.Flags().SortFlags = true, false
	}
	root.SetHelpFunc(func(c *cobra.Command, args []string) { writeHelp(sh.out, c, slices.Contains(args, "--all")) })
	root.SetVersionTemplate("{{.Version}}")
	root.SetIn(sh.in)
	root.SetOut(sh.out)
	root.SetErr(sh.err)
	return root
}

func commandNames(root *cobra.Command) (out []string) {
	for _, c := range root.Commands() {
		if !c.Hidden {
			out = append(out, c.Name())
		}
	}
	return out
}

// run is the program without the process: it runs the command that the arguments name and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	redact.KnowEnvironment(os.Environ())
	out := &printable{to: stdout}
	sh := &shell{in: stdin, out: out, err: &printable{to: stderr}, patience: 10 * time.Minute}
	root := newRoot(sh)
	root.SetArgs(args)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		help, end := slices.Index(args, "--help"), slices.Index(args, "--")
		if help >= 0 && (end < 0 || help < end) { // also beside a flag that the command does not have: --all
			return pflag.ErrHelp
		}
		hint := fmt.Sprintf("run %s --help", c.CommandPath())
		if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
			return wrongValue(c, wrong, hint)
		}
		if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
			var names []string
			c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
			hint = didYouMean(unknown.GetSpecifiedName(), names, "--", hint)
		}
		return failure{exitUsage, fmt.Errorf("%s: %w", c.Name(), err), hint}
	})
	code := finish(ctx, sh, root.ExecuteContext(ctx))
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

// finish prints an error as people read it and returns the exit code.
func finish(ctx context.Context, sh *shell, err error) int {
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, ctx.Err())) {
		sh.say("ttreport: interrupted")
		return exitInterrupted
	}
	f, ok := errors.AsType[failure](err)
	if !ok {
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

// didYouMean names the nearest of some words, or falls back to a general hint.
func didYouMean(word string, known []string, prefix, otherwise string) string {
	words := &cobra.Command{}
	for _, k := range known {
		if !strings.Contains(k, " ") { // which would not be the name of a command
			words.AddCommand(&cobra.Command{Use: k, Run: func(*cobra.Command, []string) {}})
		}
	}
	for words.SuggestionsMinimumDistance = range 3 {
		if near := words.SuggestionsFor(word); len(near) > 0 {
			return fmt.Sprintf("did you mean %s%s?", prefix, near[0])
		}
	}
	return otherwise
}

// wrongValue says what a flag takes.
func wrongValue(c *cobra.Command, wrong *pflag.InvalidValueError, hint string) error {
	f := wrong.GetFlag()
	takes, example := "", ""
	switch f.Value.Type() {
	case "int", "uint", "int64", "uint64":
		takes, example = "a whole number", "4"
	case "float64":
		takes, example = "a number", "0.5"
	case "duration":
		takes, example = "a duration", "90s, 30m or 2h"
	case "bool":
		takes, example = "true or false", "false"
	}
	if takes == "" { // the value says itself what it lacks
		if name, _ := pflag.UnquoteUsage(f); strings.Contains(name, "=") {
			hint = "as in --" + f.Name + " " + name
		}
		return fail(exitUsage, hint, "%s: --%s: %w", c.Name(), f.Name, wrong.Unwrap())
	}
	sign := " "
	if f.NoOptDefVal != "" {
		sign = "="
	}
	return fail(exitUsage, "as in --"+f.Name+sign+example,
		"%s: --%s %q is not %s", c.Name(), f.Name, wrong.GetValue(), takes)
}

// noArguments refuses arguments.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fail(exitUsage, c.CommandPath()+" --help", "%s: unexpected %q", c.Name(), args[0])
	}
	return nil
}

// emptyArgument refuses "" where a name is expected: it is what a variable gives that is not set.
func emptyArgument(c *cobra.Command, args []string) (err error) {
	const fix = "is a variable not set? leave the argument out, or give a value"
	if slices.Contains(args, "") {
		return fail(exitUsage, fix, "%s: an argument is empty", c.Name())
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if strings.TrimSpace(f.Value.String()) == "" && f.Name != "fail-on" { // which says itself what it lacks
			err = fail(exitUsage, fix, "%s: --%s is empty", c.Name(), f.Name)
		}
	})
	return err
}

func versionCommand(sh *shell) *cobra.Command {
	return command("version", nil, func(*cobra.Command, []string) error {
		_, err := fmt.Fprint(sh.out, versionText())
		return err
	})
}

// versionText is the version and how the program was built.
func versionText() string {
	var b strings.Builder
	fmt.Fprintln(&b, versionLine())
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision", "vcs.time", "vcs.modified", "CGO_ENABLED":
				fmt.Fprintf(&b, "%s %s\n", s.Key, s.Value)
			}
		}
	}
	fmt.Fprintf(&b, "go %s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return b.String()
}

// versionLine is the name and version that pages and sidecars carry. It does not change with the clock or the machine.
func versionLine() string {
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	return "ttreport " + version
}
