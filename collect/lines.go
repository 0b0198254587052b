package collect

import (
	"regexp"

	"al.essio.dev/pkg/shellescape"

	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/redact"
)

// Lines are the command lines that a plan would run, in order, as a shell takes them: the server first where it is started. Secrets
// are not in them, because they are on no command line. What is measured by this program itself is its own line.
func Lines(p Plan, srv Server, address string) []string {
	var out []string
	switch s := srv.(type) {
	case *Command:
		out = append(out, shellescape.QuoteCommand(forTerminal(s.Argv)))
	case *Container:
		out = append(out, shellescape.QuoteCommand(forTerminal(s.words())))
	}
	s := &session{plan: p, end: Endpoint{URL: address, Model: p.Model.Name}}
	if _, s.embedded = srv.(*Simulated); s.embedded {
		s.end.URL = "http://127.0.0.1:PORT" // it is chosen when it starts
	}
	if p.Model.ID != "" {
		s.end.Model = p.Model.ID
	}
	for i, it := range p.items() {
		switch {
		case it.tool.Name != builtin.Name:
			cmd := it.tool.Command(s.job(i, it), "raw/"+it.name, it.tool.Flags)
			out = append(out, shellescape.QuoteCommand(forTerminal(it.tool.line(cmd))))
		case it.task == "":
			out = append(out, shellescape.QuoteCommand(s.argv(it.load, p.Seed+uint64(i))))
		}
	}
	return out
}

// homes are what [redact.Text] makes "~" of.
var homes = regexp.MustCompile(`/(?:home|Users)/[^/\s:"']+|/root`)

// forTerminal takes secrets out of a command line that is shown to whoever runs it, and leaves folders as they are, so that it can be run.
func forTerminal(argv []string) []string {
	out := redact.Argv(argv)
	for i, a := range argv {
		if out[i] != a && homes.ReplaceAllString(a, "~") == homes.ReplaceAllString(out[i], "~") {
			out[i] = a
		}
	}
	return out
}
