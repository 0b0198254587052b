package listing

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestKinds(t *testing.T) {
	for want, k := range map[string]kinds{"": {}, "one": {"one": 5}, "2 × b; 1 × a": {"a": 1, "b": 2, "": 3}} {
		if got := k.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	many := kinds{}
	for i := range 30 {
		many[fmt.Sprintf("kind number %d", i)] = 30 - i
	}
	if got := many.String(); utf8.RuneCountInString(got) > detailWidth+16 || !strings.HasSuffix(got, "kinds more") {
		t.Errorf("%q", got)
	}
}
