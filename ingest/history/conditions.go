package history

import (
	"maps"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// condIndex reads the conditions of a point.
func (s *scanner) condIndex(sc *decode.Scanner) int32 {
	raw := sc.Skip()
	if i, ok := s.conds[string(raw)]; ok {
		return i
	}
	conds := columns.Conditions{}
	for _, m := range decode.NewScanner(raw, decode.DefaultLimits().Depth).Value().Members() {
		conds[m.Key] = m.Val.Text()
	}
	i := s.Cond(conds)
	s.conds[string(raw)] = i
	return i
}

// toolVersion reads the version of the tool from the source of a point.
func toolVersion(sc *decode.Scanner) (version string) {
	sc.Object(func(key []byte) {
		if string(key) == "tool_version" {
			version = sc.Value().Str()
		} else {
			sc.Skip()
		}
	})
	return version
}

// versioned are conditions under a version of the tool.
type versioned struct {
	cond    int32
	version string
}

// ofVersion adds the version of the tool to conditions: a newer client may measure another number.
func (s *scanner) ofVersion(cond int32, version string) int32 {
	id := versioned{cond, version}
	i, ok := s.versions[id]
	if !ok {
		conds := columns.Conditions{columns.ToolVersion: version}
		maps.Copy(conds, s.C.Conds[cond])
		i = s.Cond(conds)
		s.versions[id] = i
	}
	return i
}

// measuredServer takes the server that ttreport collect measured from the command line of a run's first point. A tool's
// own command line has the address of the embedded simulator too, which is another one every time.
func measuredServer(sc *decode.Scanner, h *columns.RunHead) {
	if h.Server != "" {
		sc.Skip()
		return
	}
	var argv []string
	sc.Array(func() { argv = append(argv, str(sc)) })
	if len(argv) < 2 || argv[0] != "ttreport" || argv[1] != "collect" {
		return
	}
	if at := slices.Index(argv, "--server"); at >= 0 && at+1 < len(argv) {
		h.Server = argv[at+1]
	}
}

// setting reads the facts about the machine that a collection writes.
func setting(sc *decode.Scanner) (out map[string]string) {
	set := func(name, text string) {
		if out == nil {
			out = map[string]string{}
		}
		out[name] = text
	}
	sc.Object(func(key []byte) {
		name := string(key)
		switch name {
		case columns.RunCommand, columns.ServerMode: // of tt-inference-server's reports
			if text := sc.Value().Text(); text != "" {
				set(name, text)
			}
		case "setting":
			for _, m := range sc.Value().Members() {
				set(m.Key, m.Val.Text())
			}
		default:
			sc.Skip()
		}
	})
	return out
}
