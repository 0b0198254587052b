// This file reads the tables that the harness prints of its results, of logs and documents: rounded to four decimals,
// each after a line with the arguments of its model.

package lmeval

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

var (
	// tableHead is the row of headings: of tasks, of groups, and of 0.3, which has no filter.
	tableHead = lazyregexp.New("(?m)^[#>*` \t]*" + `\|\s*(?:Tasks?|Groups)\s*\|\s*Version\s*\|(?:.*\|)?` +
		`\s*Metric\s*\|.*Value\s*\|`)
	// tableModel is the line before: "hf (pretrained=org/model,dtype=auto), gen_kwargs: (None), limit: None, …"; 0.3 has
	// no gen_kwargs, and states there how many examples a prompt has.
	tableModel = lazyregexp.New(
		`^[\w-]+ ?\((.*?)\), ?(?:gen_kwargs: ?(.*?), ?)?limit: ?([^,]+),.*?num_fewshot: ?([^,]+)`)
)

// Table is the format of what the harness prints.
const Table = "lm-eval-table"

// Tables looks for the headings, and returns the scores of all tables, those of each model by themselves.
var Tables = draft.Format{
	Name: Table, Detail: "tables of the harness", All: readTable,
	Text: func(f *decode.File) bool {
		return bytes.Contains(f.Data, []byte("Metric")) && tableHead.Match(f.Data)
	},
}

func readTable(f *decode.File, out *schema.Reading) {
	t := printed{f: f, runs: draft.RunsOf[[2]string](out), seen: map[string]place{}}
	n := 0
	for line := range bytes.Lines(f.Data) {
		n++
		line = bytes.TrimLeft(bytes.TrimRight(line, "` \t\r\n"), "#>*` \t") // within comments and fences
		text, cells := string(line[:min(len(line), 2000)]), draft.Cells(line, "")
		if m := tableModel.FindStringSubmatch(text); m != nil {
			t.facts, t.args, t.kwargs = schema.Facts{}, m[1], m[2]
			t.limit, t.shots = m[3], m[4]
			t.facts.Model.ID = strings.TrimRight(argument(modelArg, m[1]), "/")
			draft.Revision(&t.facts, argument(revisionArg, m[1]))
			clear(t.seen)
		}
		if cells == nil || tableHead.MatchString(text) {
			t.head, t.task = cells, ""
			if cells != nil {
				t.head[0] = "Tasks"
			}
			continue
		}
		if isRule := strings.Trim(strings.Join(cells, ""), "-: ") == ""; len(t.head) > 0 && !isRule {
			t.rows(n, text, cells)
		}
	}
	t.runs.Join(out.Detail)
}

// printed is what is known while tables are read.
type printed struct {
	f             *decode.File
	runs          *draft.Runs[[2]string]
	head          []string
	facts         schema.Facts // of the line before, as what follows
	args, kwargs  string
	limit, shots  string
	task, version string           // of the row before
	seen          map[string]place // the scores below a line with a model
}

// place is where a score is among those of its model, and its value.
type place struct {
	at    int
	value float64
	text  string // as it is printed
}

// rows takes a line below the headings: a row, or several that lost the ends of their lines.
func (t *printed) rows(n int, line string, cells []string) {
	wide := len(t.head)
	value := slices.Index(t.head, "Value")
	for len(cells) > wide && len(cells) != wide+1 && strings.TrimSpace(cells[wide]) == "" {
		t.row(n, line, cells[:wide])
		cells = cells[wide+1:]
	}
	if len(cells) > wide || len(cells) <= value {
		t.problem(n, line, fmt.Sprintf("%d cells under %d headings", len(cells), wide))
		return
	}
	t.row(n, line, cells)
}

func (t *printed) problem(n int, line, found string) {
	r := t.reading()
	draft.Problem(t.f, r, schema.SevWarning, "table-row", decode.Value{}, found+": "+plaintext.Cut(line, 80),
		"a row of the table that the harness prints", "nothing from the row")
	r.Problems[len(r.Problems)-1].Line, r.Problems[len(r.Problems)-1].Column = n, 1
}

// reading is that of the model of the line before.
func (t *printed) reading() *schema.Reading {
	return t.runs.Of([2]string{t.facts.Model.ID, t.facts.Stack.Commits[schema.ModelCommit]}, t.facts)
}

func (t *printed) row(n int, line string, cells []string) {
	of := func(name string) string { // the cell under a heading
		if i := slices.Index(t.head, name); i >= 0 && i < len(cells) {
			return cells[i]
		}
		return ""
	}
	if name := of("Tasks"); name != "" {
		t.task, t.version = strings.TrimLeft(name, "- "), of("Version")
	}
	value, err := strconv.ParseFloat(of("Value"), 64)
	if err != nil || of("Metric") == "" {
		return
	}
	if t.task == "" {
		t.problem(n, line, "a row of no task")
		return
	}
	r := t.reading()
	metric, filter, _ := strings.Cut(of("Metric"), ",") // as in JSON
	filter = cmp.Or(of("Filter"), filter)
	name, isError := strings.CutSuffix(metric, "_stderr")
	key := strings.Join([]string{t.task, name, filter}, "\n")
	first, has := t.seen[key]
	switch {
	case has && isError:
		r.Scores[first.at].Stderr = schema.Num(value)
	case has && first.value != value: // else a group, which stands in the table of groups, too
		draft.Problem(t.f, r, schema.SevWarning, "table-again", decode.Value{}, t.task+" "+metric+" twice, "+first.text+
			" and "+of("Value"), "a line with the arguments of the model before each table", "the first of them")
	}
	if has || isError {
		return
	}
	t.seen[key] = place{len(r.Scores), value, of("Value")}
	s := draft.Score(t.f, r, t.task, metric, value)
	s.Filter, s.Version = filter, t.version
	loaded(s, decode.Of(t.args))
	sampling(s, decode.Value{}, t.kwargs)
	describeRow(s, of("Stderr"), cmp.Or(of("n-shot"), t.shots), t.limit, line)
}

// describeRow adds to a score what else its row says.
func describeRow(s *schema.Score, stderr, shots, limit, row string) {
	if x, err := strconv.ParseFloat(stderr, 64); err == nil {
		s.Stderr = schema.Num(x)
	}
	if n, err := strconv.Atoi(shots); err == nil {
		s.Fewshot = &n
	}
	s.Limit = decode.Of(limit).Ptr()
	switch {
	case strings.Contains(row, "↑"):
		s.Direction = "higher"
	case strings.Contains(row, "↓"):
		s.Direction = "lower"
	}
}
