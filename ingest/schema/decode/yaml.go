package decode

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
)

var errSeveral = errors.New("several documents, separated by ---, where one is expected")

// YAML reads a file that was written by a person into v, strictly: a field that v does not have is an error. The
// problem carries line and column, and its Found shows the source line with a caret.
func YAML(path string, data []byte, v any) *schema.Problem {
	clean, why := withinBounds(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))) // as editors on Windows begin a file
	if why != "" {
		return &schema.Problem{
			Severity: schema.SevError, Path: path, Code: "bad-yaml", Line: 1, Column: 1, Found: why,
			Expected: "a file that a person wrote", Hint: "split it",
		}
	}
	in := yaml.NewDecoder(bytes.NewReader(clean), yaml.Strict())
	err := in.Decode(v)
	if err == nil {
		var more any
		if err = in.Decode(&more); err == nil {
			err = errSeveral
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	p := &schema.Problem{
		Severity: schema.SevError, Path: path, Code: "bad-yaml",
		Expected: "a field and a value that ttreport knows", Hint: "ttreport help files lists every field",
	}
	var ye yaml.Error
	if errors.As(err, &ye) && ye.GetToken() != nil {
		p.Line, p.Column = placeOf(ye.GetToken())
		p.Found = cmp.Or(ofOtherType(err), ye.GetMessage())
		p.Hint += "\n" + excerpt(clean, p.Line, p.Column)
		return p
	}
	p.Found = err.Error()
	// Types that implement TextUnmarshaler do not know their position: it is that of the first text that is quoted.
	if text, err := strconv.Unquote(quotedText.FindString(p.Found)); err == nil {
		if at := bytes.Index(data, []byte(text)); at >= 0 {
			p.Line, p.Column = new(lines).position(data, at)
		}
	}
	return p
}

// placeOf is where a token begins, counted from the text of those before it: the parser's own position of text on
// several lines is where it ends.
func placeOf(t *token.Token) (line, column int) {
	before := t.Origin[:len(t.Origin)-len(strings.TrimLeft(t.Origin, " \t\r\n"))]
	for line, column = 1, 1; ; t, before = t.Prev, t.Prev.Origin {
		if line == 1 { // what is before it on its line
			column += len(before) - 1 - strings.LastIndex(before, "\n")
		}
		if line += strings.Count(before, "\n"); t.Prev == nil {
			return line, column
		}
	}
}

// excerpt shows a line with its number, three before and three behind it, and a caret below the column.
func excerpt(data []byte, line, column int) string {
	var out strings.Builder
	all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	for i := max(1, line-3); i <= min(line+3, len(all)); i++ {
		mark := ' '
		if i == line {
			mark = '>'
		}
		fmt.Fprintf(&out, "%c %2d | %s\n", mark, i, strings.TrimRight(all[i-1], "\r"))
		if i == line {
			out.WriteString(strings.Repeat(" ", len("> 12 | ")+column-1) + "^\n")
		}
	}
	return strings.TrimRight(out.String(), "\n")
}

// ofOtherType says which field takes another type than the value has, with an example; "" for other errors.
func ofOtherType(err error) string {
	var wrong *yaml.TypeError
	var node *yaml.UnexpectedNodeTypeError
	var at *token.Token
	takes, example := "", ""
	switch {
	case errors.As(err, &wrong) && wrong.DstType != nil:
		at = wrong.Token
		takes, example = takenBy(wrong.DstType.Kind())
	case errors.As(err, &node) && node.Expected == ast.SequenceType:
		at, takes, example = node.Token, "a list", "[a, b]"
	case errors.As(err, &node) && node.Expected == ast.MappingType:
		at, takes, example = node.Token, "fields with values", "{name: value}"
	}
	if at == nil || takes == "" || at.Prev == nil || at.Prev.Prev == nil || at.Prev.Type != token.MappingValueType {
		return ""
	}
	key := at.Prev.Prev.Value
	return fmt.Sprintf("%s: %.40q is not %s, as in %s: %s", key, at.Value, takes, key, example)
}

// takenBy is what a field of a kind takes, in words, with an example.
func takenBy(k reflect.Kind) (takes, example string) {
	switch k {
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64:
		return "a whole number", "4"
	case reflect.Float64:
		return "a number", "0.5"
	case reflect.Bool:
		return "true or false", "true"
	case reflect.String:
		return "text", "name"
	}
	return "", ""
}

// quotedText matches quoted text in a message.
var quotedText = lazyregexp.New(`"(?:[^"\\]|\\.)+"`)

// ErrTooMuchYAML is returned for a document that [YAML] would refuse to read, so that nobody writes one.
var ErrTooMuchYAML = errors.New("a YAML file may not hold that much")

// EncodeYAML returns a value as a YAML document, with lists indented below their key.
func EncodeYAML(v any) ([]byte, error) {
	b, err := yaml.MarshalWithOptions(v, yaml.UseJSONMarshaler(), yaml.IndentSequence(true))
	if err != nil {
		return nil, fmt.Errorf("writing YAML: %w", err)
	}
	if _, why := withinBounds(b); why != "" {
		return nil, fmt.Errorf("writing %s: %w", why, ErrTooMuchYAML)
	}
	return b, nil
}

// yamlName matches the name of a YAML file.
var yamlName = lazyregexp.New(`\.ya?ml(\.zst)?(\.gz)?$`)

// results matches the top-level keys of reports that tools write as YAML; other files are configurations and not
// parsed.
var results = lazyregexp.New(`(?m)^(?:["']?(scenario|load_summary|successes|results|` +
	`metrics|benchmarks)["']?:|- dataset:)`)

// convertYAML rewrites a YAML document as JSON, so that one reader handles both, and reports whether it succeeded.
// Positions are lost.
func (f *File) convertYAML() bool {
	if !results.Match(f.Data) {
		f.Form = Text
		return false
	}
	data, err := yamlAsJSON(f.Data)
	if err == nil {
		f.Data, f.foreign = data, true
		return true
	}
	f.Form = Text // templates and files that resemble YAML are common in result folders
	if exceeds := boundsError(""); errors.As(err, &exceeds) {
		f.Problems = append(f.Problems, schema.Problem{
			Severity: schema.SevWarning, Path: f.Path, Code: "bad-yaml", Found: err.Error(), Expected: "a result file",
			Used: "nothing of it", Hint: "if it is a result, convert it to JSON",
		})
	}
	return false
}

// FromYAML is a file of YAML that no tool writes as JSON, for a mapping of the user's own; nil for any other. A file
// that is called so and cannot be read has a problem.
func (f *File) FromYAML() (*File, *schema.Problem) {
	if f.Form != Text || !yamlName.MatchString(f.Path) {
		return nil, nil
	}
	data, err := yamlAsJSON(f.Data)
	if err == nil {
		return f.Within(string(data)), nil
	}
	why, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return nil, &schema.Problem{
		Severity: schema.SevError, Path: f.Path, Code: "bad-yaml", Found: why, Expected: "valid YAML",
		Used: "nothing of it",
	}
}

// boundsError says which bound a YAML file exceeds.
type boundsError string

func (e boundsError) Error() string { return string(e) }

// yamlAsJSON rewrites the documents of YAML as JSON.
func yamlAsJSON(data []byte) ([]byte, error) {
	clean, why := withinBounds(data)
	if why != "" {
		return nil, boundsError(why)
	}
	return documentsAsJSON(clean)
}

// documentsAsJSON is [yamlAsJSON] of a text that is within the bounds of lines.
func documentsAsJSON(clean []byte) ([]byte, error) {
	in, w := yaml.NewDecoder(bytes.NewReader(clean), yaml.UseOrderedMap()), yamlWriter{}
	for {
		var v any
		switch err := in.Decode(&v); {
		case err == io.EOF && w.out != nil:
			return w.out, nil
		case err == io.EOF:
			return nil, errors.New("no list and no object")
		case err != nil:
			return nil, err
		}
		w.value(v)
		if w.out = append(w.out, '\n'); w.isFull() {
			return nil, boundsError("YAML of too many parts, or whose aliases stand for too much")
		}
	}
}

// yamlWriter writes values of YAML as JSON. What an alias stands for is written each time, within limits.
type yamlWriter struct {
	out   []byte
	nodes int
}

func (w *yamlWriter) isFull() bool { return w.nodes > maxYAMLNodes || len(w.out) > maxYAMLText }

func (w *yamlWriter) value(v any) {
	if w.nodes++; w.isFull() {
		return
	}
	before := byte('{')
	switch v := v.(type) {
	case yaml.MapSlice:
		for _, m := range v {
			w.out = append(append(append(w.out, before), schema.JSONString(fmt.Sprint(m.Key))...), ':')
			w.value(m.Value)
			before = ','
		}
		if before == '{' {
			w.out = append(w.out, before)
		}
		w.out = append(w.out, '}')
	case []any:
		before = '['
		for _, x := range v {
			w.out = append(w.out, before)
			w.value(x)
			before = ','
		}
		if before == '[' {
			w.out = append(w.out, before)
		}
		w.out = append(w.out, ']')
	case string:
		w.out = append(w.out, schema.JSONString(v)...)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			w.out = append(w.out, "NaN"...)
			return
		}
		w.out = strconv.AppendFloat(w.out, v, 'g', -1, 64)
	case nil:
		w.out = append(w.out, "null"...)
	default: // a boolean, a whole number
		w.out = fmt.Append(w.out, v)
	}
}

