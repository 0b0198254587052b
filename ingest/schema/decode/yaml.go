package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/ttreport/ttreport/ingest/schema"
)

var errSeveral = errors.New("several documents, separated by ---, where one is read")

// YAML reads a file that was written by a person into v, strictly: a field that v does not have is an error. The
// problem carries line and column, and its Found shows the source line with a caret.
func YAML(path string, data []byte, v any) *schema.Problem {
	clean, why := withinBounds(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))) // as editors on Windows begin a file
	if why == "" && aliasBomb(clean) {
		why = "YAML whose aliases stand for too much"
	}
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
		pos := ye.GetToken().Position
		p.Line, p.Column, p.Offset = pos.Line, pos.Column, int64(pos.Offset)
		p.Found = ye.GetMessage()
		if why := ofOtherType(err); why != "" {
			p.Found = why
		}
		_, source, _ := strings.Cut(yaml.FormatError(err, false, true), "\n") // behind the message
		p.Hint += "\n" + source
		return p
	}
	p.Found = err.Error()
	p.Line, p.Column = positionOfQuoted(data, p.Found)
	return p
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
		takes, example = kindOf(wrong.DstType.Kind())
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

// kindOf is what a field of a kind takes, in words, with an example.
func kindOf(k reflect.Kind) (takes, example string) {
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
var quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)+"`)

// positionOfQuoted returns the position in a file of the first text that a message quotes; 0, 0 if it does not occur.
// Types that implement TextUnmarshaler do not know their position.
func positionOfQuoted(data []byte, message string) (line, column int) {
	text, err := strconv.Unquote(quotedText.FindString(message))
	at := bytes.Index(data, []byte(text))
	if err != nil || at < 0 {
		return 0, 0
	}
	return bytes.Count(data[:at], []byte("\n")) + 1, at - bytes.LastIndexByte(data[:at], '\n')
}

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
