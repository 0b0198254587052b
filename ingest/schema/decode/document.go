package decode

import "github.com/ttreport/ttreport/ingest/schema"

// Document reads text that must be one whole JSON value, like our own files. A fault is a problem of severity error.
func Document(path string, data []byte) (Value, *schema.Problem) {
	f := File{Path: path, Data: data, whole: true}
	f.open(DefaultLimits())
	return f.Only()
}

// Only returns the value of a file that must have exactly one whole JSON value.
func (f *File) Only() (Value, *schema.Problem) {
	if f.Form == JSON && f.Several() {
		for range f.Values() { // to the end, for its faults
		}
		if len(f.Problems) == 0 {
			p := f.Problem(schema.SevError, codeBad, f.First)
			p.Found, p.Expected = "several values", "one"
			return Value{}, &p
		}
	}
	switch {
	case len(f.Problems) > 0:
		p := f.Problems[0]
		p.Severity, p.Used = schema.SevError, ""
		return Value{}, &p
	case f.Form != JSON:
		return Value{}, &schema.Problem{
			Severity: schema.SevError, Path: f.Path, Code: codeBad, Found: "a file that is not JSON", Expected: "JSON",
			Line: 1, Column: 1,
		}
	}
	return f.First, nil
}
