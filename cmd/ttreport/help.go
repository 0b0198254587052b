package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/engine/kubernetes"
	"github.com/ttreport/ttreport/collect/meeting"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/library"
	"github.com/ttreport/ttreport/templates"
)

func writeHelp(w io.Writer) {
	fmt.Fprint(w, `ttreport turns LLM serving benchmarks and evals into a results site that a reviewer can trust.

  ttreport demo                          a simulated model, its site and a preview in ./ttreport-demo/
  ttreport collect && ttreport build     measure, then write _site/
  ttreport build PATH…                   read result files you have, then write _site/
  ttreport inspect PATH…                 what each file is, and what is wrong with it

Commands:
`)
	tw := tabwriter.NewWriter(w, 2, 0, 3, ' ', 0)
	for _, c := range commands() {
		fmt.Fprintf(tw, "  %s\t%s\n", c.name, c.summary)
	}
	tw.Flush()
	const more = "\nTopics for ttreport help TOPIC: %s.\nttreport COMMAND --help shows flags and examples.\n"
	fmt.Fprintf(w, more, strings.Join(topics(), ", "))
}

// write prints the help of one command, with its common flags or with all.
func (c command) write(w io.Writer, fs *pflag.FlagSet, all bool) {
	usage := strings.TrimSpace(c.name + " " + c.args)
	fmt.Fprintf(w, "%s\n\nUsage:\n  ttreport %s\n\n%s\n", sentence(c.summary), usage, strings.TrimSpace(c.help))
	writeFlags(w, fs, c.name, all)
	if len(c.examples) > 0 {
		fmt.Fprint(w, "\nExamples:\n")
		for _, e := range c.examples {
			fmt.Fprintf(w, "  # %s\n  $ %s\n", e.does, e.line)
		}
	}
}

func sentence(s string) string {
	s = words.Capital(s)
	if strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

// topics lists the pages of the documentation.
func topics() []string {
	var out []string
	entries, err := fs.ReadDir(templates.Docs(), ".")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".md"))
	}
	return out
}

// topicTitles are the headings of the pages.
func topicTitles() map[string]string {
	out := map[string]string{}
	for _, name := range topics() {
		if page, err := fs.ReadFile(templates.Docs(), name+".md"); err == nil {
			head, _, _ := strings.Cut(string(page), "\n")
			out[name] = strings.TrimPrefix(head, "# ")
		}
	}
	return out
}

