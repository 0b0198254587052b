package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// expression evaluates what stands between ${{ and }} in a workflow, as far as those of init and action.yml use it:
// names of contexts, texts, ==, !=, &&, ||, !, parentheses, always(), cancelled() and fromJSON().
type expression struct {
	t        *testing.T
	tokens   []string
	contexts map[string]any
	always   bool // always() was asked for
}

var (
	tokenOf      = regexp.MustCompile(`\s*('(?:[^']|'')*'|&&|\|\||==|!=|!|\(|\)|[\w.-]+)`)
	expressionIn = regexp.MustCompile(`\$\{\{(.*?)\}\}`)
)

// evaluate returns the value of an expression: nil, a bool, a text or a context.
func evaluate(t *testing.T, text string, contexts map[string]any) (value any, always bool) {
	t.Helper()
	e := &expression{t: t, contexts: contexts}
	for rest := text; strings.TrimSpace(rest) != ""; {
		at := tokenOf.FindStringSubmatchIndex(rest)
		if at == nil || at[0] != 0 {
			t.Fatalf("%q: %q is not understood", text, rest)
		}
		e.tokens, rest = append(e.tokens, rest[at[2]:at[3]]), rest[at[1]:]
	}
	value = e.or()
	if len(e.tokens) > 0 {
		t.Fatalf("%q: %q is left", text, e.tokens)
	}
	return value, e.always
}

// interpolate replaces the expressions in a text.
func interpolate(t *testing.T, text any, contexts map[string]any) string {
	t.Helper()
	return expressionIn.ReplaceAllStringFunc(shown(text), func(in string) string {
		v, _ := evaluate(t, expressionIn.FindStringSubmatch(in)[1], contexts)
		return shown(v)
	})
}

func shown(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// truth is what a condition makes of a value.
func truth(v any) bool { return v != nil && v != false && v != "" && v != 0 }

func (e *expression) next(tokens ...string) string {
	for _, token := range tokens {
		if len(e.tokens) > 0 && e.tokens[0] == token {
			e.tokens = e.tokens[1:]
			return token
		}
	}
	return ""
}

func (e *expression) or() any {
	left := e.and()
	for e.next("||") != "" {
		if right := e.and(); !truth(left) {
			left = right
		}
	}
	return left
}

func (e *expression) and() any {
	left := e.equal()
	for e.next("&&") != "" {
		if right := e.equal(); truth(left) {
			left = right
		}
	}
	return left
}

func (e *expression) equal() any {
	left := e.single()
	if op := e.next("==", "!="); op != "" {
		return (shown(left) == shown(e.single())) == (op == "==")
	}
	return left
}

func (e *expression) single() any {
	switch {
	case e.next("!") != "":
		return !truth(e.single()) // it binds more closely than ==
	case e.next("(") != "":
		defer e.next(")")
		return e.or()
	case len(e.tokens) == 0:
		e.t.Fatal("an expression ends early")
	}
	token := e.tokens[0]
	e.tokens = e.tokens[1:]
	switch {
	case token[0] == '\'':
		return strings.ReplaceAll(token[1:len(token)-1], "''", "'")
	case e.next("(") != "":
		return e.call(token)
	}
	return e.lookUp(token)
}

func (e *expression) call(name string) any {
	if name == "always" || name == "cancelled" {
		e.next(")")
		e.always = true
		return name == "always"
	}
	if name != "fromJSON" {
		e.t.Fatalf("the function %s is not understood", name)
	}
	defer e.next(")")
	return e.or()
}

// lookUp returns the value of a name such as github.event.number; what a context does not have is empty. A context
// that no run has is an error: secrets, for one, are named nowhere.
func (e *expression) lookUp(name string) any {
	parts := strings.Split(name, ".")
	value, known := e.contexts[parts[0]]
	if !known {
		e.t.Fatalf("%s: a run has no context %q", name, parts[0])
	}
	for _, part := range parts[1:] {
		inner, _ := value.(map[string]any)
		value = inner[part]
	}
	return value
}

func TestExpressions(t *testing.T) {
	contexts := map[string]any{"a": map[string]any{"b": "x", "yes": true, "none": ""}}
	for text, want := range map[string]any{
		"a.b": "x", "a.c.d": nil, "a.b == 'x'": true, "a.b != 'x'": false, "!a.none": true, "a.none || 'y'": "y",
		"a.yes && 'l' || 'r'": "l", "a.none && 'l' || 'r'": "r", "(a.none || a.b) == 'x' && 'it''s'": "it's",
		"fromJSON(a.none || '240')": "240",
	} {
		if got, _ := evaluate(t, text, contexts); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
