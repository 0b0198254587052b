package collect

import (
	"strings"

	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/schema/redact"
)

// Lines are the command lines that a plan would run, in order, as a shell takes them: the server first where it is started. Secrets
// are not in them, because they are on no command line. What is measured by this program itself is its own line.
func Lines(p Plan, srv Server, address string) []string {
	var out []string
	switch s := srv.(type) {
	case *Command:
		out = append(out, quote(redact.Argv(s.Argv)))
	case *Container:
		out = append(out, quote(s.Line()))
	}
	s := &session{plan: p, end: Endpoint{URL: address, Model: p.Model.Name}}
	if p.Model.ID != "" {
		s.end.Model = p.Model.ID
	}
	for i, it := range p.items() {
		switch {
		case it.tool.Name != builtin.Name:
			cmd := it.tool.Command(s.job(i, it), "raw/"+it.name, it.tool.Flags)
			out = append(out, quote(redact.Argv(append([]string{it.tool.Program}, cmd.Argv...))))
		case it.task == "":
			out = append(out, quote(s.argv(builtin.Load{ISL: it.load.ISL, OSL: it.load.OSL, Concurrency: it.load.Concurrency, Rate: it.load.Rate, Requests: it.load.Requests, Seed: p.Seed + uint64(i)})))
		}
	}
	return out
}

// quote writes words so that a shell reads them as they are.
func quote(argv []string) string {
	parts := make([]string, len(argv))
	for i, a := range argv {
		if a == "" || strings.ContainsAny(a, " \t\n\"'$&|;<>(){}*?[]#~`\\!") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		parts[i] = a
	}
	return strings.Join(parts, " ")
}