// lintHelp is the section of the page on lints that explains one of them.
func lintHelp(id string) (string, bool) {
	page, err := fs.ReadFile(templates.Docs(), "lints.md")
	if err != nil {
		return "", false
	}
	_, rest, found := strings.Cut(string(page), "\n## "+id+"\n")
	if !found {
		return "", false
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	return id + "\n" + section, true
}

func helpCommand() command {
	return command{
		name: "help", args: "[COMMAND | TOPIC]", summary: "explain a command or a topic",
		help: `
Without an argument, the list of commands. With one, the help of that command, a page of the documentation, or of a
lint; the same pages are on the site under about/.`,
		examples: []example{
			{"the environment variables that ttreport reads", "ttreport help environment"},
			{"the flags of build", "ttreport help build"},
			{"every flag of collect", "ttreport help collect --all"},
			{"what does this lint mean?", "ttreport help saturated"},
			{"manual pages, for man", "ttreport help --man ~/.local/share/man/man1"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			all := fs.Bool("all", false, "every flag of the command, also the less common ones")
			man := fs.String("man", "", "`folder` to write the manual pages of all commands to, for packages")
			return func(_ context.Context, sh *shell, args []string) error {
				if *man != "" {
					return writeMan(sh, *man)
				}
				if len(args) == 0 {
					writeHelp(sh.out)
					return nil
				}
				return explainTopic(sh, args[0], *all)
			}
		},
	}
}

// explainTopic prints the help of a command with the page of the same name, the help of a lint, or a page of the
// documentation.
func explainTopic(sh *shell, name string, all bool) error {
	for _, c := range commands() {
		if c.name == name {
			fs := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
			fs.SortFlags = false
			c.setup(fs)
			c.write(sh.out, fs, all)
			if slices.Contains(topics(), name) {
				fmt.Fprintln(sh.out)
				return writePage(sh, name)
			}
			return nil
		}
	}
	if section, ok := lintHelp(name); ok {
		_, err := fmt.Fprint(sh.out, section)
		return err
	}
	if !slices.Contains(topics(), name) {
		hint := didYouMean(name, topics(), "ttreport help ", "topics are "+strings.Join(topics(), ", "))
		return fail(exitUsage, hint, "no help on %q", name)
	}
	return writePage(sh, name)
}

// writePage prints a page of the documentation.
func writePage(sh *shell, name string) error {
	page, err := fs.ReadFile(templates.Docs(), name+".md")
	if err != nil {
		return err
	}
	_, err = sh.out.Write(page)
	return err
}

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

// roff is a manual page in the making, with the macros of man(7).
type roff struct{ b strings.Builder }

// macro adds a line with a macro and its arguments.
func (r *roff) macro(name string, args ...string) {
	r.b.WriteString("." + name)
	for _, a := range args {
		fmt.Fprintf(&r.b, " \"%s\"", strings.ReplaceAll(escapeRoff(a), `"`, `\(dq`))
	}
	r.b.WriteByte('\n')
}

// text adds lines of text. One that begins like a macro does not become one.
func (r *roff) text(text string) {
	for line := range strings.Lines(strings.TrimSpace(text) + "\n") {
		line = escapeRoff(strings.TrimRight(line, "\n"))
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			line = `\&` + line
		}
		r.b.WriteString(line + "\n")
	}
}

// escapeRoff escapes what troff would read as its own; a plain hyphen could become a dash that cannot be copied.
func escapeRoff(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
}

// paragraphs adds paragraphs; indented ones are shown as they are.
func (r *roff) paragraphs(text string) {
	for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		r.macro("PP")
		if strings.HasPrefix(p, "  ") {
			r.macro("nf")
			r.text(p)
			r.macro("fi")
			continue
		}
		r.text(p)
	}
}

// title begins a page. It has no date, so that a page changes only when its content does.
func (r *roff) title(name, summary string) {
	r.macro("TH", strings.ToUpper(name), "1", "", "ttreport", "")
	r.b.WriteString(".ad l\n.nh\n") // even distances, whole words
	r.macro("SH", "NAME")
	r.text(name + " - " + summary)
}

// manPage returns the manual page of a command.
func manPage(c command) string {
	fs := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	fs.SortFlags = false
	c.setup(fs)
	var r roff
	r.title("ttreport-"+c.name, c.summary)
	r.macro("SH", "SYNOPSIS")
	r.text(strings.TrimSpace("ttreport " + c.name + " " + c.args))
	r.macro("SH", "DESCRIPTION")
	r.paragraphs(c.help)
	if fs.HasAvailableFlags() {
		r.macro("SH", "OPTIONS")
		r.options(fs)
	}
	if len(c.examples) > 0 {
		r.macro("SH", "EXAMPLES")
		for _, e := range c.examples {
			r.macro("PP")
			r.text(sentence(e.does))
			r.macro("PP")
			r.macro("nf")
			r.text("    " + e.line)
			r.macro("fi")
		}
	}
	r.macro("SH", "SEE ALSO")
	r.text("ttreport(1)")
	return r.b.String()
}

// options adds flags, under their headings where they have some.
func (r *roff) options(fs *pflag.FlagSet) {
	heading := ""
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if g := f.Annotations[groupOf]; len(g) > 0 && g[0] != heading {
			heading = g[0]
			r.macro("SS", heading)
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		r.macro("TP")
		r.text(strings.TrimSpace(name + " " + value))
		r.text(usage)
	})
}

