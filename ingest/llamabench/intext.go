package llamabench

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// rowsInText finds the rows of a text that has other lines as well, as llama-bench -o jsonl > FILE 2>&1 writes: the
// backends of ggml print devices before the first row. It returns the text with the other lines replaced by blanks, so
// that positions stay the same, and their number; nil where no line is a row.
func rowsInText(text []byte) (rows []byte, others int) {
	if !bytes.Contains(text, []byte(`"avg_ts"`)) {
		return nil, 0
	}
	if rows, others = arrayInText(text); rows != nil {
		return rows, others
	}
	rows = make([]byte, 0, len(text))
	found := false
	for line := range bytes.Lines(text) {
		trimmed := bytes.TrimSpace(line)
		switch {
		case isRow(trimmed):
			found = true
			rows = append(rows, line...)
			continue
		case len(trimmed) > 0:
			others++
		}
		for range bytes.TrimRight(line, "\r\n") {
			rows = append(rows, ' ')
		}
		rows = append(rows, '\n')
	}
	if !found {
		return nil, 0
	}
	return rows[:min(len(rows), len(text))], others
}

// arrayInText is the same for llama-bench -o json > FILE 2>&1: an array between lines of text, whose brackets have
// lines of their own.
func arrayInText(text []byte) (rows []byte, others int) {
	first, last, at := -1, -1, 0
	for line := range bytes.Lines(text) {
		switch string(bytes.TrimRight(line, "\r\n")) { // brackets within rows are indented
		case "[":
			if first < 0 {
				first = at
			}
		case "]":
			last = at
		}
		at += len(line)
	}
	if first < 0 || last < first || !bytes.HasPrefix(bytes.TrimSpace(text[first+1:]), []byte("{")) {
		return nil, 0
	}
	rows, at = bytes.Clone(text), 0
	for line := range bytes.Lines(text) {
		if at < first || at > last {
			others += min(1, len(bytes.TrimSpace(line)))
			for i := range bytes.TrimRight(line, "\r\n") {
				rows[at+i] = ' '
			}
		}
		at += len(line)
	}
	return rows, others
}

func isRow(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("{")) {
		return false
	}
	for _, name := range []string{`"n_prompt"`, `"n_gen"`, `"avg_ts"`} {
		if !bytes.Contains(line, []byte(name)) {
			return false
		}
	}
	return true
}

// readText reads the rows of such a text.
func readText(f *decode.File, m schema.Match) schema.Reading {
	text, others := rowsInText(f.Data)
	rows := decode.NewFile(f.Path, text, f.ModTime, f.Limits())
	rows.SHA256, rows.Content, rows.Size = f.SHA256, f.Content, f.Size
	n, values := 0, rows.Values()
	if rows.First.Kind() == decode.Array {
		values = rows.First.Items()
	}
	r := readRows(&rows, m, counted(values, &n))
	p := f.Problem(schema.SevNote, "text-between-rows", decode.Value{})
	p.Found, p.Expected = fmt.Sprintf("%d lines of text among %d rows", others, n), "the rows alone"
	p.Used, p.Hint = "the rows", "write stderr elsewhere: llama-bench -o jsonl > FILE, without 2>&1"
	r.Problems = append(r.Problems, rows.Problems...)
	r.Problems = append(r.Problems, p)
	return r
}

// counted counts the values that are taken.
func counted(values iter.Seq[decode.Value], n *int) iter.Seq[decode.Value] {
	return func(yield func(decode.Value) bool) {
		for v := range values {
			if *n++; !yield(v) {
				return
			}
		}
	}
}
