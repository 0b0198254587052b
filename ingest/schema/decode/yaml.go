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
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
)

var errSeveral = errors.New("several documents, separated by ---, where one is read")

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
var ErrTooMuchYAML = errors.New("a YAML file may not hold as much")

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
		Severity: schema.SevError, Path: f.Path, Code: "bad-yaml", Found: why, Expected: "YAML without a mistake",
		Used: "nothing of it",
	}
}

// boundsError says which bound a YAML file exceeds.
type boundsError string

func (e boundsError) Error() string { return string(e) }

var errNoYAML = errors.New("no list and no object")

// yamlAsJSON rewrites YAML as JSON.
func yamlAsJSON(data []byte) ([]byte, error) {
	clean, why := withinBounds(data)
	if why != "" {
		return nil, boundsError(why)
	}
	tree, err := parser.ParseBytes(clean, 0)
	if err != nil {
		return nil, err
	}
	if len(tree.Docs) == 0 || tree.Docs[0].Body == nil {
		return nil, errNoYAML
	}
	out, why := asJSON(tree)
	if why != "" {
		return nil, boundsError(why)
	}
	return out, nil
}

// asJSON writes documents as JSON, or says why not.
func asJSON(tree *ast.File) (out []byte, why string) {
	w := yamlWriter{anchors: map[string]ast.Node{}}
	for _, doc := range tree.Docs {
		if doc.Body != nil {
			w.node(doc.Body, 0)
			w.out = append(w.out, '\n')
		}
	}
	return w.out, w.err
}

// yamlWriter writes a YAML tree as JSON. An alias is expanded, within the limits of parts and of text.
type yamlWriter struct {
	out     []byte
	anchors map[string]ast.Node
	nodes   int
	err     string
}

func (w *yamlWriter) node(n ast.Node, depth int) {
	if w.nodes++; w.nodes > maxYAMLNodes || depth > 100 || len(w.out) > maxYAMLText {
		w.err = "YAML that is too deep or of too many parts"
	}
	if w.err != "" {
		return
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		w.mapping(n.Values, depth)
	case *ast.MappingValueNode:
		w.mapping([]*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		w.out = append(w.out, '[')
		for i, x := range n.Values {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.node(x, depth+1)
		}
		w.out = append(w.out, ']')
	case *ast.AnchorNode:
		w.anchors[n.Name.String()] = n.Value
		w.node(n.Value, depth+1)
	case *ast.AliasNode:
		if to, ok := w.anchors[n.Value.String()]; ok {
			w.node(to, depth+1)
		} else {
			w.out = append(w.out, "null"...)
		}
	case *ast.TagNode: // a Python type, as PyYAML writes enumerations: its value counts
		w.node(n.Value, depth+1)
	default:
		w.scalar(n)
	}
}

func (w *yamlWriter) mapping(values []*ast.MappingValueNode, depth int) {
	w.out = append(w.out, '{')
	for i, m := range values {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		key := strings.Trim(m.Key.String(), `"' `)
		if s, ok := m.Key.(*ast.StringNode); ok {
			key = s.Value
		}
		w.out = append(w.out, schema.JSONString(key)...)
		w.out = append(w.out, ':')
		w.node(m.Value, depth+1)
	}
	w.out = append(w.out, '}')
}

func (w *yamlWriter) scalar(n ast.Node) {
	switch n := n.(type) {
	case *ast.StringNode:
		w.out = append(w.out, schema.JSONString(n.Value)...)
	case *ast.LiteralNode:
		w.out = append(w.out, schema.JSONString(n.Value.Value)...)
	case *ast.IntegerNode:
		w.out = fmt.Append(w.out, n.Value)
	case *ast.FloatNode:
		if w.out = strconv.AppendFloat(w.out, n.Value, 'g', -1, 64); math.IsInf(n.Value, 0) {
			w.err = "a number that is too large"
		}
	case *ast.BoolNode:
		w.out = strconv.AppendBool(w.out, n.Value)
	case *ast.NanNode, *ast.InfinityNode:
		w.out = append(w.out, "NaN"...)
	default:
		w.out = append(w.out, "null"...)
	}
}

// Bounds of YAML. The parser takes time and memory by the square of the keys of one mapping and of the depth, and an
// alias stands for its anchor as often as it is written. What people and tools write is a tenth of it.
const (
	maxYAMLLines = 30_000
	maxYAMLBlank = 2_000   // empty ones: in a block the parser takes the square of them
	maxYAMLKeys  = 1_500   // of one mapping
	maxYAMLItems = 20_000  // of one list on one line
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
		if flow = nesting(line, flow); flow > 100 || len(line)-len(bytes.TrimLeft(line, " -\t?:")) > 200 &&
			len(bytes.TrimSpace(line)) > 0 {
			return nil, "YAML that nests too deep"
		}
		rest := bytes.TrimLeft(line, " ")
		if len(bytes.TrimSpace(rest)) == 0 {
			if blank++; blank > maxYAMLBlank {
				return nil, fmt.Sprintf("YAML of more than %d empty lines", maxYAMLBlank)
			}
			clean = append(clean, '\n')
			continue
		}
		clean = append(clean, line...)
		if rest[0] == '#' {
			continue
		}
		if lines++; lines > maxYAMLLines {
			return nil, fmt.Sprintf("YAML of more than %d lines", maxYAMLLines)
		}
		indent := min(len(line)-len(rest), len(keys)-1)
		for ; deepest > indent; deepest-- {
			keys[deepest] = 0
		}
		deepest = indent
		if bytes.HasPrefix(rest, []byte("- ")) { // a mapping within begins anew
			keys[indent] = 0
		} else if keys[indent]++; keys[indent] > maxYAMLKeys {
			return nil, fmt.Sprintf("a mapping of more than %d keys", maxYAMLKeys)
		}
		items := bytes.Count(rest, []byte(",")) // of lists and mappings on one line
		if bytes.IndexByte(rest, '{') >= 0 {    // an item of a mapping counts for more
			items *= maxYAMLItems / maxYAMLKeys
		}
		if items > maxYAMLItems {
			return nil, fmt.Sprintf("a line with more than %d items", maxYAMLItems)
		}
	}
	return clean, aliasBomb(clean)
}

// aliasBomb says that aliases stand for more than a file may hold. A text that cannot be parsed has none.
func aliasBomb(clean []byte) string {
	if bytes.IndexByte(clean, '*') < 0 || bytes.IndexByte(clean, '&') < 0 {
		return ""
	}
	if tree, err := parser.ParseBytes(clean, 0); err == nil {
		if _, why := asJSON(tree); why != "" {
			return "YAML whose aliases stand for too much"
		}
	}
	return ""
}

// nesting is how many lists and mappings are open after a line.
func nesting(line []byte, before int) int {
	for _, c := range line {
		switch c {
		case '[', '{':
			before++
		case ']', '}':
			before = max(before-1, 0)
		}
	}
	return before
}
