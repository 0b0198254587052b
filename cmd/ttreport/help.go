package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/render/words"
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
