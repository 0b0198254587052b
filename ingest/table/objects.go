package table

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// objects reads the rows of JSON.
func (r *reader) objects() {
	headings := slices.Sorted(maps.Keys(r.table.columns))
	for top := range r.file.Values() {
		r.table.below(top, r.table.rows, "", func(of keys, row decode.Value) bool {
			if r.rows++; r.rows > r.file.Limits().Results {
				return false // the load says so
			}
			r.object(headings, top, row, of)
			return true
		})
	}
}

// keys are those of a row: of itself where it is a member, and of the members that stand for the * of the path to it.
type keys struct{ row, all string }

// below goes through the rows at the end of a path; false ends it.
func (t Table) below(at decode.Value, path []string, all string, yield func(keys, decode.Value) bool) bool {
	for i, part := range path {
		if part != "*" {
			at = at.At(part)
			continue
		}
		for key, x := range inside(at) {
			if !t.below(x, path[i+1:], strings.TrimPrefix(all+"/"+key, "/"), yield) {
				return false
			}
		}
		return true
	}
	if at.Kind() == decode.Object && (len(t.rows) == 0 || at.Len() > 0 && !allObjects(at)) {
		return yield(keys{"", all}, at)
	}
	for _, m := range at.Members() {
		if !yield(keys{m.Key, all}, m.Val) {
			return false
		}
	}
	for x := range at.Items() {
		if !yield(keys{"", all}, x) {
			return false
		}
	}
	return true
}

// inside are the objects and lists in a value, by key or place: what else is there is what a file states of all rows.
func inside(v decode.Value) iter.Seq2[string, decode.Value] {
	return func(yield func(string, decode.Value) bool) {
		for _, m := range v.Members() {
			if k := m.Val.Kind(); (k == decode.Object || k == decode.Array) && !yield(m.Key, m.Val) {
				return
			}
		}
		n := 0
		for x := range v.Items() {
			if !yield(strconv.Itoa(n), x) {
				return
			}
			n++
		}
	}
}

func allObjects(v decode.Value) bool {
	return !slices.ContainsFunc(v.Members(), func(m decode.Member) bool { return m.Val.Kind() != decode.Object })
}

// object makes a point of one row. What nothing maps is kept.
func (r *reader) object(headings []string, top, row decode.Value, of keys) {
	if row.Kind() != decode.Object {
		return
	}
	plain := row
	row = row.Track()
	var cells []cell
	for _, h := range headings {
		v, path := row, h
		if from, isTop := strings.CutPrefix(h, "/"); isTop {
			v, path = top, from
		}
		v = v.Path(path)
		text := v.Text()
		switch {
		case h == "@key":
			text = of.row
		case h == "@*":
			text = of.all
		case v.Kind() == decode.Invalid:
			continue
		}
		r.found[h] = true
		c := r.table.columns[h]
		if c.kind == dim && (text == "0" || text == "false") {
			continue // a setting that is off, as those who leave it out have it
		}
		if v.Kind() == decode.Object || !isAbsent(text) || c.kind == metric && isFailure(text) {
			cells = append(cells, cell{c, true, h, strings.TrimSpace(text), v})
		}
	}
	r.point(append(cells, r.notMapped(plain)...), row)
}

// notMapped are the numbers of a row that no heading names, also those of the first item of a list.
func (r *reader) notMapped(row decode.Value) (out []cell) {
	if r.table.name != "" || r.table.others {
		return nil
	}
	add := func(of decode.Value, in string) {
		for _, path := range scalars(of, "", mostProposed) {
			v := of.Path(path)
			isMapped := func(h string) bool { // of a metric that is an object all is mapped
				h = strings.TrimPrefix(h, "/")
				return in+path == h || strings.HasPrefix(in+path, h+".")
			}
			if v.Kind() == decode.Number && !slices.ContainsFunc(slices.Collect(maps.Keys(r.table.columns)), isMapped) {
				of := column{name: path[strings.LastIndexByte(path, '.')+1:]}
				out = append(out, cell{of, false, in + path, v.Text(), v})
			}
		}
	}
	add(row, "")
	for _, m := range row.Members() {
		add(m.Val.Index(0), m.Key+".0.")
	}
	return out
}

// keepOthers keeps the numbers below the members of a row that no heading names, under the end of their path.
func (r *reader) keepOthers(d *draft.Draft, row decode.Value) {
	var look func(v decode.Value, path string)
	look = func(v decode.Value, path string) {
		if c := r.table.columns[path]; c.kind == metric {
			return
		}
		if x, ok := v.Float(); ok && v.Kind() == decode.Number {
			for len(path) > longestName {
				_, path, _ = strings.Cut(path, ".")
			}
			if own, ok := schema.OwnMetric(path, "", "neither"); ok {
				d.Value(own, x)
			}
		}
		for _, m := range v.Members() {
			look(m.Val, path+"."+m.Key)
		}
		n := 0
		for x := range v.Items() {
			look(x, fmt.Sprintf("%s.%d", path, n))
			n++
		}
	}
	for _, m := range row.Members() {
		if k := m.Val.Kind(); k == decode.Object || k == decode.Array {
			look(row.Get(m.Key), m.Key)
		}
	}
}

// longestName is the longest name of a metric of the user's own.
const longestName = 64
