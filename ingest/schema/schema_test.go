package schema_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

func ptr(v float64) *float64 { return &v }

func TestKeysAreCanonical(t *testing.T) {
	a := schema.Key{
		Task: "text", Tool: "vllm", ISL: ptr(128), OSL: ptr(128), Concurrency: ptr(1),
		Dims: map[string]string{"b": "2", "a": "1"},
	}
	if got := a.String(); got != "text/vllm/isl=128/osl=128/c=1/rate=-/-/a=1/b=2" {
		t.Error(got)
	}
	b := a
	b.Rate = ptr(math.Inf(1)) // as fast as possible is no rate
	b.Dims = map[string]string{"a": "1", "b": "2"}
	if a.String() != b.String() {
		t.Errorf("%s is not %s", a, b)
	}
	// No text can contain the separators.
	x := schema.Key{Task: "a/b", Dims: map[string]string{"k": "v/z=1"}}
	y := schema.Key{Task: "a", Tool: "b", Dims: map[string]string{"k": "v", "z": "1"}}
	if x.String() == y.String() {
		t.Error("two keys share a name")
	}
	if (schema.Key{}).Comparable() || !a.Comparable() ||
		!(schema.Key{Dims: map[string]string{"label": "x"}}).Comparable() {
		t.Error("comparable is decided wrongly")
	}
}

func TestTargetsMatch(t *testing.T) {
	target := schema.Target{Key: schema.Key{Task: "text", ISL: ptr(128), OSL: ptr(128), Concurrency: ptr(1)}}
	key := schema.Key{Task: "text", Tool: "vllm", ISL: ptr(128), OSL: ptr(128), Concurrency: ptr(1)}
	if !target.Matches(key) {
		t.Error("its own workload does not match")
	}
	other := func(change func(*schema.Key)) schema.Key { k := key; change(&k); return k }
	for name, k := range map[string]schema.Key{
		"another length":       other(func(k *schema.Key) { k.ISL = ptr(129) }),
		"an unknown length":    other(func(k *schema.Key) { k.ISL = nil }),
		"another task":         other(func(k *schema.Key) { k.Task = "vlm" }),
		"an open loop":         other(func(k *schema.Key) { k.Rate = ptr(4) }),
		"another kind of load": other(func(k *schema.Key) { k.Dims = map[string]string{"label": "structured output"} }),
	} {
		if target.Matches(k) {
			t.Errorf("%s matches", name)
		}
	}
}

func TestSlugs(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{
		"", "n150", "a/b", "a b", "a-b", "../x", ".", "..", "v0.17.0", "ünïcode", "<script>", "A", "a", "con.", "x/", "/x",
		"con.txt", "LPT1.log",
	} {
		s := schema.Slug(name)
		if s == "" || s == "." || s == ".." || s[0] == '.' {
			t.Errorf("%q has slug %q", name, s)
		}
		for _, c := range s {
			if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-') {
				t.Errorf("%q has slug %q", name, s)
			}
		}
		if base, _, _ := strings.Cut(strings.ToLower(s), "."); base == "con" || base == "lpt1" {
			t.Errorf("%q has slug %q, a device of Windows", name, s)
		}
		if other, taken := seen[s]; taken {
			t.Errorf("%q and %q share slug %q", name, other, s)
		}
		seen[s] = name
	}
	if schema.Slug("Llama-3.1-8B-Instruct") != "Llama-3.1-8B-Instruct" {
		t.Error("a plain name was changed")
	}
}

func TestNumbersAreNeverHalfThere(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, ok := schema.Num(v).Get(); ok {
			t.Errorf("%v passed for a number", v)
		}
	}
	var s schema.Stats
	for _, n := range []string{"p99", "mean", "max", "mean"} {
		s.Set(n, float64(len(s)))
	}
	if len(s) != 3 || s[0].Name() != "max" || s[1].Name() != "mean" || s[1].Value != 3 {
		t.Errorf("%v", s)
	}
}

// A text is the same JSON whether it takes the short way or not.
func TestJSONString(t *testing.T) {
	for text, want := range map[string]string{
		"": `""`, "plain text": `"plain text"`, `a"b`: `"a\"b"`, "a\\b": `"a\\b"`, "<&>": `"<&>"`, "\n": `"\n"`,
		"\x7f": "\"\x7f\"", "ü": `"ü"`, "\xff": `"\ufffd"`, "\u2028": `"\u2028"`,
	} {
		if got := string(schema.JSONString(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
