package traffic

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// traceTable is a format of CSV, by the heads of its columns.
type traceTable struct {
	at, in, out string
	time        func(string) (time.Duration, error)
	example     string
}

var traceTables = [...]traceTable{
	{"TIMESTAMP", "ContextTokens", "GeneratedTokens", clock, "2023-11-16 18:17:03.9799600,4808,10"},
	{"Timestamp", "Request tokens", "Response tokens", seconds, "5,ChatGPT,472,18,490,Conversation log"},
}

// clock reads a time of day as Azure's traces have it: 2023-11-16 18:17:03.9799600, in 2024 with +00:00.
func clock(text string) (time.Duration, error) {
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil { // with any fraction of a second
			return at.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)), nil
		}
	}
	return 0, fmt.Errorf("%.40q is no time", text)
}

func seconds(text string) (time.Duration, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0) || v > 1e9 {
		return 0, fmt.Errorf("%.40q is no number of seconds from the start", text)
	}
	return time.Duration(v * float64(time.Second)), nil
}

// readTable reads CSV. A request of which nothing came back failed, and is left out.
func readTable(data []byte) (Trace, error) {
	from := csv.NewReader(bytes.NewReader(data))
	from.FieldsPerRecord, from.ReuseRecord, from.TrimLeadingSpace = -1, true, true
	heads, err := from.Read()
	if err != nil {
		return Trace{}, fmt.Errorf("%w; expected one of%s", err, traceFormats)
	}
	f, columns, ok := tableOf(heads)
	if !ok {
		return Trace{}, fmt.Errorf("%.60q begins no trace that is known; expected one of%s",
			strings.Join(heads, ","), traceFormats)
	}
	t := Trace{Timed: true}
	var last time.Duration
	for {
		row, err := from.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return Trace{}, fmt.Errorf("%w; expected rows like %s", err, f.example)
		}
		line, _ := from.FieldPos(0)
		q, err := f.request(row, columns)
		if err == nil && q.At < last {
			err = fmt.Errorf("its %s is before that of the line above", f.at)
		}
		if err != nil {
			return Trace{}, fmt.Errorf("line %d: %w; expected one like %s", line, err, f.example)
		}
		if last = q.At; q.ISL == 0 || q.OSL == 0 {
			t.Failed++
			continue
		}
		t.Requests = append(t.Requests, q)
	}
}

// tableOf finds the format of some heads, and where its columns are.
func tableOf(heads []string) (f traceTable, columns [3]int, ok bool) {
	for _, f = range traceTables {
		found := 0
		for i, name := range [...]string{f.at, f.in, f.out} {
			for j, head := range heads {
				if strings.TrimSpace(head) == name {
					columns[i] = j
					found++
					break
				}
			}
		}
		if found == len(columns) {
			return f, columns, true
		}
	}
	return traceTable{}, columns, false
}

func (f traceTable) request(row []string, columns [3]int) (Request, error) {
	var text [3]string
	for i, c := range columns {
		if c >= len(row) {
			return Request{}, fmt.Errorf("it has %d columns", len(row))
		}
		text[i] = strings.TrimSpace(row[c])
	}
	var q Request
	var err error
	if q.At, err = f.time(text[0]); err != nil {
		return Request{}, fmt.Errorf("%s: %w", f.at, err)
	}
	for _, x := range []struct {
		name, text string
		to         *int
	}{{f.in, text[1], &q.ISL}, {f.out, text[2], &q.OSL}} {
		v, err := strconv.ParseFloat(x.text, 64) // pandas writes 512.0
		if *x.to = int(v); err != nil || !(v >= 0) || v > longest || float64(*x.to) != v {
			return Request{}, fmt.Errorf("%s %.40q is no number of tokens", x.name, x.text)
		}
	}
	return q, nil
}
