package history

import (
	"bytes"
	"encoding/json"
	"math"
	"sort"
	"strconv"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
)

// object collects the members of a JSON object and writes them sorted.
type object struct {
	names []string
	raw   map[string][]byte
}

func (o *object) put(name string, raw []byte) {
	if o.raw == nil {
		o.raw = map[string][]byte{}
	}
	if _, has := o.raw[name]; !has {
		o.names = append(o.names, name)
	}
	o.raw[name] = raw
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
	for name, raw := range unknown {
		if _, has := o.raw[name]; !has {
			o.put(name, compact(raw))
		}
	}
	sort.Strings(o.names)
	b := []byte{'{'}
	for i, name := range o.names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, schema.JSONString(name)...)
		b = append(b, ':')
		b = append(b, o.raw[name]...)
	}
	return append(b, '}')
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
