package table_test

import (
	"strings"
	"testing"

	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
	"github.com/ttreport/ttreport/ingest/table"
)

var stated = Reader{Detect: table.Stated.Detect, Read: table.Stated.Read}

const named = `{"model":"acme/m","device":"h100","concurrency":8,"isl":128,"osl":64,"note":"x",` +
	`"ttft_s":{"p50":0.12,"p99":0.3,"mean":0.14},"tpot_ms":{"p50":12.5},"output_tokens_per_s":800.5}`

// The unit is in the name and the statistics are below it: nothing is left to say.
func TestStated(t *testing.T) {
	r := stated.Must(t, "run.json", named)
	p := r.Points[0]
	Expect(t, p, map[string]float64{
		"ttft.median": 120, "ttft.p99": 300, "ttft.mean": 140, "tpot.median": 12.5, "output_tps.value": 800.5,
	})
	if *p.Key.Concurrency != 8 || *p.Key.ISL != 128 || r.Facts.Model.ID != "acme/m" || r.Facts.Device.Name != "h100" ||
		p.Extra.Text("note") != "x" || Codes(r) != "" {
		t.Errorf("%s %+v %v %v", p.Key, r.Facts, p.Extra, r.Problems)
	}
}

// What names no unit, one limit alone, or a file of limits is none.
func TestNotStated(t *testing.T) {
	for name, text := range map[string]string{
		"a.json":       strings.NewReplacer("ttft_s", "ttft", "tpot_ms", "tpot").Replace(named),
		"b.json":       `{"ttft_ms":{"p99":200},"tpot_ms":{"p99":50}}`,
		"c.json":       `{"ttft_ms":{"p50":{"type":"number"},"p99":{"type":"number"}}}`,
		"d.json":       `{"ttft_ms":200,"p99":3}`,
		"slo-all.json": named,
	} {
		if m := table.Stated.Detect(File(name, text)); m.OK() {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func FuzzStated(f *testing.F) { stated.Fuzz(f, "run.json", named) }
