package collect

import (
	"fmt"
	"regexp"

	"al.essio.dev/pkg/shellescape"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/ingest/redact"
)

// CommandLines returns the command lines that a plan would run, in order, quoted for a shell: first the server, if it
// is started. They contain no secrets, which are never passed on a command line. What this program measures itself is
// shown as a ttreport command. What an interrupted run has already, and is not run, is a comment.
func CommandLines(p plan.Plan, srv server.Server, address string, done map[string]bool) []string {
	return append(startLine(srv), itemLines(p, srv, address, 0, done)...)
}

// TurnLines returns the command lines of two servers that take turns, in order, each turn below a comment.
func TurnLines(baseline, candidate Side, baselineAt, candidateAt string) []string {
	var out []string
	started := map[plan.Turn]bool{}
	for _, turn := range candidate.Plan.Turns.Order() {
		s, at, name := candidate, candidateAt, candidate.Plan.Turns.Side
		if turn.Baseline {
			s, at, name = baseline, baselineAt, baseline.Plan.Turns.Side
		}
		out = append(out, fmt.Sprintf("# block %d of %d: %s", turn.Block, s.Plan.Turns.Blocks, name))
		once := plan.Turn{Baseline: turn.Baseline}
		if !started[once] || !s.Plan.Turns.Kept {
			out = append(out, startLine(s.Server)...)
		}
		started[once] = true
		out = append(out, itemLines(s.Plan, s.Server, at, turn.Block, nil)...)
	}
	return out
}

// startLine is the command line of a server that is started; none for another.
func startLine(srv server.Server) []string {
	s, ok := srv.(server.Starter)
	if !ok {
		return nil
	}
	return []string{shellescape.QuoteCommand(forTerminal(s.CommandLine()))}
}

// itemLines are the command lines of the measurements of a block; 0: of a plan by itself. done is what is there.
func itemLines(p plan.Plan, srv server.Server, address string, block int, done map[string]bool) []string {
	var out []string
	s := &session{plan: p, end: server.Endpoint{URL: address, Model: p.Model.Name}}
	if _, s.embedded = srv.(*server.Simulated); s.embedded {
		s.end.URL = "http://127.0.0.1:PORT" // chosen when the server starts
	}
	if p.Model.ID != "" {
		s.end.Model = p.Model.ID
	}
	for i, it := range p.Items() {
		mark := ""
		if done[it.Name] {
			mark = "# measured before: "
		}
		switch {
		case it.Block != block:
		case !it.Tool.IsBuiltin():
			cmd := it.Tool.Command(s.job(step{Item: it, index: i}), "raw/"+it.Name, it.Tool.Flags)
			out = append(out, mark+shellescape.QuoteCommand(forTerminal(it.Tool.CommandLine(cmd))))
		case it.Task == "":
			out = append(out, mark+shellescape.QuoteCommand(s.argv(it.Load, p.Seed+uint64(i))))
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
