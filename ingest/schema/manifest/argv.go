package manifest

import (
	"fmt"
	"strings"
)

// Quote writes an argv so that a shell reads its words as they are.
func Quote(argv []string) string {
	parts := make([]string, len(argv))
	for i, a := range argv {
		if a == "" || strings.ContainsAny(a, " \t\n\"'$&|;<>(){}*?[]#~`\\!") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		parts[i] = a
	}
	return strings.Join(parts, " ")
}

// Split splits a command line into words at spaces outside of quotes, as a shell would without its substitutions. The words are right
// up to a quotation mark that is not closed, which is an error.
func Split(line string) ([]string, error) {
	var out []string
	var word strings.Builder
	quote, begun := rune(0), false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, begun = c, true
		case quote == 0 && (c == ' ' || c == '\n' || c == '\t'):
			if begun {
				out = append(out, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if begun {
		out = append(out, word.String())
	}
	if quote != 0 {
		return out, fmt.Errorf("the quotation mark %c is not closed", quote)
	}
	return out, nil
}
