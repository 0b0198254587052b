package ttis

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object whose members stay in order: readers of these files know them by it.
type object []member

type member struct {
	key   string
	value any
}

func (o *object) add(key string, value any) { *o = append(*o, member{key, value}) }

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := encode(m.key)
		if err != nil {
			return nil, err
		}
		value, err := encode(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode leaves <, > and & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// document is a value as a file: four spaces for each level.
func document(v any) ([]byte, error) {
	text, err := encode(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, text, "", "    ")
	return b.Bytes(), err
}
