package decision

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrNotByHand is returned for a configuration whose decisions are written in a form that is not extended safely.
var ErrNotByHand = errors.New("its decisions are not a list with an item a line")

// Text is a decision as an item of the list in a configuration, indented by so many spaces. Every text is in quotes, so
// that no name is anything else in YAML.
func (d *Decision) Text(indent int) string {
	var b strings.Builder
	lead := strings.Repeat(" ", indent)
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s  %s: %s\n", lead, name, quoted(value))
		}
	}
	fmt.Fprintf(&b, "%s- id: %s\n%s  kind: %s\n", lead, d.ID, lead, d.Kind)
	field("release", d.Release)
	var of []string
	for _, s := range []struct{ name, value string }{
		{"verdict", d.Select.Verdict}, {"model", d.Select.Model}, {"device", d.Select.Device},
		{"workload", d.Select.Workload}, {"tool", d.Select.Tool}, {"metric", d.Select.Metric}, {"task", d.Select.Task},
		{"level", d.Select.Level},
	} {
		if s.value != "" {
			of = append(of, s.name+": "+quoted(s.value))
		}
	}
	fmt.Fprintf(&b, "%s  select: {%s}\n", lead, strings.Join(of, ", "))
	field("reason", d.Reason)
	field("owner", d.Owner)
	field("expires", d.Expires)
	return b.String()
}

// quoted is a text in double quotes: JSON strings are YAML.
func quoted(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		return `""` // a string is always JSON
	}
	return string(data)
}

var (
	listRE  = regexp.MustCompile(`(?m)^decisions:[ \t]*(\[\][ \t]*)?(#.*)?$`)
	anyRE   = regexp.MustCompile(`(?m)^["']?decisions["']?[ \t]*:`)
	itemRE  = regexp.MustCompile(`^( *)- `)
	otherRE = regexp.MustCompile(`^[^\s#-]`)
)

// Append adds decisions at the end of the list in the text of a configuration; everything else stays as it is, comments
// too. A configuration without a list gets one at its end.
func Append(config string, list []Decision) (string, error) {
	text := func(indent int) (out string) {
		for i := range list {
			out += list[i].Text(indent)
		}
		return out
	}
	if config != "" && !strings.HasSuffix(config, "\n") {
		config += "\n"
	}
	at := listRE.FindStringSubmatchIndex(config)
	switch {
	case at == nil && anyRE.MatchString(config):
		return "", ErrNotByHand
	case at == nil:
		return config + "decisions:\n" + text(2), nil
	case at[2] >= 0: // an empty list
		return config[:at[2]] + config[at[3]:at[1]] + "\n" + text(2) + config[min(len(config), at[1]+1):], nil
	}
	head, rest := config[:min(len(config), at[1]+1)], config[min(len(config), at[1]+1):]
	end, indent, known := 0, 2, false
	for offset := 0; offset < len(rest); {
		line := rest[offset:]
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i+1]
		}
		offset += len(line)
		if otherRE.MatchString(line) {
			break
		}
		if m := itemRE.FindStringSubmatch(line); m != nil && !known {
			indent, known = len(m[1]), true
		}
		if s := strings.TrimSpace(line); s != "" && !strings.HasPrefix(s, "#") {
			end = offset
		}
	}
	return head + rest[:end] + text(indent) + rest[end:], nil
}
