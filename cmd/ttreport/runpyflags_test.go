package main

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Every flag of run.py that is accepted or refused is on the page for its users, or in one of the groups that it names.
func TestRunPyFlagsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../templates/docs/run-py.md")
	if err != nil {
		t.Fatal(err)
	}
	groups := []string{"agentic", "prefix-cache", "spec-decode", "markers", "suite", "category", "test", "prerequisites",
		"served-model"}
	n := 0
	collectCommand(&shell{}).Flags().VisitAll(func(f *pflag.Flag) {
		if strings.Join(f.Annotations[groupOf], "") != "Of tt-inference-server's run.py" {
			return
		}
		n++
		for _, g := range groups {
			if strings.Contains(f.Name, g) {
				return
			}
		}
		if !strings.Contains(string(page), "`--"+f.Name+"`") {
			t.Errorf("--%s is not on the page", f.Name)
		}
	})
	if n < 60 {
		t.Errorf("%d flags of run.py, of more than 60", n)
	}
}
