package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/ttreport/ttreport/templates"
)

func isTTY(fd int) bool { return term.IsTerminal(fd) }

func writeHelp(w io.Writer) {
	fmt.Fprint(w, `ttreport turns LLM serving benchmarks and evals into a results site that a reviewer can trust.

  ttreport demo                          see it: rehearsal, site and preview in ./ttreport-demo/
  ttreport collect && ttreport build     measure, then write _site/
  ttreport build PATH…                   read result files you have, then write _site/
  ttreport inspect PATH…                 say what each file is, and what is wrong with it

Commands:
`)
	tw := tabwriter.NewWriter(w, 2, 0, 3, ' ', 0)
	for _, c := range commands() {
		fmt.Fprintf(tw, "  %s\t%s\n", c.name, c.summary)
	}
	tw.Flush()
	fmt.Fprintf(w, "\nTopics for ttreport help TOPIC: %s.\nttreport COMMAND --help shows flags and examples.\n", strings.Join(topics(), ", "))
}

// write prints the help of one command.
func (c command) write(w io.Writer, fs *pflag.FlagSet) {
	fmt.Fprintf(w, "%s\n\nUsage:\n  ttreport %s\n\n%s\n", capital(c.summary), strings.TrimSpace(c.name+" "+c.args), strings.TrimSpace(c.help))
	if usages := fs.FlagUsagesWrapped(100); usages != "" {
		fmt.Fprintf(w, "\nFlags:\n%s", usages)
	}
	if len(c.examples) > 0 {
		fmt.Fprint(w, "\nExamples:\n")
		for _, e := range c.examples {
			fmt.Fprintf(w, "  # %s\n  $ %s\n", e.does, e.line)
		}
	}
}

func capital(s string) string {
	s = strings.ToUpper(s[:1]) + s[1:]
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
		help: "Without an argument, the list of commands. With one, the help of that command, a page of the documentation, or of a lint; the same\npages are on the site under about/.",
		examples: []example{
			{"the environment variables that ttreport reads", "ttreport help environment"},
			{"the flags of build", "ttreport help build"},
			{"what does this lint mean?", "ttreport help saturated"},
		},
		setup: func(*pflag.FlagSet) runFunc {
			return func(_ context.Context, sh *shell, args []string) error {
				if len(args) == 0 {
					writeHelp(sh.out)
					return nil
				}
				for _, c := range commands() {
					if c.name == args[0] {
						fs := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
						fs.SortFlags = false
						c.setup(fs)
						c.write(sh.out, fs)
						return nil
					}
				}
				if section, ok := lintHelp(args[0]); ok {
					_, err := fmt.Fprint(sh.out, section)
					return err
				}
				page, err := fs.ReadFile(templates.Docs(), args[0]+".md")
				if err != nil {
					return fail(exitUsage, didYouMean(args[0], topics(), "ttreport help ", "topics are "+strings.Join(topics(), ", ")), "no help on %q", args[0])
				}
				_, err = sh.out.Write(page)
				return err
			}
		},
	}
}
