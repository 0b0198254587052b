package decode_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// doc is a file read to its end.
type doc struct {
	Values    []decode.Value
	NonFinite int
	Problems  []schema.Problem
}

func read(text string) doc { return readUnder(text, decode.DefaultLimits()) }

func readUnder(text string, lim decode.Limits) doc {
	f := decode.NewFile("f.json", []byte(text), time.Time{}, lim)
	d := doc{Values: slices.Collect(f.Values())}
	d.NonFinite, d.Problems = f.NonFinite, f.Problems
	return d
}

func TestDamagedFiles(t *testing.T) {
	deep := strings.Repeat("[", 500) + strings.Repeat("]", 500)
	for _, c := range []struct {
		name, in  string
		values    int
		code      string
		sev       schema.Severity
		line, col int
	}{
		{"clean", `{"a":1}`, 1, "", "", 0, 0},
		{"empty", "", 0, "empty-file", schema.SevError, 0, 0},
		{"blank", " \n\t", 0, "empty-file", schema.SevError, 0, 0},
		{"two values", "{\"a\":1}\n{\"a\":2}", 2, "", "", 0, 0},
		{"two values, no break", `{"a":1}{"a":2}`, 2, "", "", 0, 0},
		{"truncated", "{\"a\":1,\n\"b\":[1,2", 0, "truncated-json", schema.SevError, 2, 9},
		{"truncated last of three", "{}\n{}\n{\"a\":", 2, "truncated-json", schema.SevWarning, 3, 6},
		{"truncated string", `{"a":"xyz`, 0, "truncated-json", schema.SevError, 1, 10},
		{"truncated word", `{"a":tru`, 0, "truncated-json", schema.SevError, 1, 9},
		{"not JSON inside", "{\"a\":\n  what}", 0, "bad-json", schema.SevError, 2, 3},
		{"missing comma", `{"a":1 "b":2}`, 0, "bad-json", schema.SevError, 1, 8},
		{"trailing comma", `[1,]`, 0, "bad-json", schema.SevError, 1, 4},
		{"too deep", deep, 0, "bad-json", schema.SevError, 1, 101},
		{"leading zero", `[01]`, 0, "bad-json", schema.SevError, 1, 2},
		{"bare minus", `[-]`, 0, "bad-json", schema.SevError, 1, 2},
	} {
		d := read(c.in)
		if len(d.Values) != c.values {
			t.Errorf("%s: %d values, want %d", c.name, len(d.Values), c.values)
		}
		if c.code == "" {
			if len(d.Problems) != 0 {
				t.Errorf("%s: unexpected %v", c.name, d.Problems)
			}
			continue
		}
		if len(d.Problems) != 1 {
			t.Errorf("%s: %d problems, want one", c.name, len(d.Problems))
			continue
		}
		p := d.Problems[0]
		if p.Code != c.code || p.Severity != c.sev || p.Line != c.line || p.Column != c.col || p.Hint == "" {
			t.Errorf("%s: got %s %s at %d:%d (hint %q), want %s %s at %d:%d", c.name, p.Severity, p.Code, p.Line, p.Column,
				p.Hint, c.sev, c.code, c.line, c.col)
		}
	}
}

func TestPythonNumbers(t *testing.T) {
	d := read(`{"a":[1,NaN,Infinity,-Infinity,2.5],"b":NaN,"c":"NaN of text","d":"inf"}`)
	if len(d.Problems) != 0 || d.NonFinite != 4 {
		t.Fatalf("problems %v, %d non-finite", d.Problems, d.NonFinite)
	}
	v := d.Values[0]
	a, ok := v.Get("a").Floats()
	if !ok || len(a) != 5 || !math.IsNaN(a[1]) || !math.IsInf(a[2], 1) || !math.IsInf(a[3], -1) {
		t.Errorf("array %v", a)
	}
	if _, ok := v.Get("b").Float(); ok {
		t.Error("NaN passed for a number")
	}
	if _, ok := v.Get("d").Float(); ok {
		t.Error(`"inf" passed for a number`)
	}
	if v.Get("c").Str() != "NaN of text" {
		t.Error("a string was changed")
	}
}

func TestEnvelopes(t *testing.T) {
	body := []byte(`{"a":"ü"}`)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write(body)
	_ = w.Close()
	for name, data := range map[string][]byte{
		"plain": body, "byte order mark": append([]byte("\xef\xbb\xbf"), body...), "gzip": zipped.Bytes(),
		"CRLF": []byte("\r\n{\"a\":\r\n\"ü\"}\r\n"),
	} {
		f := decode.NewFile("f.json", data, time.Time{}, decode.DefaultLimits())
		if len(f.Problems) != 0 || f.Several() || f.First.Get("a").Str() != "ü" {
			t.Errorf("%s: %v, %v", name, f.Problems, f.First.Kind())
		}
	}
	cut := decode.NewFile("f.gz", zipped.Bytes()[:zipped.Len()-6], time.Time{}, decode.DefaultLimits())
	if len(cut.Problems) != 1 || cut.Problems[0].Code != "bad-gzip" {
		t.Errorf("cut gzip: %v", cut.Problems)
	}
	bomb := decode.NewFile("f.gz", zipped.Bytes(), time.Time{}, decode.Limits{Bytes: 3, Packed: 3, Depth: 10, Values: 1})
	if len(bomb.Problems) != 1 || bomb.Problems[0].Code != "too-large" {
		t.Errorf("over the limit: %v", bomb.Problems)
	}
	if f := decode.NewFile("x.log", []byte("[BENCHMARK] model_name x"), time.Time{},
		decode.DefaultLimits()); f.Form != decode.Text {
		t.Error("a log line that begins with [ was taken for JSON")
	}
}

