package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/ingest/durable"
)

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
