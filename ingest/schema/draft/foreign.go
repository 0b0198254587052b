package draft

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// Limits of unknown fields that are kept: texts up to longest bytes, at most roomForForeign bytes per point, three
// levels of names.
const (
	longest        = 200
	roomForForeign = 1200
	foreignDepth   = 3
)

// Foreign keeps the fields of an object that have no canonical name, flattened to dotted names: numbers, booleans and
// short texts, without secrets. Lists and long texts, and so prompts and answers, stay in the raw file. What was read
// of a tracked object is left out, and the names in ignored, separated by blanks; a star stands for any ending.
func (d *Draft) Foreign(v decode.Value, ignored string) { d.Extra = Foreign(d.Extra, v, ignored) }

// Foreign is the same for fields of a whole file. It returns out with the fields added, nil when there are none.
func Foreign(out schema.Unknown, v decode.Value, ignored string) schema.Unknown {
	if out == nil {
		out = schema.Unknown{}
	}
	skipped := Names(ignored)
	left, dropped := roomForForeign, 0
	for m := range v.Unread() {
		if !skipped(m.Key) {
			keep(out, m.Key, m.Val, 1, &left, &dropped)
		}
	}
	if dropped > 0 {
		out["more_fields_in_the_file"] = fmt.Append(nil, dropped)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// Around adds the short fields of an object that is not read itself, without secrets and prompts, where out has none of
// their names.
func Around(out schema.Unknown, v decode.Value) {
	left, dropped := roomForForeign, 0
	for _, m := range v.Members() {
		isNested := m.Val.Kind() == decode.Object || m.Val.Kind() == decode.Array
		if _, has := out[m.Key]; !has && !isNested && len(m.Val.Text()) <= longestAround {
			keep(out, m.Key, m.Val, foreignDepth, &left, &dropped)
		}
	}
}

// longestAround is how long a field beside a result may be that says whose it is, or how it was set up.
const longestAround = 60

func keep(out schema.Unknown, name string, v decode.Value, depth int, left, dropped *int) {
	var raw []byte
	switch v.Kind() {
	case decode.Object:
		if depth == foreignDepth {
			return
		}
		for _, m := range v.Members() {
			if !IsText(m.Key) {
				keep(out, name+"."+m.Key, m.Val, depth+1, left, dropped)
			}
		}
		return
	case decode.String:
		t := v.Str()
		if t == "" || len(t) > longest || isWriting(name, t) {
			return
		}
		short := name[strings.LastIndexByte(name, '.')+1:]
		raw = schema.JSONString(redact.Field(short, t))
	case decode.Number:
		if _, finite := v.Float(); !finite {
			return
		}
		raw = slices.Clone(v.Raw())
	case decode.Bool:
		raw = slices.Clone(v.Raw())
	default:
		return
	}
	if *left -= len(name) + len(raw) + 4; *left < 0 {
		*dropped++
		return
	}
	out[redact.Text(name)] = raw
}

// texts are names of prompts and answers.
var texts = Names(`prompt prompts generated_text generated_texts response response_text output_text outputs text
	messages content completion input_text chat_template system_prompt system_instruction doc resps arguments target
	payloads output raw_output model_output gold answer answers prediction predictions ground_truth question
	correct_answer expected_answer`)

// IsText reports names of prompts and answers, which are never kept.
func IsText(name string) bool { return texts(name[strings.LastIndexByte(name, '.')+1:]) }

// isWriting reports a prompt or an answer, or the beginning of one: several words under a name such as output_head.
func isWriting(name, text string) bool {
	return IsText(name) || len(strings.Fields(text)) > 3 && written.MatchString(name[strings.LastIndexByte(name, '.')+1:])
}

var written = lazyregexp.New(
	`(?i)(?:^|[_ -])(?:prompts?|questions?|answers?|outputs?|responses?|repl(?:y|ies)|completions?)(?:$|[_ -])`)

// Names reports whether a name is in a list of words; one that ends in a star stands for any ending.
func Names(list string) func(name string) bool {
	return func(name string) bool {
		for w := range strings.FieldsSeq(list) {
			if prefix, open := strings.CutSuffix(w, "*"); w == name || open && strings.HasPrefix(name, prefix) {
				return true
			}
		}
		return false
	}
}

// Check collects the features that a reader's Detect looks for.
type Check struct{ schema.Match }

// Want records a feature that the format has.
func (c *Check) Want(has bool, what string) {
	if has {
		c.Has = append(c.Has, what)
	} else {
		c.Lacks = append(c.Lacks, what)
	}
}

// Not records a feature that only another format has.
func (c *Check) Not(has bool, why string) {
	if has {
		c.Lacks = append(c.Lacks, why)
	}
}

// Quote returns the text of an error for a message: its last line, after a colon, without secrets. "" stays "".
func Quote(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		s = s[i+1:]
	}
	if s == "" {
		return ""
	}
	r := []rune(redact.Text(s))
	if len(r) > 160 {
		r = append(r[:160], '…')
	}
	return ": " + string(r)
}

// Keep keeps one unknown field that is text in its file.
func (d *Draft) Keep(name, text string) {
	if len(d.Extra) < 40 && !isWriting(name, text) {
		d.Extra.Set(redact.Text(name), redact.Field(name, text))
	}
}

// KeepNumber keeps one unknown number, to six digits.
func (d *Draft) KeepNumber(name string, x float64) {
	if d.Extra == nil {
		d.Extra = schema.Unknown{}
	}
	d.Extra[redact.Text(name)] = strconv.AppendFloat(nil, latency.Round(x, 6), 'g', -1, 64)
}
