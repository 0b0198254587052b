package collect

import (
	"regexp"

	"al.essio.dev/pkg/shellescape"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/ingest/redact"
)

// CommandLines returns the command lines that a plan would run, in order, quoted for a shell: first the server, if it
// is started. They contain no secrets, which are never passed on a command line. What this program measures itself is
// shown as a ttreport command.
func CommandLines(p plan.Plan, srv server.Server, address string) []string {
	var out []string
	if s, ok := srv.(server.Starter); ok {
		out = append(out, shellescape.QuoteCommand(forTerminal(s.CommandLine())))
	}
	s := &session{plan: p, end: server.Endpoint{URL: address, Model: p.Model.Name}}
	if _, s.embedded = srv.(*server.Simulated); s.embedded {
		s.end.URL = "http://127.0.0.1:PORT" // chosen when the server starts
	}
	if p.Model.ID != "" {
		s.end.Model = p.Model.ID
	}
	for i, it := range p.Items() {
		switch {
		case !it.Tool.IsBuiltin():
			cmd := it.Tool.Command(s.job(step{Item: it, index: i}), "raw/"+it.Name, it.Tool.Flags)
			out = append(out, shellescape.QuoteCommand(forTerminal(it.Tool.CommandLine(cmd))))
		case it.Task == "":
			out = append(out, shellescape.QuoteCommand(s.argv(it.Load, p.Seed+uint64(i))))
		}
	}
	return out
}

// homes matches what [redact.Text] replaces with "~".
var homes = regexp.MustCompile(`/(?:home|Users)/[^/\s:"']+|/root`)

// forTerminal removes secrets from a command line that is shown to the person who runs it. Folders stay as they are,
// so that the command can be run.
func forTerminal(argv []string) []string {
	out := redact.Argv(argv)
	for i, a := range argv {
		if out[i] != a && homes.ReplaceAllString(a, "~") == homes.ReplaceAllString(out[i], "~") {
			out[i] = a
		}
	}
	return out
}
