package decode

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/goccy/go-yaml"

	"github.com/ttreport/ttreport/ingest/schema"
)

// YAML reads a file that a person wrote into v, strictly: a field that v does not have is an error. The problem carries
// line and column, and its Found shows the source line with a caret.
func YAML(path string, data []byte, v any) *schema.Problem {
	err := yaml.UnmarshalWithOptions(data, v, yaml.Strict())
	if err == nil {
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
		p.Hint = fmt.Sprintf("%s\n%s", p.Hint, yaml.FormatError(err, false, true))
		return p
	}
	p.Found = err.Error()
	p.Line, p.Column = positionOfQuoted(data, p.Found)
	return p
}

// quotedText matches a text that a message quotes.
var quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)+"`)

// positionOfQuoted is where the text that a message quotes first is in a file; 0, 0 where it is not. A type that reads itself from text
// does not know the position.
func positionOfQuoted(data []byte, message string) (line, column int) {
	text, err := strconv.Unquote(quotedText.FindString(message))
	at := bytes.Index(data, []byte(text))
	if err != nil || at < 0 {
		return 0, 0
	}
	return bytes.Count(data[:at], []byte("\n")) + 1, at - bytes.LastIndexByte(data[:at], '\n')
}

// EncodeYAML is the other direction: a value as a YAML document, lists indented below their key as people write them.
func EncodeYAML(v any) ([]byte, error) {
	b, err := yaml.MarshalWithOptions(v, yaml.UseJSONMarshaler(), yaml.IndentSequence(true))
	if err != nil {
		return nil, fmt.Errorf("writing YAML: %w", err)
	}
	return b, nil
}
