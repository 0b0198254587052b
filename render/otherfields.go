package render

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// valuesShown is how many different values of one field a run page lists.
const valuesShown = 4

// otherFields lists the fields of the files that have no canonical name: a row a field, with its different
// values. It is nil when there is none.
func otherFields(run *schema.Run) *Table {
	values, points := map[string][]string{}, map[string]int{}
	add := func(fields schema.Unknown, n int) {
		for name, raw := range fields {
			if name == "setting" {
				continue // it is shown with the identity
			}
			if v := fieldValue(raw); !slices.Contains(values[name], v) {
				values[name] = append(values[name], v)
			}
			points[name] += n
		}
	}
	add(run.Extra, 0)
	for i := range run.Points {
		add(run.Points[i].Extra, 1)
	}
	if len(values) == 0 {
		return nil
	}
	t := &Table{Caption: "Other fields", Layout: KeyValue, Cols: []Col{{Head: "Field"}, {Head: "Value"}, {Head: "Of"}}}
	for _, name := range sortedNames(values) {
		shown := values[name]
		if more := len(shown) - valuesShown; more > 0 {
			shown = append(slices.Clone(shown[:valuesShown]), fmt.Sprintf("and %d more", more))
		}
		of := "the run"
		if n := points[name]; n > 0 {
			of = words.Plural(n, "point")
		}
		t.row(Cell{Text: name, Head: true, Code: true}, Cell{Text: strings.Join(shown, ", ")}, text(of))
	}
	t.Total = len(t.Rows)
	return t.cut("the history document has all")
}

// fieldValue is a field as a reader wants it: texts without quotes, everything else as it stands.
func fieldValue(raw []byte) string {
	if bytes.HasPrefix(raw, []byte{'"'}) {
		if s, err := strconv.Unquote(string(raw)); err == nil {
			return s
		}
	}
	return string(raw)
}
