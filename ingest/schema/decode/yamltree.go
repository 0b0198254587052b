package decode

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/ttreport/ttreport/ingest/schema"
)

// looksLikeYAML recognises a YAML file by its name and a first line that is a key, a comment or the start of a
// document.
func looksLikeYAML(name string, data []byte) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	if !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
		return false
	}
	head := bytes.TrimLeft(data, " \t\r\n")
	return len(head) > 0 && !startsJSON(head)
}

// results matches the top-level keys of reports that tools write as YAML; other files are configurations and not
// parsed.
var results = regexp.MustCompile(`(?m)^["']?(scenario|load_summary|successes|results|metrics|benchmarks)["']?:`)

// tooDeep reports YAML that nests deeper than a report. The parser's memory grows with the square of the depth.
func tooDeep(data []byte) bool {
	flow := 0
	for line := range bytes.Lines(data) {
		rest := bytes.TrimLeft(line, " -\t?:")
		if len(line)-len(rest) > 200 {
			return true
		}
		for _, c := range rest {
			switch c {
			case '[', '{':
				flow++
			case ']', '}':
				flow = max(flow-1, 0)
			}
		}
		if flow > 100 {
			return true
		}
	}
	return false
}

// convertYAML rewrites a YAML document as JSON, so that one reader handles both, and reports whether it succeeded.
// Positions are lost.
func (f *File) convertYAML() bool {
	if len(f.Data) > maxYAML || f.Cut {
		f.Form = Text
		f.Problems = append(f.Problems, schema.Problem{
			Severity: schema.SevNote, Path: f.Path, Code: "too-large",
			Found:    fmt.Sprintf("%d MB of YAML", f.Size>>20),
			Expected: fmt.Sprintf("at most %d MB", maxYAML>>20), Used: "nothing of it",
			Hint: "if it is a result, convert it to JSON",
		})
		return false
	}
	if !results.Match(f.Data) {
		f.Form = Text
		return false
	}
	data, why := withinBounds(f.Data)
	if why == "" && aliasBomb(data) {
		why = "YAML whose aliases stand for too much"
	}
	if why != "" {
		return f.badYAML(why)
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil || len(tree.Docs) == 0 || tree.Docs[0].Body == nil {
		f.Form = Text // templates and files that resemble YAML are common in result folders
		return false
	}
	w := yamlWriter{anchors: map[string]ast.Node{}}
	for _, doc := range tree.Docs {
		if doc.Body != nil {
			w.node(doc.Body, 0)
			w.out = append(w.out, '\n')
		}
	}
	if w.err != "" {
		return f.badYAML(w.err)
	}
	f.Data, f.foreign = w.out, true
	return true
}

// badYAML reports why a document is not read.
func (f *File) badYAML(why string) bool {
	f.Form = Text
	f.Problems = append(f.Problems, schema.Problem{
		Severity: schema.SevWarning, Path: f.Path, Code: "bad-yaml", Found: why, Expected: "a result file",
		Used: "nothing of it", Hint: "if it is a result, convert it to JSON",
	})
	return false
}

// yamlWriter writes a YAML tree as JSON. An alias is expanded, within the limit of parts.
type yamlWriter struct {
	out     []byte
	anchors map[string]ast.Node
	nodes   int
	err     string
}

func (w *yamlWriter) node(n ast.Node, depth int) {
	if w.nodes++; w.nodes > maxNodes || depth > 100 || w.err != "" {
		if w.err == "" {
			w.err = "YAML that is too deep or of too many parts"
		}
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
		w.out = append(w.out, schema.JSONString(keyText(m.Key))...)
		w.out = append(w.out, ':')
		w.node(m.Value, depth+1)
	}
	w.out = append(w.out, '}')
}

func keyText(k ast.MapKeyNode) string {
	if s, ok := k.(*ast.StringNode); ok {
		return s.Value
	}
	return strings.Trim(k.String(), `"' `)
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
		if math.IsNaN(n.Value) || math.IsInf(n.Value, 0) {
			w.out = append(w.out, "NaN"...)
			return
		}
		w.out = strconv.AppendFloat(w.out, n.Value, 'g', -1, 64)
	case *ast.BoolNode:
		w.out = strconv.AppendBool(w.out, n.Value)
	case *ast.NanNode, *ast.InfinityNode:
		w.out = append(w.out, "NaN"...)
	default:
		w.out = append(w.out, "null"...)
	}
}
