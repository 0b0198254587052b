package aiperf

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// detectCSV recognises the tables that both tools write next to their summary. They are rounded to two decimals and
// state no configuration, so they count only where the summary is missing.
func detectCSV(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: CSV}}
	line, _, _ := bytes.Cut(f.Data[:min(len(f.Data), 1<<16)], []byte("\n"))
	if isSweepTable(line) {
		return schema.Match{Format: SweepTable, Has: []string{"a mean over trials"}, Detail: "table of a sweep"}
	}
	for header, what := range map[string]string{
		"Timeslice,Metric,": "time slices of a run", "task,total,passed,unparsed,": "a table of graded answers",
		"Endpoint,Type,Metric,": "server metrics",
	} {
		if bytes.HasPrefix(line, []byte(header)) {
			return schema.Match{Format: Aside, Has: []string{header}, Detail: "not a result: " + what}
		}
	}
	m.Want(bytes.HasPrefix(line, []byte("Metric,avg,min,max,")), "a header Metric,avg,min,max")
	if m.OK() {
		m.Detail = "table of a summary"
		if bytes.Contains(line, []byte(",p99,p95,p90")) { // GenAI-Perf counts downwards
			m.Format = GenAICSV
		}
	}
	return m.Match
}

// heading splits "Time to First Token (ms)" into name and unit.
var heading = regexp.MustCompile(`(?s)^(.*?)\s*(?:\(([^()]*)\))?$`)

// readCSV reads the table of distributions and the table of single values, and ignores the telemetry tables after
// them.
func readCSV(f *decode.File, m schema.Match) schema.Reading {
	r := schema.Reading{Format: m.Format, Detail: m.Detail}
	tool := "aiperf"
	if m.Format == GenAICSV {
		tool = "genai-perf"
	}
	d := draft.New(f, &r, decode.Value{}, tool)
	end := bytes.LastIndexByte(f.Data, '\n') + 1 // what stands after it is half a line
	lines := csv.NewReader(bytes.NewReader(f.Data[:end]))
	lines.FieldsPerRecord, lines.LazyQuotes = -1, true
	var header []string
	tables, rows := 0, 0 // rows of the last table
	for {
		row, err := lines.Read()
		if err != nil {
			break // the end, or a line that is not CSV: what was read before it counts
		}
		rows++
		switch {
		case row[0] == "Metric":
			header = row
			tables, rows = tables+1, 0
		case len(header) < 2 || row[0] == "Endpoint":
			header = nil
		default:
			readRow(d, header, row)
		}
	}
	if tables < 2 || rows == 0 || end < len(f.Data) {
		cutTable(f, d)
	}
	judge(decode.Value{}, d)
	d.Done()
	return r
}

// cutTable reports a table that ends in its middle: whoever wrote it was killed, or the copy is not whole. The table of
// single values, which says how many requests there were, comes last.
func cutTable(f *decode.File, d *draft.Draft) {
	d.Status = schema.StatusPartial
	d.Reading.Problems = append(d.Reading.Problems, schema.Problem{
		Severity: schema.SevError, Path: f.Path, Code: "truncated", Found: "a table that ends before its last line",
		Expected: "distributions and then single values, each line with all of its columns",
		Used:     "what was whole before it", Hint: "copy the file again, or repeat the point",
	})
}

func readRow(d *draft.Draft, header, row []string) {
	name := heading.FindStringSubmatch(strings.TrimSpace(row[0]))
	for _, t := range tags() {
		if !strings.EqualFold(t.header, name[1]) {
			continue
		}
		scale, ok := unitScale(name[2], schema.Unit(t.name))
		if !ok {
			return
		}
		for i, text := range row[1:] {
			x, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
			if err != nil || i+1 >= len(header) {
				continue
			}
			switch {
			case header[1] == "Value", header[i+1] == "avg" && t.stat != "":
				if t.stat != "" {
					d.Stat(t.name, t.def, t.stat, x*scale)
				}
			case t.stat == "" && statName(header[i+1]) != "":
				d.Stat(t.name, t.def, statName(header[i+1]), x*scale)
			}
		}
	}
}
