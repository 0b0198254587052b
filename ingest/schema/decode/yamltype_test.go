package decode_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// A value of another type names its field, what that takes, and an example, without a word of Go.
func TestValuesOfOtherTypes(t *testing.T) {
	type entry struct {
		Repeat int      `yaml:"repeat"`
		Chat   bool     `yaml:"chat"`
		Limit  float64  `yaml:"limit"`
		Tools  []string `yaml:"tools"`
		Name   string   `yaml:"name"`
	}
	for text, want := range map[string]string{
		"repeat: many":       `repeat: "many" is not a whole number, as in repeat: 4`,
		"repeat: [1]":        `repeat: "[" is not a whole number, as in repeat: 4`,
		"chat: maybe":        `chat: "maybe" is not true or false, as in chat: true`,
		"limit: much":        `limit: "much" is not a number, as in limit: 0.5`,
		"tools: vllm":        `tools: "vllm" is not a list, as in tools: [a, b]`,
		"name: [a]":          `name: "[" is not text, as in name: name`,
		"name: a\nrepeat: x": `repeat: "x" is not a whole number, as in repeat: 4`,
	} {
		var list struct {
			Plans []entry `yaml:"plans"`
		}
		indented := strings.ReplaceAll(text, "\n", "\n    ")
		p := decode.YAML("p.yaml", []byte("plans:\n  - "+indented+"\n"), &list)
		if p == nil || p.Found != want || p.Line == 0 || strings.Contains(p.Hint+p.Found, "Go struct") {
			t.Errorf("%q: %+v; expected %s", text, p, want)
		}
	}
}
