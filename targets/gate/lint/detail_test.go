package lint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/targets/gate/lint"
)

// details is one value of each type of detail.
func details() []lint.Detail {
	return []lint.Detail{
		lint.EmptyResponses{}, lint.ImpossibleScore{}, lint.ZeroScore{}, lint.FewItems{}, lint.Subsampled{},
		lint.ZeroStderr{}, lint.FailedShare{}, lint.MoreFailures{}, lint.OtherUnit{},
		lint.Saturated{}, lint.ShortAnswers{}, lint.OtherLengths{},
		lint.ColdStart{},
		lint.SecondTokenStall{}, lint.PrefixCache{}, lint.FewRequests{}, lint.FewForTail{}, lint.NotPositive{},
		lint.ImpossibleError{}, lint.ReleaseOrder{},
		lint.Unsettled{}, lint.Imprecise{}, lint.Overload{}, lint.OpenSearch{},
		lint.NoCommits{}, lint.LatestImage{}, lint.DirtyBuild{}, lint.MixedTools{}, lint.NothingGraded{},
		lint.StaleTargets{}, lint.NoStart{}, lint.BadTimestamps{}, lint.DuplicateRun{}, lint.LostDocument{}, lint.Unread{},
		lint.NoPair{},
		lint.ReportRejects{},
		lint.UnknownChannel{}, lint.CutOff{}, lint.Unlisted{}, lint.Drift{},
		lint.UnusedDecision{},
	}
}

// Every check has a type of detail, every type of detail a check, and each id belongs to one check.
func TestEveryCheckHasADetail(t *testing.T) {
	checks := map[lint.ID]bool{}
	for _, c := range lint.Checks() {
		if checks[c.ID] {
			t.Errorf("two checks are called %s", c.ID)
		}
		checks[c.ID] = true
		if c.Severity == "" {
			t.Errorf("%s does not say what it means", c.ID)
		}
	}
	has := map[lint.ID]bool{}
	for _, d := range details() {
		l := lint.New("v1", "subject", d)
		if has[l.ID] = true; !checks[l.ID] {
			t.Errorf("%T is of %s, which is no check", d, l.ID)
		}
		if l.Severity == "" || l.Count != 1 || l.Release != "v1" || l.Subject != "subject" {
			t.Errorf("%+v", l)
		}
	}
	for id := range checks {
		if !has[id] {
			t.Errorf("%s has no detail", id)
		}
	}
}

// The list of this file is complete.
func TestEveryDetailIsListed(t *testing.T) {
	var listed []string
	for _, d := range details() {
		listed = append(listed, reflect.TypeOf(d).Name())
	}
	file, err := parser.ParseFile(token.NewFileSet(), "detail.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		d, ok := node.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if _, isStruct := d.Type.(*ast.StructType); !isStruct {
			return true
		}
		n++
		if name := d.Name.Name; !slices.Contains(listed, name) {
			t.Errorf("details has no %s", name)
		}
		return true
	})
	if n != len(listed) {
		t.Errorf("%d types in detail.go, %d listed", n, len(listed))
	}
}

// Every check has its section in the documentation, and every section its check.
func TestEveryCheckIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../templates/docs/lints.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range lint.IDs() {
		if !strings.Contains(string(page), "\n## "+string(id)+"\n") {
			t.Errorf("%s has no section in lints.md", id)
		}
	}
	for _, section := range strings.Split(string(page), "\n## ")[1:] {
		title, _, _ := strings.Cut(section, "\n")
		if !slices.Contains(lint.IDs(), lint.ID(title)) {
			t.Errorf("lints.md has a section on %q, which is no check", title)
		}
	}
}
