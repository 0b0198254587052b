package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"github.com/goccy/go-yaml"

	"github.com/ttreport/ttreport/ingest/schema"
)

var errSeveral = errors.New("several documents, separated by ---, where one is read")

// YAML reads a file that was written by a person into v, strictly: a field that v does not have is an error. The
// problem carries line and column, and its Found shows the source line with a caret.
func YAML(path string, data []byte, v any) *schema.Problem {
	clean, why := withinBounds(data)
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
		p.Hint = fmt.Sprintf("%s\n%s", p.Hint, yaml.FormatError(err, false, true))
		return p
	}
	p.Found = err.Error()
	p.Line, p.Column = positionOfQuoted(data, p.Found)
	return p
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
