// This file reads the tables that the harness prints of its results, of logs and documents: rounded to four decimals,
// each after a line with the arguments of its model.

package lmeval

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

var (
	// tableHead is the row of headings: of tasks, of groups, and of 0.3, which has no filter.
	tableHead = regexp.MustCompile(`(?m)^[#>* \t]*\|\s*(?:Tasks?|Groups)\s*\|\s*Version\s*\|(?:.*\|)?` +
		`\s*Metric\s*\|.*Value\s*\|`)
	// tableModel is the line before: "hf (pretrained=org/model,dtype=auto), gen_kwargs: (None), limit: None, …".
	tableModel = regexp.MustCompile(`^[#>* \t]*[\w-]+ ?\((.*)\), ?gen_kwargs: ?.*?limit: ?([^,]+), ?num_fewshot`)
)

// Table is the format of what the harness prints.
const Table = "lm-eval-table"

// Tables looks for the headings, and returns the scores of all tables, those of each model by themselves.
var Tables = draft.Format{
	Name: Table, Detail: "tables of the harness", All: readTable,
	Sniff: func(f *decode.File, m *draft.Check) {
		m.Want(f.Form == decode.Text && bytes.Contains(f.Data, []byte("Metric")) && tableHead.Match(f.Data),
			"| Tasks | Version | … | Metric | … | Value |")
	},
}

func readTable(f *decode.File, out *schema.Reading) {
	var runs draft.Runs[string]
	var head []string
	model, limit, task, version := "", "", "", ""
	seen := map[string]string{} // the values of a model's scores
	for line := range bytes.Lines(f.Data) {
		text := strings.TrimLeft(strings.TrimSpace(string(line[:min(len(line), 2000)])), "#>* \t")
		if m := tableModel.FindStringSubmatch(text); m != nil {
			model, limit = strings.TrimRight(argument(modelArg, m[1]), "/"), m[2]
			clear(seen)
		}
		cells := strings.Split(strings.Trim(text, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		of := func(name string) string { return column(head, cells, name) }
		value, err := strconv.ParseFloat(of("Value"), 64)
		switch {
		case !strings.HasPrefix(text, "|"):
			head = nil
			continue
		case tableHead.MatchString(text):
			head = cells
			head[0] = "Tasks"
			continue
		case err != nil || of("Metric") == "":
			continue
		case of("Tasks") != "":
			task, version = strings.TrimLeft(of("Tasks"), "- "), of("Version")
		}
		key := strings.Join([]string{model, task, of("Metric"), of("Filter")}, "\n")
		r := runs.Of(model, func() (one schema.Reading) {
			one.Format, one.Facts.Model.ID = out.Format, model
			return one
		})
		if first, has := seen[key]; has {
			if first != of("Value") {
				draft.Problem(f, r, schema.SevWarning, "table-again", decode.Value{}, task+" "+of("Metric")+" twice, "+first+
					" and "+of("Value"), "a line with the arguments of the model before each table", "the first of them")
			}
			continue // a group stands in the table of groups, too
		}
		seen[key] = of("Value")
		s := draft.Score(f, r, task, of("Metric"), value)
		s.Filter, s.Version = of("Filter"), version
		if x, err := strconv.ParseFloat(of("Stderr"), 64); err == nil {
			s.Stderr = schema.Num(x)
		}
		if n, err := strconv.Atoi(of("n-shot")); err == nil {
			s.Fewshot = &n
		}
		if x, err := strconv.ParseFloat(limit, 64); err == nil {
			s.Limit = &x
		}
		s.Direction = directionIn(text)
	}
	*out = runs.Join(out.Format, out.Detail)
}

// directionIn is the way in which a row says that its score is better; "" where it does not say.
func directionIn(row string) string {
	switch {
	case strings.Contains(row, "↑"):
		return "higher"
	case strings.Contains(row, "↓"):
		return "lower"
	}
	return ""
}

// column is the cell under a heading, "" for none.
func column(head, cells []string, name string) string {
	if i := slices.Index(head, name); i >= 0 && i < len(cells) {
		return cells[i]
	}
	return ""
}
