package ingest_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest"
)

// A date in a name has a form that a tool writes; lengths and counts in names are none, nor is a day in the future.
func TestDatesInNames(t *testing.T) {
	const dated = `"date":"20260101-000000",`
	const length = `"random_input_len":2025,"random_output_len":10,"request_throughput":1.5,`
	const plain = `"random_input_len":8,"random_output_len":8,"request_throughput":1.5,`
	for _, c := range []struct{ name, text, want string }{
		{"result_2048_1024_1500.json", plain, ""},
		{"result_2048_10_24.json", plain, ""},
		{"result_2039-01-02.json", plain, ""},
		{"x_2025_10_24.json", plain, "2025-10-24 00:00"},
		{"x_2025_10_24.json", length, ""},
		{"x_2025-10-24.json", plain, "2025-10-24 00:00"},
		{"x-20251024-153300.json", plain, "2025-10-24 15:33"},
		{"x_2025-10-24T15:33:01Z.json", plain, "2025-10-24 15:33"},
		{"2025_1024_10.json", plain, ""},
	} {
		set := load(t, ingest.Options{}, map[string]string{c.name: strings.Replace(serve(c.text), dated, "", 1)})
		got := ""
		if start := set.Runs[0].Start; !start.IsZero() {
			got = start.Format("2006-01-02 15:04")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A rate without a limit is written as Infinity: that is a setting, and no missing number.
func TestInfiniteRateIsNoProblem(t *testing.T) {
	for text, want := range map[string]string{
		`"request_rate":Infinity,"request_throughput":1.5,`:                     "",
		`"request_rate": Infinity,"request_throughput":1.5,"some_mean_ms":NaN,`: "non-finite",
	} {
		set := load(t, ingest.Options{}, map[string]string{"a.json": serve(text)})
		if got := codes(set.Problems); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
