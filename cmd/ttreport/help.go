package main

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/templates"
)

func helpCommand(sh *shell) *cobra.Command {
	var all bool
	var man string
	c := command("help", map[string]any{"all": &all, "man": &man}, func(c *cobra.Command, args []string) error {
		switch {
		case man != "":
			return writeMan(sh, c.Root(), man)
		case len(args) == 0:
			writeHelp(sh.out, c.Root(), all)
			return nil
		}
		return explainTopic(sh, c.Root(), args[0], all)
	})
	c.ValidArgsFunction = func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return append(commandNames(c.Root()), topics()...), cobra.ShellCompDirectiveNoFileComp
	}
	return c
}

// explainTopic prints the help of a command with the page of the same name, the help of a lint, or a page of the
// documentation.
func explainTopic(sh *shell, root *cobra.Command, name string, all bool) error {
	isTopic := slices.Contains(topics(), name)
	if slices.Contains(commandNames(root), name) {
		c, _, err := root.Find([]string{name})
		if err != nil {
			return err
		}
		writeHelp(sh.out, c, all)
		if !isTopic {
			return nil
		}
		fmt.Fprintln(sh.out)
	}
	if isTopic {
		page, err := fs.ReadFile(templates.Docs(), name+".md")
		if err == nil {
			_, err = sh.out.Write(page)
		}
		return err
	}
	lints, err := fs.ReadFile(templates.Docs(), "lints.md")
	if err != nil {
		return err
	}
	if _, rest, found := strings.Cut(string(lints), "\n## "+name+"\n"); found {
		section, _, _ := strings.Cut(rest, "\n## ")
		_, err := fmt.Fprintf(sh.out, "%s\n%s", name, section)
		return err
	}
	hint := didYouMean(name, topics(), "ttreport help ", "topics are "+strings.Join(topics(), ", "))
	return fail(exitUsage, hint, "no help on %q", name)
}

// topics lists the pages of the documentation.
func topics() []string {
	pages, _ := fs.Glob(templates.Docs(), "*.md") // the pattern is well formed
	for i := range pages {
		pages[i] = strings.TrimSuffix(pages[i], ".md")
	}
	return pages
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

// writeHelp prints the help of a command, with its common flags or with all; of the program, the list of commands.
func writeHelp(w io.Writer, c *cobra.Command, all bool) {
	if !c.HasParent() {
		fmt.Fprintf(w, "%s\n\nCommands:\n", strings.TrimSpace(c.Long))
		tw := tabwriter.NewWriter(w, 2, 0, 3, ' ', 0)
		for _, sub := range c.Commands() {
			if !sub.Hidden {
				fmt.Fprintf(tw, "  %s\t%s\n", sub.Name(), sub.Short)
			}
		}
		tw.Flush()
		const more = "\nTopics for ttreport help TOPIC: %s.\nttreport COMMAND --help shows flags and examples.\n"
		fmt.Fprintf(w, more, strings.Join(topics(), ", "))
		return
	}
	fmt.Fprintf(w, "%s\n\nUsage:\n  %s\n\n%s\n", sentence(c.Short), c.UseLine(), strings.TrimSpace(c.Long))
	writeFlags(w, c, all)
	if c.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n  %s\n", strings.ReplaceAll(strings.TrimSpace(c.Example), "\n", "\n  "))
	}
}

