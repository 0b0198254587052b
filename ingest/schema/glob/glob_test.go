package glob_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema/glob"
)

func TestMatch(t *testing.T) {
	for pattern, name := range map[string]string{
		"v1*": "v1.2", "{a,b}-*": "b-1", "**": "a/b", "v?": "v1", "v[0-9]": "v7", "{v1,v2}{,-rc}": "v2-rc",
	} {
		if err := glob.Check(pattern); err != nil || !glob.Match(pattern, name) {
			t.Errorf("%s does not match %s, %v", pattern, name, err)
		}
	}
	if glob.Match("*", "a/b") || glob.Match("{a", "a") || glob.Match("[", "[") {
		t.Error("what should not match does")
	}
}

// No pattern takes more than a moment, and those that would are refused.
func TestHostilePatterns(t *testing.T) {
	name := strings.Repeat("a", 200) + "b"
	for _, p := range []string{
		strings.Repeat("{a,a}", 30) + "c", strings.Repeat("{**,**}", 30) + "c", strings.Repeat("*a", 400) + "c",
		strings.Repeat("**/", 300) + "c", strings.Repeat("{a,", 300) + "b" + strings.Repeat("}", 300),
		strings.Repeat("{a,{b,c}}", 20), strings.Repeat("?", 2000), strings.Repeat("[a-z]", 190) + "c",
		strings.Repeat("{a,a}", 6) + "*c",
	} {
		took := time.Hour
		for range 3 { // another process may have the machine once
			began := time.Now()
			_ = glob.Check(p)
			glob.Match(p, name)
			glob.Match(p, strings.Repeat("a/", 100)+"b")
			took = min(took, time.Since(began))
		}
		if took > time.Second { // a millisecond as a rule
			t.Errorf("%.30s… took %s", p, took)
		}
	}
	for _, p := range []string{strings.Repeat("{a,a}", 7), strings.Repeat("{a,{b,c}}", 20), strings.Repeat("?", 2000),
		"{a", "[a"} {
		if glob.Check(p) == nil {
			t.Errorf("%.30s is accepted", p)
		}
	}
}
