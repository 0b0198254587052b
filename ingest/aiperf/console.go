package aiperf

import (
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Console is the format of the table that AIPerf and GenAI-Perf print at their end, in a text of any kind, rounded to
// two decimals. A name that is too wide for its column goes on in the next lines:
//
//	│  Time to First │  42,612.16 │  2,865.14 │
//	│     Token (ms) │            │           │
//
// Behind the table AIPerf prints the duration and the command line. Where the tool's own files are among the sources,
// package ingest keeps those. Source: exporters/console_metrics_exporter.py of AIPerf 0.2 to 0.13.
const Console = "aiperf-console"

var (
	// consoleTitle matches the title of a run's table of latencies; others ("LLM Metrics: Usage") are of the same run.
	// GenAI-Perf did not name itself before 0.0.6.
	consoleTitle = lazyregexp.New(
		`(?m)(?:NVIDIA (?:AIPerf|GenAI-Perf) \| [\w ]+|^[ \t]*(?:LLM|Rankings|Embeddings)) Metrics\s*$`)
	consoleHead = lazyregexp.New(`(?m)^\s*[┃│|]\s*(?:Metric|Statistic)\s*[┃│|]\s*avg\s*[┃│|]`)
	// consoleCommand matches the command line, which is wrapped, up to the next label or an empty line.
	consoleCommand  = lazyregexp.New(`(?m)^CLI Command: (?s:(.+?))\s*(?:\n[A-Z][\w ]+:|\n\s*\n|\z)`)
	consoleDuration = lazyregexp.New(`(?m)^Benchmark Duration: ([\d,.]+) sec`)
	// consoleRate matches a rate that GenAI-Perf printed below its table before 0.0.6.
	consoleRate = lazyregexp.New(`(?m)^(\w+ (?:token )?throughput \(per sec\)): ([\d,.]+)\s*$`)
)

// readConsole returns a point for each run that a text has the table of; those of another model are another run.
func readConsole(f *decode.File, out *schema.Reading) {
	runs := draft.RunsOf[string](out)
	all := string(f.Data)
	titles := consoleTitle.FindAllStringSubmatchIndex(all, f.Limits().Results+1)
	for i, at := range titles {
		text := all[at[1]:]
		if i+1 < len(titles) {
			text = all[at[1]:titles[i+1][0]]
		}
		head := consoleHead.FindStringIndex(text)
		if head == nil {
			continue
		}
		said := map[string]any{}
		if m := consoleCommand.FindStringSubmatch(text); m != nil {
			said["input_config"] = map[string]string{"cli_command": strings.Join(strings.Fields(m[1]), " ")}
		}
		part := schema.Reading{Format: out.Format}
		tool := "genai-perf"
		if strings.Contains(all[at[0]:at[1]], "AIPerf") {
			tool = "aiperf"
		}
		d := draft.New(f, &part, decode.Of(said), tool)
		asked(d)
		if isWhole := consoleTable(d, text[head[0]:]); !isWhole {
			draft.Problem(f, &part, schema.SevWarning, "narrow-table", decode.Value{},
				"a printed table that is too narrow for its numbers", "each number on one line", "nothing of it",
				"keep profile_export_aiperf.json, which the tool writes")
			runs.Add(part.Facts.Model.ID, part)
			continue
		}
		for _, m := range consoleRate.FindAllStringSubmatch(text, 2) {
			readRow(d, []string{"", "avg"}, m[1:])
		}
		if m := consoleDuration.FindStringSubmatch(text); m != nil {
			seconds, _ := decode.ParseFloat(strings.ReplaceAll(m[1], ",", ""))
			d.Value("duration_s", seconds)
		}
		rates(d)
		judge(decode.Value{}, d)
		if strings.Contains(all, "| Error Summary") && d.Status == schema.StatusOK {
			d.Status = schema.StatusPartial
			d.Problem(schema.SevWarning, "requests-failed", decode.Value{}, "a printed summary of errors",
				"no request that fails", "the requests that completed", "see the errors in the text")
		}
		d.Done()
		runs.Add(part.Facts.Model.ID, part)
	}
	runs.Join(plaintext.Plural(len(titles), "printed table"))
}

// consoleBars are what tables are drawn with.
var consoleBars = strings.NewReplacer("┃", "|", "│", "|")

// consoleTable reads the rows below a line of headings; false where a number is cut, or goes on in the next line.
func consoleTable(d *draft.Draft, text string) (isWhole bool) {
	var header []string
	var rows [][]string
	for line := range strings.Lines(text) {
		cells := draft.Cells([]byte(consoleBars.Replace(line)), "")
		if cells == nil && len(rows) > 0 {
			break
		}
		switch {
		case cells == nil:
		case header == nil:
			header = cells
		case len(cells) != len(header) || strings.Contains(strings.Join(cells[1:], ""), "…"):
			return false
		case strings.Join(cells[1:], "") != "" && cells[0] != "":
			rows = append(rows, cells)
		case strings.Join(cells[1:], "") != "" || len(rows) == 0:
			return false
		default:
			rows[len(rows)-1][0] += " " + cells[0]
		}
	}
	for _, row := range rows {
		row[0] = strings.ReplaceAll(row[0], "…", ")") // of a unit: "(tokens/sec/u…"
		readRow(d, header, row)
	}
	return true
}