// manIndex returns the page of the program.
func manIndex() string {
	var r roff
	r.title("ttreport", "LLM serving benchmarks and evals as a results site")
	r.macro("SH", "SYNOPSIS")
	r.text("ttreport COMMAND [FLAG…] [ARGUMENT…]")
	r.macro("SH", "DESCRIPTION")
	r.text("ttreport measures a served model, or reads the results of other tools, compares each release with targets " +
		"and with the releases before it, and writes markdown, CSV and a static site. Exit codes are explained by " +
		"ttreport help exit-codes.")
	r.macro("SH", "COMMANDS")
	for _, c := range commands() {
		r.macro("TP")
		r.text("ttreport-" + c.name + "(1)")
		r.text(sentence(c.summary))
	}
	return r.b.String()
}

// writeMan writes the manual pages of all commands to a folder.
func writeMan(sh *shell, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return failure{code: exitInput, err: err}
	}
	pages := map[string]string{"ttreport": manIndex()}
	for _, c := range commands() {
		pages["ttreport-"+c.name] = manPage(c)
	}
	for name, text := range pages {
		if err := durable.WriteFile(filepath.Join(dir, name+".1"), []byte(text)); err != nil {
			return failure{code: exitInput, err: err}
		}
	}
	fmt.Fprintf(sh.out, "%d manual pages in %s\n", len(pages), dir)
	return nil
}

func completionCommand() command {
	return command{
		name: "completion", args: "bash|zsh|fish", summary: "print a completion script for a shell",
		help: "Prints a script that completes commands and flags. It is made from the same table as the help.",
		examples: []example{
			{"bash, for this session", "source <(ttreport completion bash)"},
			{"zsh, for good", "ttreport completion zsh > ~/.zfunc/_ttreport"},
			{"fish, for good", "ttreport completion fish > ~/.config/fish/completions/ttreport.fish"},
		},
		setup: func(*pflag.FlagSet) runFunc {
			return func(_ context.Context, sh *shell, args []string) error {
				if len(args) != 1 {
					return fail(exitUsage, "ttreport completion bash", "completion: name a shell: bash, zsh or fish")
				}
				writers := map[string]func(io.Writer){"bash": completeBash, "zsh": completeZsh, "fish": completeFish}
				write, ok := writers[args[0]]
				if !ok {
					return fail(exitUsage, didYouMean(args[0], []string{"bash", "zsh", "fish"}, "ttreport completion ",
						"there are bash, zsh and fish"), "completion: no script for %q", args[0])
				}
				write(sh.out)
				return nil
			}
		},
	}
}

// flagNames lists a command's flags with their help.
func flagNames(c command) (names, usages []string) {
	fs := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	c.setup(fs)
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		_, usage := pflag.UnquoteUsage(f)
		names, usages = append(names, "--"+f.Name), append(usages, usage)
	})
	return append(names, "--help"), append(usages, "help of this command")
}

func commandNames() []string {
	var out []string
	for _, c := range commands() {
		out = append(out, c.name)
	}
	return out
}

func completeBash(w io.Writer) {
	fmt.Fprintf(w, `# bash completion of ttreport
_ttreport() {
  local cur=${COMP_WORDS[COMP_CWORD]} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=%q
  else
    case ${COMP_WORDS[1]} in
`, strings.Join(commandNames(), " "))
	for _, c := range commands() {
		names, _ := flagNames(c)
		fmt.Fprintf(w, "      %s) words=%q ;;\n", c.name, strings.Join(names, " "))
	}
	fmt.Fprint(w, `    esac
    case $cur in -*) ;; *) words= ;; esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _ttreport ttreport
`)
}

