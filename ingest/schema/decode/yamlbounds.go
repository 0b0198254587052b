package decode

import (
	"bytes"
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Bounds of YAML. The parser takes time and memory by the square of the keys of one mapping and of the depth, and an
// alias stands for its anchor as often as it is written. What people and tools write is a tenth of it.
const (
	maxYAMLLines = 30_000
	maxYAMLBlank = 2_000   // empty ones: in a block the parser takes the square of them
	maxYAMLKeys  = 1_500   // of one mapping
	maxYAMLItems = 20_000  // of one list on one line
	maxYAMLNodes = 200_000 // when every alias is written out
)

// withinBounds returns the text without blanks on empty lines, which the parser takes quadratic time for in blocks,
// and what exceeds the bounds, "" for nothing.
func withinBounds(data []byte) (clean []byte, why string) {
	if len(data) > maxYAML {
		return nil, fmt.Sprintf("YAML of more than %d kB", maxYAML>>10)
	}
	if tooDeep(data) {
		return nil, "YAML that nests too deep"
	}
	clean = make([]byte, 0, len(data))
	var keys [202]int // by indentation, of the mapping under way
	deepest, lines, blank := 0, 0, 0
	for line := range bytes.Lines(data) {
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
		for deepest > indent {
			keys[deepest] = 0
			deepest--
		}
		deepest = indent
		if bytes.HasPrefix(rest, []byte("- ")) { // a mapping within begins anew
			keys[indent] = 0
		} else if keys[indent]++; keys[indent] > maxYAMLKeys {
			return nil, fmt.Sprintf("a mapping of more than %d keys", maxYAMLKeys)
		}
		if flowItems(rest) > maxYAMLItems {
			return nil, fmt.Sprintf("a line with more than %d items", maxYAMLItems)
		}
	}
	return clean, ""
}

// flowItems counts the items of lists and mappings on one line; an item of a mapping counts for more.
func flowItems(line []byte) int {
	n := bytes.Count(line, []byte(","))
	if bytes.IndexByte(line, '{') >= 0 {
		return n * (maxYAMLItems / maxYAMLKeys)
	}
	return n
}

// aliasBomb reports that aliases stand for more than a file may hold. A text that cannot be parsed has none.
func aliasBomb(data []byte) bool {
	if bytes.IndexByte(data, '*') < 0 || bytes.IndexByte(data, '&') < 0 {
		return false
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return false
	}
	c := nodeCounter{anchors: map[string]int{}}
	total := 0
	for _, doc := range tree.Docs {
		if doc.Body != nil {
			total += c.count(doc.Body, 0)
		}
	}
	return total > maxYAMLNodes
}

// nodeCounter counts nodes as if aliases were written out. A node weighs by the kilobytes of its text.
type nodeCounter struct{ anchors map[string]int }

func (c nodeCounter) count(n ast.Node, depth int) int {
	if depth > 200 {
		return maxYAMLNodes + 1
	}
	sum := 1
	add := func(x ast.Node) {
		if x != nil {
			sum = min(sum+c.count(x, depth+1), maxYAMLNodes+1)
		}
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			add(v)
		}
	case *ast.MappingValueNode:
		add(n.Key)
		add(n.Value)
	case *ast.SequenceNode:
		for _, v := range n.Values {
			add(v)
		}
	case *ast.AnchorNode:
		add(n.Value)
		c.anchors[n.Name.String()] = sum
	case *ast.AliasNode:
		sum += c.anchors[n.Value.String()]
	case *ast.TagNode:
		add(n.Value)
	case *ast.StringNode:
		sum += len(n.Value) >> 10
	case *ast.LiteralNode:
		sum += len(n.Value.Value) >> 10
	}
	return sum
}
