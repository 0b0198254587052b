package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/glob"
)

// Pattern reads identity from paths. "{release}/{device}/benchmark_{model}_isl-{isl}_osl-{osl}*" names the parts. A
// placeholder matches text without a slash. A part without placeholders is a doublestar glob; next to a placeholder
// only * and ? are wildcards. A pattern is matched against the end of a path, whole folders at a time.
type Pattern struct {
	text  string
	parts []patternPart // one a folder, the file's name last
}

// patternPart matches one folder, or the file name, of a path.
type patternPart struct {
	glob string
	re   *regexp.Regexp // in place of the glob, if there are placeholders
}

// anyFolders is the part that matches any number of folders.
const anyFolders = "**"

// Bounds of a pattern: every ** is tried with every number of folders.
const (
	longestPattern = 1_000
	mostAnyFolders = 3
)

// placeholders maps the names that a pattern may use to what each matches.
var placeholders = map[string]string{
	"release": anyText, "model": anyText, "precision": anyText, "device": anyText, "impl": anyText, "engine": anyText,
	"version": anyText, "chips": wholeNumber, "tool": anyText, "task": anyText, "isl": wholeNumber, "osl": wholeNumber,
	"concurrency": wholeNumber, "rate": `inf|\d+(?:\.\d+)?`, "dataset": anyText, "label": anyText, "n": wholeNumber,
	"tp": wholeNumber, "pp": wholeNumber, "dp": wholeNumber, "ep": wholeNumber, "tep": wholeNumber, "dep": wholeNumber,
	"backend": anyText, "config": anyText, "_": anyText,
}

const (
	anyText     = `.+?`
	wholeNumber = `\d+`
)

// oneWord matches what follows the name of a model and a separator: a date, or a word with at most the number of a
// candidate. Models have separators in their names, and would end at the first.
const oneWord = `(?:20\d\d[-_.]?[01]\d[-_.]?[0-3]\d[^%[1]s]*|[^%[1]s]+(?:%[1]s(?:rc|alpha|beta|dev|post)[\d.]*)?)`

// ofModel are the facts of which a name has one such word behind its model.
var ofModel = map[string]bool{"release": true, "version": true, "precision": true, "engine": true}

// wildcard matches a placeholder, or a wildcard of a glob next to one.
var wildcard = lazyregexp.New(`\{([a-z_]+)\}|\*|\?`)

// NewPattern compiles a pattern.
func NewPattern(text string) (Pattern, error) {
	p := Pattern{text: text}
	if len(text) > longestPattern || strings.Count(text, anyFolders) > mostAnyFolders {
		return p, fmt.Errorf("a pattern of at most %d characters, with ** at most %d times, is expected", longestPattern,
			mostAnyFolders)
	}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, "/") {
		compiled, err := newPart(part, seen)
		if err != nil {
			return Pattern{}, fmt.Errorf("pattern %q: %w", text, err)
		}
		p.parts = append(p.parts, compiled)
	}
	return p, nil
}

// newPart compiles a part. A repeated placeholder matches, but its text is not used.
func newPart(text string, seen map[string]bool) (patternPart, error) {
	var b strings.Builder
	b.WriteString(`(?s)^`)
	last, named, ofName := 0, false, false // ofName: behind the name of a model
	for _, loc := range wildcard.FindAllStringSubmatchIndex(text, -1) {
		between := text[last:loc[0]]
		b.WriteString(regexp.QuoteMeta(between))
		last = loc[1]
		if loc[2] < 0 {
			b.WriteString(map[string]string{"*": ".*", "?": "."}[text[loc[0]:loc[1]]])
			ofName = false
			continue
		}
		name := text[loc[2]:loc[3]]
		what, known := placeholders[name]
		if !known {
			names := strings.Join(slices.Sorted(maps.Keys(placeholders)), "} {")
			return patternPart{}, fmt.Errorf("it names {%s}; it may name {%s}", name, names)
		}
		if ofName = ofName && ofModel[name] && between != "" && strings.Contains("-_", between[:1]); ofName {
			what = fmt.Sprintf(oneWord, between[:1])
		}
		named, ofName = true, ofName || name == "model"
		if name == "_" || seen[name] {
			b.WriteString(`(` + what + `)`)
			continue
		}
		seen[name] = true
		b.WriteString(`(?P<` + name + `>` + what + `)`)
	}
	if !named {
		if err := glob.Check(text); err != nil {
			return patternPart{}, err
		}
		return patternPart{glob: text}, nil
	}
	b.WriteString(regexp.QuoteMeta(text[last:]) + `$`)
	re, err := regexp.Compile(b.String())
	return patternPart{re: re}, err
}

