package table_test

import (
	"bytes"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/ttreport/ttreport/ingest/schema/decode"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
	"github.com/ttreport/ttreport/ingest/table"
)

// rowOf is a row of somebody's results.
type rowOf struct {
	Model   string    `parquet:"model"`
	When    time.Time `parquet:"when,timestamp"`
	Batch   int32     `parquet:"batch"`
	TTFT    float64   `parquet:"ttft_s"`
	Speed   *float32  `parquet:"tok_s,optional"`
	Latency struct {
		P99 float64 `parquet:"p99"`
	} `parquet:"latency"`
}

// A Parquet file is read by the mapping that reads the same rows as JSON lines.
func TestParquet(t *testing.T) {
	speed, rows := float32(250.5), make([]rowOf, 3)
	for i := range rows {
		rows[i] = rowOf{Model: "acme/m", When: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Batch: int32(i), TTFT: .125}
		rows[i].Latency.P99 = 2.5
	}
	rows[1].Speed, rows[2].TTFT = &speed, math.NaN()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[rowOf](&b, parquet.Compression(&parquet.Zstd))
	if _, err := w.Write(rows); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	tables, err := table.Compile([]table.Mapping{{Files: "*.parquet", Tool: "bench", Columns: map[string]string{
		"model": "model", "when": "start", "batch": "concurrency", "ttft_s": "ttft mean s", "tok_s": "output_tps tok/s",
		"latency.p99": "e2el p99 s",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	read := func(data []byte) (f decode.File) {
		f = decode.NewFile("x.parquet", data, time.Time{}, decode.DefaultLimits())
		f.Data = data
		return f
	}
	f := read(b.Bytes())
	r := tables[0].Read(&f)
	Check(t, r)
	if len(r.Points) != 3 || len(r.Problems) != 0 || r.Facts.Model.ID != "acme/m" || r.Facts.Start != rows[0].When ||
		r.Points[0].Source.SHA256 == "" {
		t.Fatalf("%d points, %v, %+v", len(r.Points), r.Problems, r.Facts)
	}
	Expect(t, r.Points[1], map[string]float64{"ttft.mean": 125, "output_tps.value": 250.5, "e2el.p99": 2500})
	Expect(t, r.Points[2], map[string]float64{"e2el.p99": 2500})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for n := range b.Len() {
		cut := bytes.Clone(b.Bytes())
		cut[n] ^= 0xff
		for _, data := range [][]byte{cut, b.Bytes()[:n]} {
			f := read(data)
			tables[0].Read(&f) // damaged, it may lose rows; it does not crash
		}
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 2000 {
		t.Errorf("%d MB for %d damaged files of %d bytes", got, 2*b.Len(), b.Len())
	}
}