func sentence(s string) string {
	s = words.Capital(s)
	if strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

// Annotations of flags. A command whose flags have groups shows the common ones in its help, and all of them with
// --help --all.
const (
	groupOf  = "group"
	isCommon = "common"
)

// bind declares the flags that the text of a command lists, each with the variable that it sets, whose value is the
// default. In a line such as "-m --model*: usage" the star is of a flag that the help shows without --all, and three
// points are of one that may be repeated. Brackets have the heading of those below, and a line that begins with a space
// goes on. "@NAME" stands for the lines of NAME.flags, which several commands have, or for what a function declares.
func bind(c *cobra.Command, vars map[string]any) {
	fs := c.Flags()
	heading, names := "", strings.NewReplacer("{sweeps}", strings.Join(plan.SweepNames(), ", "),
		"{tools}", strings.Join(tool.Names(false), ", "), "{evals}", strings.Join(tool.Names(true), ", "),
		"{kinds}", gate.KindList())
	var declare func(text string)
	declare = func(text string) {
		for line := range strings.Lines(strings.ReplaceAll(text, "\n  ", " ")) {
			line = strings.TrimSpace(line)
			head, usage, _ := strings.Cut(line, ": ")
			marks := head[len(strings.TrimRight(head, "*.")):]
			short, name, _ := strings.Cut(strings.TrimSuffix(head, marks), "--")
			more, isFunc := vars[line].(func(*pflag.FlagSet))
			switch {
			case line == "":
			case isFunc:
				more(fs)
				fs.VisitAll(func(f *pflag.Flag) {
					if f.Annotations == nil {
						f.Annotations = map[string][]string{groupOf: {heading}}
					}
				})
				delete(vars, line)
			case line[0] == '@':
				declare(commandText(line[1:] + ".flags"))
			case line[0] == '[':
				heading = strings.Trim(line, "[]")
			default:
				short, usage = strings.Trim(short, "- "), names.Replace(usage)
				f := declareFlag(fs, name, short, usage, strings.HasSuffix(marks, "..."), vars[name])
				delete(vars, name)
				if f.Annotations = map[string][]string{}; heading != "" {
					f.Annotations[groupOf] = []string{heading}
				}
				if strings.HasPrefix(marks, "*") {
					f.Annotations[isCommon] = nil
				}
			}
		}
	}
	if declare(c.Annotations[flagLines]); len(vars) > 0 {
		panic(fmt.Sprintf("%s.txt has no line of %v", c.Name(), slices.Sorted(maps.Keys(vars))))
	}
}

// declareFlag declares a flag for a variable, by its type.
func declareFlag(fs *pflag.FlagSet, name, short, usage string, isRepeated bool, variable any) *pflag.Flag {
	switch v := variable.(type) {
	case *bool:
		fs.BoolVarP(v, name, short, *v, usage)
	case *int:
		fs.IntVarP(v, name, short, *v, usage)
	case *uint64:
		fs.Uint64VarP(v, name, short, *v, usage)
	case *float64:
		fs.Float64VarP(v, name, short, *v, usage)
	case *[]float64:
		fs.Float64SliceVarP(v, name, short, *v, usage)
	case *time.Duration:
		fs.DurationVarP(v, name, short, *v, usage)
	case *string:
		fs.StringVarP(v, name, short, *v, usage)
	case *[]string:
		if isRepeated {
			fs.StringArrayVarP(v, name, short, *v, usage)
		} else {
			fs.StringSliceVarP(v, name, short, *v, usage)
		}
	case pflag.Value:
		fs.VarP(v, name, short, usage)
	case *plan.ServerName:
		fs.TextVarP(v, name, short, *v, usage)
	default:
		panic(fmt.Sprintf("--%s sets no variable: %T", name, variable))
	}
	return fs.Lookup(name)
}

// flagGroups are the flags of a command by heading, in order: the common ones, with how many others there are, or all.
func flagGroups(c *cobra.Command, all bool) (list []*pflag.FlagSet, hidden int) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		_, common := f.Annotations[isCommon]
		heading := strings.Join(f.Annotations[groupOf], "")
		switch {
		case f.Hidden || f.Name == "help":
			return
		case heading != "" && !common && !all:
			hidden++
			return
		}
		heading = cmp.Or(heading, noHeading)
		at := slices.IndexFunc(list, func(s *pflag.FlagSet) bool { return s.Name() == heading })
		if at < 0 {
			at = len(list)
			list = append(list, pflag.NewFlagSet(heading, pflag.ContinueOnError))
			list[at].SortFlags = false
		}
		list[at].AddFlag(f)
	})
	return list, hidden
}

// noHeading is the heading of flags without one.
const noHeading = "Flags"

