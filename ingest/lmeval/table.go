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
	runs := draft.RunsOf[string](out)
	var head []string
	model, limit, task, version := "", "", "", ""
	seen := map[string]string{} // the values of a model's scores
	for line := range bytes.Lines(f.Data) {
		line = bytes.TrimLeft(bytes.TrimSpace(line), "#>* \t")
		text, cells := string(line[:min(len(line), 2000)]), draft.Cells(line, "")
		if m := tableModel.FindStringSubmatch(text); m != nil {
			model, limit = strings.TrimRight(argument(modelArg, m[1]), "/"), m[2]
			clear(seen)
		}
		of := func(name string) string { // the cell under a heading
			if i := slices.Index(head, name); i >= 0 && i < len(cells) {
				return cells[i]
			}
			return ""
		}
		value, err := strconv.ParseFloat(of("Value"), 64)
		switch {
		case cells == nil:
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
		r := runs.Of(model, func() schema.Facts { return schema.Facts{Model: schema.Model{ID: model}} })
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
		describeRow(s, of("Stderr"), of("n-shot"), limit, text)
	}
	*out = runs.Join(out.Detail)
}

// describeRow adds to a score what else its row says.
func describeRow(s *schema.Score, stderr, shots, limit, row string) {
	if x, err := strconv.ParseFloat(stderr, 64); err == nil {
		s.Stderr = schema.Num(x)
	}
	if n, err := strconv.Atoi(shots); err == nil {
		s.Fewshot = &n
	}
	if x, err := strconv.ParseFloat(limit, 64); err == nil {
		s.Limit = &x
	}
	switch {
	case strings.Contains(row, "↑"):
		s.Direction = "higher"
	case strings.Contains(row, "↓"):
		s.Direction = "lower"
	}
}
