package rows

import (
	"encoding/json"
	"io"
	"reflect"
	"strings"
)

// WriteJSON writes a document as all commands do.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(v)
}

// Encoded is a value as JSON, with <, > and & as they are.
func Encoded(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimRight(b.String(), "\n"), err
}

// Object is a JSON object whose members stay in order: readers of these documents know them by it. What is in it is
// stated once, where it is known, and not in a type as well.
type Object []Member

// Member is a key and its value.
type Member [2]any

// Add adds a member.
func (o *Object) Add(key string, value any) { *o = append(*o, Member{key, value}) }

// Some adds a member that is left out where it is empty: "", 0, nil, or without elements.
func (o *Object) Some(key string, value any) {
	v := reflect.ValueOf(value)
	if v.IsValid() && !v.IsZero() && !(v.Kind() == reflect.Slice && v.Len() == 0) {
		o.Add(key, value)
	}
}

// MarshalJSON writes the members in order.
func (o Object) MarshalJSON() ([]byte, error) {
	var members []string
	for _, m := range o {
		value, err := Encoded(m[1])
		if err != nil {
			return nil, err
		}
		key, _ := Encoded(m[0]) // a text always encodes
		members = append(members, key+":"+value)
	}
	return []byte("{" + strings.Join(members, ",") + "}"), nil
}
