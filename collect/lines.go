package collect

import (
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/schema/redact"
)

// Lines are the command lines that a plan would run, in order, as a shell takes them: the server first where it is started. Secrets
// are not in them, because they are on no command line. What is measured by this program itself is its own line.
func Lines(p Plan, srv Server, address string) []string {
	var out []string
	switch s := srv.(type) {
	case *Command:
		out = append(out, manifest.Quote(redact.Argv(s.Argv)))
	case *Container:
		out = append(out, manifest.Quote(s.Line()))
	}
	s := &session{plan: p, end: Endpoint{URL: address, Model: p.Model.Name}}
	if p.Model.ID != "" {
		s.end.Model = p.Model.ID
	}
	for i, it := range p.items() {
		switch {
		case it.tool.Name != builtin.Name:
			cmd := it.tool.Command(s.job(i, it), "raw/"+it.name, it.tool.Flags)
			out = append(out, manifest.Quote(redact.Argv(it.tool.line(cmd))))
		case it.task == "":
			out = append(out, manifest.Quote(s.argv(it.load, p.Seed+uint64(i))))
		}
	}
	return out
}
