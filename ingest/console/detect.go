package console

import (
	"bytes"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of the formats that this package distinguishes.
const (
	Serving = "serving-console"
	TRTLLM  = "trtllm-bench-console"
)

const (
	servingTitle = "Serving Benchmark Result ==="
	trtllmTitle  = "= PERFORMANCE OVERVIEW"
	trtllmLine   = "Request Throughput (req/sec):"
	trtllmLog    = "[TRT-LLM]"
)

// Detect looks for the title of a block in a text, and for a line that every block has.
func Detect(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Serving, Detail: "output of a load test"}}
	if f.Form != decode.Text {
		m.Lacks = []string{"a text"}
		return m.Match
	}
	if bytes.Contains(f.Data, []byte(trtllmTitle)) {
		m.Format = TRTLLM
		m.Want(bytes.Contains(f.Data, []byte(trtllmLine)), trtllmLine)
		return m.Match
	}
	if trtllmBegan.Match(f.Data) && bytes.Contains(f.Data, []byte(trtllmLog)) {
		m.Format, m.Detail = TRTLLM, "trtllm-bench without its report"
		m.Want(true, "Preparing to run throughput benchmark")
		return m.Match
	}
	m.Want(bytes.Contains(f.Data, []byte(servingTitle)), "===== Serving Benchmark Result =====")
	m.Want(bytes.Contains(f.Data, []byte("Successful requests:")), "Successful requests:")
	return m.Match
}

// Read returns a point for each block.
func Read(f *decode.File) schema.Reading {
	m := Detect(f)
	if m.Format == TRTLLM {
		return readTRTLLM(f)
	}
	return readServing(f)
}