// Bounds of YAML. The parser takes time and memory by the square of the keys of one mapping and of the depth, and an
// alias stands for its anchor as often as it is written. What people and tools write is a tenth of it.
const (
	maxYAMLLines = 30_000
	maxYAMLBlank = 2_000   // empty ones: in a block the parser takes the square of them
	maxYAMLKeys  = 1_500   // of one mapping
	maxYAMLItems = 20_000  // of one list on one line
	maxYAMLDepth = 100     // of lists and mappings on one line
	maxYAMLNodes = 200_000 // when every alias is written out
	maxYAMLText  = 4 << 20
)

// withinBounds returns the text without blanks on empty lines, which the parser takes quadratic time for in blocks,
// and what exceeds the bounds, "" for nothing.
func withinBounds(data []byte) (clean []byte, why string) {
	if len(data) > maxYAML {
		return nil, fmt.Sprintf("YAML of more than %d kB", maxYAML>>10)
	}
	clean = make([]byte, 0, len(data))
	var keys [202]int // by indentation, of the mapping under way
	deepest, lines, blank, flow := 0, 0, 0, 0
	for line := range bytes.Lines(data) {
		rest := bytes.TrimLeft(line, " ")
		indent, items, levels := 0, 0, len(line)-len(bytes.TrimLeft(line, " -\t?:"))
		switch {
		case len(bytes.TrimSpace(rest)) == 0:
			blank, line, levels = blank+1, []byte("\n"), 0
		case rest[0] != '#':
			lines++
			indent = min(len(line)-len(rest), len(keys)-1)
			for ; deepest > indent; deepest-- {
				keys[deepest] = 0
			}
			deepest = indent
			if keys[indent]++; bytes.HasPrefix(rest, []byte("- ")) { // a mapping within begins anew
				keys[indent] = 0
			}
			items = bytes.Count(rest, []byte(",")) // of lists and mappings on one line
			if bytes.IndexByte(rest, '{') >= 0 {   // an item of a mapping counts for more
				items *= maxYAMLItems / maxYAMLKeys
			}
		}
		clean = append(clean, line...)
		most := 0
		flow, most = nesting(line, flow)
		for _, x := range []struct {
			n, most int
			of      string
		}{
			{most, maxYAMLDepth, "levels"}, {levels, 2 * maxYAMLDepth, "levels"}, {blank, maxYAMLBlank, "empty lines"},
			{lines, maxYAMLLines, "lines"}, {keys[indent], maxYAMLKeys, "keys of a mapping"},
			{items, maxYAMLItems, "items of a line"},
		} {
			if x.n > x.most {
				return nil, fmt.Sprintf("YAML of more than %d %s", x.most, x.of)
			}
		}
	}
	if bytes.IndexByte(clean, '*') >= 0 && bytes.IndexByte(clean, '&') >= 0 {
		var tooMuch boundsError
		if _, err := documentsAsJSON(clean); errors.As(err, &tooMuch) {
			return nil, string(tooMuch)
		}
	}
	return clean, ""
}

// nesting is how many lists and mappings are open after a line, and within it at most.
func nesting(line []byte, open int) (after, most int) {
	for _, c := range line {
		switch c {
		case '[', '{':
			open++
		case ']', '}':
			open = max(open-1, 0)
		}
		most = max(most, open)
	}
	return open, most
}
