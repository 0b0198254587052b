package site

import (
	"reflect"

	"github.com/ttreport/ttreport/render"
)

// rewriting changes what a view says before it is made into a file. A nil function changes nothing.
type rewriting struct {
	text    func(string) string                 // of texts: plain strings, and types that implement texter
	address func(render.Address) render.Address // of links
}

// texter marks named string types that hold text, unlike names such as [schema.Outcome].
type texter interface{ IsText() }

// rewritten is a copy of a view with its texts and addresses changed. It walks by reflection, so that a view which is
// added cannot be forgotten. Unexported fields are copied as they are: views keep no text there.
func rewritten[T any](view T, r rewriting) T {
	v := reflect.ValueOf(&view).Elem()
	v.Set(r.value(v))
	return view
}

func (r rewriting) value(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.String:
		return r.str(v)
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		if v.Kind() == reflect.Interface {
			out.Set(r.value(v.Elem()))
			return out
		}
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(r.value(v.Elem()))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(r.value(v.Index(i)))
		}
		return out
	case reflect.Map:
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(r.value(it.Key()), r.value(it.Value()))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(r.value(v.Field(i)))
			}
		}
		return out
	}
	return v
}

// str changes a text or an address.
func (r rewriting) str(v reflect.Value) reflect.Value {
	if v.Type() == reflect.TypeFor[render.Address]() {
		if r.address == nil {
			return v
		}
		return reflect.ValueOf(r.address(render.Address(v.String())))
	}
	_, text := v.Interface().(texter)
	if r.text == nil || !text && v.Type() != reflect.TypeFor[string]() {
		return v
	}
	return reflect.ValueOf(r.text(v.String())).Convert(v.Type())
}