// writeFlags prints flags by group.
func writeFlags(w io.Writer, c *cobra.Command, all bool) {
	const width = 100 // characters of a line
	list, hidden := flagGroups(c, all)
	for _, s := range list {
		fmt.Fprintf(w, "\n%s:\n%s", s.Name(), s.FlagUsagesWrapped(width))
	}
	if hidden > 0 {
		fmt.Fprintf(w, "\n%d more flags: %s --help --all\n", hidden, c.CommandPath())
	}
}

// roff is text as troff shows it: with hyphens that can be copied, and no line that begins like a macro.
func roff(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			b.WriteString(`\&`)
		}
		b.WriteString(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line))
	}
	return b.String()
}

// manPage is the manual page of a command, with the macros of man(7): even distances, whole words, and no date, so that
// a page changes only when its content does.
func manPage(c *cobra.Command) string {
	var b strings.Builder
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH \"%s\" 1 \"\" ttreport \"\"\n.ad l\n.nh\n.SH NAME\n%s.SH SYNOPSIS\n%s.SH DESCRIPTION\n",
		strings.ReplaceAll(strings.ToUpper(name), "-", `\-`), roff(name+" - "+c.Short), roff(c.UseLine()))
	for p := range strings.SplitSeq(strings.TrimSpace(c.Long), "\n\n") {
		if strings.HasPrefix(p, "  ") {
			fmt.Fprintf(&b, ".PP\n.nf\n%s.fi\n", roff(p))
		} else {
			fmt.Fprintf(&b, ".PP\n%s", roff(p))
		}
	}
	if !c.HasParent() {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range c.Commands() {
			if !sub.Hidden {
				fmt.Fprintf(&b, ".TP\n%s%s", roff("ttreport-"+sub.Name()+"(1)"), roff(sentence(sub.Short)))
			}
		}
		return b.String()
	}
	options, _ := flagGroups(c, true)
	for i, s := range options {
		if i == 0 {
			b.WriteString(".SH OPTIONS\n")
		}
		if s.Name() != noHeading {
			fmt.Fprintf(&b, ".SS %q\n", s.Name())
		}
		s.VisitAll(func(f *pflag.Flag) {
			value, usage := pflag.UnquoteUsage(f)
			name := "--" + f.Name
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			fmt.Fprintf(&b, ".TP\n%s%s", roff(strings.TrimSpace(name+" "+value)), roff(usage))
		})
	}
	if c.HasExample() {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s.fi\n", roff(strings.TrimSpace(c.Example)))
	}
	b.WriteString(".SH SEE ALSO\nttreport(1)\n")
	return b.String()
}

// writeMan writes the manual pages of the program and of all commands to a folder.
func writeMan(sh *shell, root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return failure{code: exitInput, err: err}
	}
	n := 0
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		if c.Hidden {
			continue
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		if err := durable.WriteFile(filepath.Join(dir, name), []byte(manPage(c))); err != nil {
			return failure{code: exitInput, err: err}
		}
		n++
	}
	fmt.Fprintf(sh.out, "%d manual pages in %s\n", n, dir)
	return nil
}

func completionCommand(sh *shell) *cobra.Command {
	c := command("completion", nil, func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fail(exitUsage, "ttreport completion bash", "completion: name a shell: %s", strings.Join(c.ValidArgs, ", "))
		}
		switch args[0] {
		case "bash":
			return c.Root().GenBashCompletionV2(sh.out, true)
		case "zsh":
			return c.Root().GenZshCompletion(sh.out)
		case "fish":
			return c.Root().GenFishCompletion(sh.out, true)
		case "powershell":
			return c.Root().GenPowerShellCompletionWithDesc(sh.out)
		}
		hint := didYouMean(args[0], c.ValidArgs, "ttreport completion ", "there are "+strings.Join(c.ValidArgs, ", "))
		return fail(exitUsage, hint, "completion: no script for %q", args[0])
	})
	c.ValidArgs = []string{"bash", "zsh", "fish", "powershell"}
	return c
}