// match matches parts against the same number of folders, adds the values of their placeholders and takes these out of
// the folders.
func match(parts []patternPart, folders []string, values map[string]string) bool {
	if len(parts) > 0 && parts[0].glob == anyFolders {
		for i := range len(folders) + 1 {
			if match(parts[1:], folders[i:], values) {
				return true
			}
		}
		return false
	}
	if len(parts) == 0 || len(folders) == 0 {
		return len(parts) == len(folders)
	}
	if parts[0].re == nil {
		return glob.Match(parts[0].glob, folders[0]) && match(parts[1:], folders[1:], values)
	}
	m := parts[0].re.FindStringSubmatchIndex(folders[0])
	if m == nil || !match(parts[1:], folders[1:], values) {
		return false
	}
	rest, last := "", 0
	for i, name := range parts[0].re.SubexpNames()[1:] {
		from, to := m[2*i+2], m[2*i+3]
		if name != "" {
			values[name] = folders[0][from:to]
		}
		rest, last = rest+folders[0][last:from], to
	}
	folders[0] = rest + folders[0][last:]
	return true
}

// Rest is a path without what the pattern reads from it or ignores; the whole where it does not match.
func (p Pattern) Rest(path string) string {
	folders := strings.Split(path, "/")
	if !match(append([]patternPart{{glob: anyFolders}}, p.parts...), folders, map[string]string{}) {
		return path
	}
	return strings.Join(folders, "/")
}

// String returns the pattern as written.
func (p Pattern) String() string { return p.text }

// Match reads a path. ok is false when the path does not match.
func (p Pattern) Match(path string) (f schema.Facts, tool string, w Workload, conditions map[string]string, ok bool) {
	values := map[string]string{}
	if !match(append([]patternPart{{glob: anyFolders}}, p.parts...), strings.Split(path, "/"), values) {
		return f, "", w, nil, false
	}
	f, tool, w, conditions = statedBy(values)
	return f, tool, w, conditions, true
}

// statedBy is what texts state, by the names that a pattern may use.
func statedBy(values map[string]string) (f schema.Facts, tool string, w Workload, conditions map[string]string) {
	texts := map[string]*string{
		"release": &f.Release, "model": &f.Model.Name, "device": &f.Device.Name, "precision": &f.Model.Precision,
		"impl": &f.Impl, "engine": &f.Stack.Engine, "version": &f.Stack.Version, "tool": &tool, "task": &w.Task,
		"dataset": &w.Dataset,
	}
	numbers := map[string]**float64{"isl": &w.ISL, "osl": &w.OSL, "concurrency": &w.Concurrency, "rate": &w.Rate}
	for name, v := range values {
		switch text, number := texts[name], numbers[name]; {
		case text != nil:
			*text = v
		case number != nil:
			if x, err := strconv.ParseFloat(v, 64); err == nil && v != "inf" {
				*number = &x
			}
		case name == "chips":
			f.Device.Chips, _ = strconv.Atoi(v)
		case name == "n":
			conditions = map[string]string{"num_prompts": v}
		default:
			if placeholders[name] == wholeNumber {
				v = cmp.Or(strings.TrimLeft(v, "0"), "0") // tp08 is tp8
			}
			if w.Dims == nil {
				w.Dims = map[string]string{}
			}
			w.Dims[name] = v
		}
	}
	f.Model.Name = schema.WithoutShard(f.Model.Name)
	return f, tool, w, conditions
}