func completeZsh(w io.Writer) {
	fmt.Fprint(w, "#compdef ttreport\n_ttreport() {\n  local -a cmds\n  cmds=(\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "    %s\n", zshWord(c.name, c.summary))
	}
	fmt.Fprint(w, `  )
  if (( CURRENT == 2 )); then
    _describe command cmds
    return
  fi
  case $words[2] in
`)
	for _, c := range commands() {
		names, usages := flagNames(c)
		fmt.Fprintf(w, "    %s) _arguments", c.name)
		for i, n := range names {
			usage := strings.NewReplacer("'", "", "[", "(", "]", ")", ":", ",").Replace(usages[i])
			fmt.Fprintf(w, " '%s[%s]'", n, usage)
		}
		fmt.Fprint(w, " '*:file:_files' ;;\n")
	}
	fmt.Fprint(w, "  esac\n}\n_ttreport \"$@\"\n")
}

func zshWord(name, summary string) string {
	return "'" + name + ":" + strings.NewReplacer("'", "", ":", ",").Replace(summary) + "'"
}

func completeFish(w io.Writer) {
	fmt.Fprint(w, "# fish completion of ttreport\n")
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }
	for _, c := range commands() {
		fmt.Fprintf(w, "complete -c ttreport -n __fish_use_subcommand -f -a %s -d %s\n", c.name, quote(c.summary))
		names, usages := flagNames(c)
		for i, n := range names {
			fmt.Fprintf(w, "complete -c ttreport -n '__fish_seen_subcommand_from %s' -l %s -d %s\n", c.name,
				strings.TrimPrefix(n, "--"), quote(usages[i]))
		}
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

// didYouMean names the nearest of some words, or falls back to a general hint.
func didYouMean(word string, known []string, prefix, otherwise string) string {
	best, distance := "", 3
	for _, k := range known {
		if d := editDistance(word, k); d < distance {
			best, distance = k, d
		}
		if len(word) > 2 && strings.HasPrefix(k, word) && distance > 1 {
			best, distance = k, 1
		}
	}
	if best == "" {
		return otherwise
	}
	return fmt.Sprintf("did you mean %s%s?", prefix, best)
}

// editDistance counts insertions, deletions, replacements and swaps of neighbours between two short words.
func editDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// misspeltModels warns of targets whose model was not measured, where one of nearly the same name was: they would grade
// nothing, and a required one would never fail.
func misspeltModels(lib *library.Library, runs []schema.Run) []schema.Problem {
	names := map[string]bool{} // of what was measured, as targets may call it
	var measured []string
	for i := range runs {
		m := &runs[i].Model
		for _, name := range []string{m.Name, m.ID, m.Key, lib.Key(m.Name)} {
			names[strings.ToLower(name)] = true
		}
		if m.Name != "" && !slices.Contains(measured, m.Name) {
			measured = append(measured, m.Name)
		}
	}
	var out []schema.Problem
	warned := map[string]bool{}
	for _, e := range lib.List() {
		if names[strings.ToLower(e.Model)] || warned[e.Model] || len(e.Targets) == 0 {
			continue
		}
		at := slices.IndexFunc(measured, func(name string) bool { return nearlyNamed(e.Model, name) })
		if at < 0 {
			continue
		}
		warned[e.Model] = true
		path, _, _ := strings.Cut(e.Targets[0].Source, "#")
		out = append(out, schema.Problem{Severity: schema.SevWarning, Path: path, Code: "unknown-model",
			Found:    fmt.Sprintf("targets of model %q, which was not measured", e.Model),
			Expected: "the name of a model as results state it", Hint: "did you mean " + measured[at] + "?"})
	}
	return out
}

// nearlyNamed reports whether two names differ in punctuation, or in one letter that is missing or two that are
// swapped. A replaced letter or another digit makes another model: gemma-7b-it and gemma-7b-pt.
func nearlyNamed(a, b string) bool {
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, s)
	}
	digits := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return r
			}
			return -1
		}, s)
	}
	x, y := plain(a), plain(b)
	swapped := func() bool {
		p, q := []rune(x), []rune(y)
		slices.Sort(p)
		slices.Sort(q)
		return slices.Equal(p, q)
	}
	return x == y || digits(x) == digits(y) && len(x) > 5 && editDistance(x, y) == 1 && (len(x) != len(y) || swapped())
}