// Whatever encoding/json reads is read with the same result.
func TestAgreesWithStandardLibrary(t *testing.T) {
	for _, in := range []string{
		`{"a":[1,2.5,-3e2,1e-7,123456789012345678,0.1,4.9406564584124654e-324,1.7976931348623157e308],` +
			`"b":"\u00e9\ud83d\ude00\n\"\\\/","c":[true,false,null,{"d":[]}],"":{}}`,
		`[]`, `"x"`, `[-0]`, `[[[1]],[[2,3]]]`,
	} {
		var want any
		if err := json.Unmarshal([]byte(in), &want); err != nil {
			t.Fatal(err)
		}
		d := read(in)
		if len(d.Values) != 1 {
			t.Fatalf("%s: %v", in, d.Problems)
		}
		got, _ := json.Marshal(plain(d.Values[0]))
		exp, _ := json.Marshal(want)
		if !bytes.Equal(got, exp) {
			t.Errorf("%s\n got %s\nwant %s", in, got, exp)
		}
	}
}

func plain(v decode.Value) any {
	switch v.Kind() {
	case decode.Object:
		m := map[string]any{}
		for _, x := range v.Members() {
			m[x.Key] = plain(x.Val)
		}
		return m
	case decode.Array:
		a := []any{}
		for x := range v.Items() {
			a = append(a, plain(x))
		}
		return a
	case decode.String:
		return v.Str()
	case decode.Number:
		f, _ := v.Float()
		return f
	case decode.Bool:
		b, _ := v.Truth()
		return b
	}
	return nil
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2,NaN],"b":"\u00e9"}`, `{}{}`, `[[1],[2`, "\xef\xbb\xbf[]", `{"a":-Infinity}`, `[1e400]`, `"\ud800"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		f := decode.NewFile("f", data, time.Time{}, decode.Limits{
			Bytes: 1 << 20, Packed: 1 << 20, Text: 1 << 20, Depth: 50, Values: 1000,
		})
		d := doc{Values: slices.Collect(f.Values()), Problems: f.Problems}
		if f.Form == decode.JSON && len(d.Values) == 0 && len(d.Problems) == 0 {
			t.Fatal("neither a value nor a problem")
		}
		for _, v := range d.Values {
			plain(v)
		}
		// Valid JSON is one value with the same meaning.
		var want any
		if f.Form == decode.JSON && json.Unmarshal(data, &want) == nil && !bytes.Contains(data, []byte("\\u")) {
			if len(d.Values) != 1 {
				t.Fatalf("valid JSON gave %d values and %v", len(d.Values), d.Problems)
			}
		}
	})
}

func TestYAMLPointsAtTheFault(t *testing.T) {
	var v struct {
		Title string `yaml:"title"`
	}
	p := decode.YAML("ttreport.yaml", []byte("title: x\ntitel: y\n"), &v)
	if p == nil || p.Line != 2 || !strings.Contains(p.Found, "titel") || !strings.Contains(p.Hint, "^") {
		t.Fatalf("got %+v", p)
	}
}

// Text on several lines is pointed at where it begins, and the lines shown have their own numbers.
func TestYAMLPointsAtTextOnSeveralLines(t *testing.T) {
	var v struct {
		Title  string   `yaml:"title"`
		Tables []string `yaml:"tables"`
	}
	p := decode.YAML("ttreport.yaml", []byte("title: x\ntables:\n    is read\n  - files: a\n    columns: b\n"), &v)
	const want = "   1 | title: x\n   2 | tables:\n>  3 |     is read\n           ^\n" +
		"   4 |   - files: a\n   5 |     columns: b"
	if p == nil || p.Line != 3 || p.Column != 5 || !strings.HasSuffix(p.Hint, want) {
		t.Fatalf("got %+v", p)
	}
}

// Scripts, logs, templates and tables may begin like JSON; only a file with a JSON extension counts as damaged JSON.
func TestProseIsNoJSON(t *testing.T) {
	for _, text := range []string{
		"\"\"\"What it does.\"\"\"\nimport x\n", "{% extends \"base\" %}", "{{ .Values }}",
		"[2025-07-11 08:12:24] started\n", "[07/11/2025-08:12:24] [TRT-LLM] [I]\n", "\"Metric\",\"avg\"\n\"TTFT\",5\n",
		"{ name: x }",
	} {
		if f := decode.NewFile("x.txt", []byte(text), time.Time{}, decode.DefaultLimits()); f.Form != decode.Text ||
			len(f.Problems) > 0 || string(f.Data) != text {
			t.Errorf("%q: form %d, %v", text, f.Form, f.Problems)
		}
		if f := decode.NewFile("x.json", []byte(text), time.Time{}, decode.DefaultLimits()); f.Form != decode.JSON {
			t.Errorf("%q as JSON: form %d", text, f.Form)
		}
	}
	cut := decode.NewFile("x.txt", []byte(`{"completed":8,"output`), time.Time{}, decode.DefaultLimits())
	late := decode.NewFile("x.log", []byte(`{"completed":8,"note":"`+strings.Repeat("x", 300)+`",what}`), time.Time{},
		decode.DefaultLimits())
	if len(cut.Problems) != 1 || len(late.Problems) != 1 {
		t.Errorf("a damaged result was taken for prose: %v %v", cut.Problems, late.Problems)
	}
}
