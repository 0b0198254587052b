package schema_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

func TestSameDevice(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"n150", "N150", true}, {"Simulated", schema.Simulated, true}, {" t3k ", "t3k", true}, {"n150", "n300", false},
		{"", "", true}, {"", "n150", false}, {"H100 SXM", "h100-sxm", false},
	} {
		if schema.SameDevice(c.a, c.b) != c.want || schema.SameDevice(c.b, c.a) != c.want {
			t.Errorf("%q and %q", c.a, c.b)
		}
	}
}
