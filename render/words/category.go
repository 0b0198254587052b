package words

import (
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/targets/gate"
)

// Categories says what the required targets came to by category; "" where there is only one.
func Categories(list []gate.Category) string {
	if len(list) < 2 {
		return ""
	}
	var parts []string
	for _, c := range list {
		all := c.Met + c.Missed + c.Missing + c.Waived + c.Inconclusive
		var rest []string
		for _, x := range []struct {
			n    int
			word string
		}{{c.Missed, "missed"}, {c.Missing, "missing"}, {c.Waived, "waived"}, {c.Inconclusive, "inconclusive"}} {
			if x.n > 0 {
				rest = append(rest, fmt.Sprintf("%d %s", x.n, x.word))
			}
		}
		text := fmt.Sprintf("%s %s met", c.Name, Of(c.Met, all))
		if len(rest) > 0 {
			text += " (" + strings.Join(rest, ", ") + ")"
		}
		parts = append(parts, text)
	}
	return "Required, by category: " + strings.Join(parts, "; ") + "."
}
