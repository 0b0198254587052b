package manifest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Pattern reads identity from paths. "{release}/{device}/benchmark_{model}_isl-{isl}_osl-{osl}*" names the parts;
// "*" stands for anything but a slash. It is matched against the end of a path, whole folders at a time.
type Pattern struct {
	text string
	re   *regexp.Regexp
}

// placeholders are what a pattern may name.
const placeholders = "release model device impl engine version tool task isl osl concurrency rate dataset label n _"

var placeholder = regexp.MustCompile(`\{([a-z_]+)\}|\*`)

// NewPattern compiles a pattern.
func NewPattern(text string) (Pattern, error) {
	var b strings.Builder
	b.WriteString(`(?:^|/)`)
	last, seen := 0, map[string]bool{}
	for _, loc := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(regexp.QuoteMeta(text[last:loc[0]]))
		last = loc[1]
		if loc[2] < 0 {
			b.WriteString(`[^/]*`)
			continue
		}
		name := text[loc[2]:loc[3]]
		if !strings.Contains(" "+placeholders+" ", " "+name+" ") {
			return Pattern{}, fmt.Errorf("pattern %q names {%s}; it may name {%s}", text, name, strings.ReplaceAll(placeholders, " ", "} {"))
		}
		what := `[^/]+?`
		switch name {
		case "isl", "osl", "concurrency", "n":
			what = `\d+`
		case "rate":
			what = `inf|\d+(?:\.\d+)?`
		}
		if name == "_" || seen[name] {
			b.WriteString(`(?:` + what + `)`)
			continue
		}
		seen[name] = true
		b.WriteString(`(?P<` + name + `>` + what + `)`)
	}
	b.WriteString(regexp.QuoteMeta(text[last:]) + `$`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		return Pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	return Pattern{text, re}, nil
}

// String is the pattern as written.
func (p Pattern) String() string { return p.text }

// Match reads a path. ok is false when the path does not fit.
func (p Pattern) Match(path string) (f schema.Facts, tool string, w Workload, conditions map[string]string, ok bool) {
	m := p.re.FindStringSubmatch(path)
	if m == nil {
		return f, "", w, nil, false
	}
	for i, name := range p.re.SubexpNames() {
		if name == "" || m[i] == "" {
			continue
		}
		v := m[i]
		switch name {
		case "release":
			f.Release = v
		case "model":
			f.Model.Name = v
		case "device":
			f.Device.Name = v
		case "impl":
			f.Impl = v
		case "engine":
			f.Stack.Engine = v
		case "version":
			f.Stack.Version = v
		case "tool":
			tool = v
		case "task":
			w.Task = v
		case "dataset":
			w.Dataset = v
		case "label":
			w.Dims = map[string]string{schema.DimLabel: v}
		case "n":
			conditions = map[string]string{"num_prompts": v}
		default:
			w.setNumber(name, v)
		}
	}
	return f, tool, w, conditions, true
}

func (w *Workload) setNumber(name, text string) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || text == "inf" {
		return
	}
	switch name {
	case "isl":
		w.ISL = &v
	case "osl":
		w.OSL = &v
	case "concurrency":
		w.Concurrency = &v
	case "rate":
		w.Rate = &v
	}
}
