package render

import (
	"reflect"
	"slices"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Documents are read at once, so problems come in any order: the page has one.
func TestProblemsHaveOneOrder(t *testing.T) {
	list := []schema.Problem{
		{Severity: schema.SevWarning, Path: "a.json", Found: "two"},
		{Severity: schema.SevWarning, Path: "a.json", Found: "one"},
		{Severity: schema.SevWarning, Path: "a.json", Line: 3, Found: "a"}, {Severity: schema.SevError, Path: "b.json"},
	}
	want := problemTable(list).Rows
	slices.Reverse(list)
	if got := problemTable(list).Rows; !reflect.DeepEqual(got, want) {
		t.Errorf("%v and %v", got, want)
	}
}
