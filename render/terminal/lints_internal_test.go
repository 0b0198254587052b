package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/targets/gate/lint"
)

// Many lints of one kind are one line, the worst; a few are a line each; what runs have in common is said once.
func TestLintsAreFolded(t *testing.T) {
	var list []lint.Lint
	for i := range 7 {
		list = append(list, lint.New("v1", fmt.Sprintf("128/128/%d", i+1), lint.ShortAnswers{Asked: 128, Got: 64}))
	}
	for range 2 {
		list = append(list, lint.New("v1", "256/256/1", lint.OtherLengths{Asked: 256, Got: 300}))
	}
	var out strings.Builder
	lints(&out, list, false)
	if n := strings.Count(out.String(), "\n"); n != 4 || !strings.Contains(out.String(), "6 more like it") ||
		!strings.Contains(out.String(), "The same in 2 runs") {
		t.Errorf("%d lines:%s", n, out.String())
	}
}
