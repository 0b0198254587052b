package history

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
)

// object collects the members of a JSON object and writes them sorted.
type object struct{ members []member }

type member struct {
	name string
	raw  []byte
}

// put adds a member. A name that is put twice has the later value.
func (o *object) put(name string, raw []byte) {
	if o.members == nil {
		o.members = make([]member, 0, 8)
	}
	o.members = append(o.members, member{name, raw})
}

// complete adds the unknown members that this version does not write itself, and sorts all.
func (o *object) complete(unknown schema.Unknown) {
	byName := func(a, b member) int { return strings.Compare(a.name, b.name) }
	slices.SortStableFunc(o.members, byName)
	known := o.members[:0]
	for i, m := range o.members {
		if i+1 == len(o.members) || o.members[i+1].name != m.name {
			known = append(known, m)
		}
	}
	o.members = known
	for name, raw := range unknown {
		if _, has := slices.BinarySearchFunc(known, member{name: name}, byName); !has {
			o.put(name, compact(raw))
		}
	}
	if len(o.members) > len(known) {
		slices.SortFunc(o.members, byName)
	}
}

// write appends the members, each after a separator except the first.
func (o *object) write(b []byte, separator string) []byte {
	for i, m := range o.members {
		if i > 0 {
			b = append(b, separator...)
		}
		b = schema.AppendJSONString(b, m.name)
		b = append(append(b, ':'), m.raw...)
	}
	return b
}

// size is how many bytes the members take at least.
func (o *object) size() int {
	n := 8
	for _, m := range o.members {
		n += len(m.name) + len(m.raw) + 5
	}
	return n
}

func (o *object) text(name, v string) {
	if v != "" {
		o.put(name, schema.JSONString(v))
	}
}

func (o *object) number(name string, v float64) { o.put(name, appendFloat(nil, v)) }

func (o *object) count(name string, v int) {
	if v != 0 {
		o.put(name, strconv.AppendInt(nil, int64(v), 10))
	}
}

func (o *object) flag(name string, v bool) {
	if v {
		o.put(name, []byte("true"))
	}
}

func (o *object) time(name string, t time.Time) {
	if !t.IsZero() {
		o.put(name, schema.JSONString(t.UTC().Format(time.RFC3339)))
	}
}

func (o *object) maybe(name string, n schema.Number) {
	if v, ok := n.Get(); ok {
		o.number(name, v)
	}
}

func (o *object) texts(name string, m map[string]string) {
	if len(m) == 0 {
		return
	}
	var in object
	for k, v := range m {
		in.put(k, schema.JSONString(v))
	}
	o.put(name, in.bytes(nil))
}

func (o *object) list(name string, items []string) {
	if len(items) == 0 {
		return
	}
	b := []byte{'['}
	for i, s := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, schema.JSONString(s)...)
	}
	o.put(name, append(b, ']'))
}

// bytes writes the object; unknown members are added unless this version writes a member of that name itself.
func (o *object) bytes(unknown schema.Unknown) []byte {
	o.complete(unknown)
	b := append(make([]byte, 0, o.size()), '{')
	return append(o.write(b, ","), '}')
}

// compact rewrites unknown JSON on one line. Text that does not parse is kept as a string.
func compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return schema.JSONString(string(raw))
	}
	return b.Bytes()
}

// appendFloat writes a number at the stored precision in its shortest form. A value that is not finite becomes null;
// runs that ingest makes have none.
func appendFloat(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		short = v
	}
	format := byte('f')
	if abs := math.Abs(short); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, short, format, -1, 64)
}
