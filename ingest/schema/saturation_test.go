package schema_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

func TestSaturated(t *testing.T) {
	for _, tt := range []struct {
		asked, reached float64
		want           bool
	}{{32, 32, false}, {32, 25.6, false}, {32, 25.5, true}, {2, 1.7, false}, {2, 1.5, true}, {1, 0, true}} {
		if got := schema.Saturated(tt.asked, tt.reached); got != tt.want {
			t.Errorf("%g of %g: %v", tt.reached, tt.asked, got)
		}
	}
}
