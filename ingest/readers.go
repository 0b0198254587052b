package ingest

import (
	"github.com/ttreport/ttreport/ingest/aiperf"
	"github.com/ttreport/ttreport/ingest/lmeval"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/ttis"
	"github.com/ttreport/ttreport/ingest/vllm"
)

// reader is one format: Detect says whether a file is its own, Read says what it means.
type reader struct {
	detect func(*decode.File) schema.Match
	read   func(*decode.File) schema.Reading
}

// readers is the whole list, in the order in which they are asked. The rules exclude each other, so the order decides
// nothing but which of two near misses is named first.
func readers() []reader {
	return []reader{
		{vllm.Detect, vllm.Read},
		{aiperf.Detect, aiperf.Read},
		{lmeval.Detect, lmeval.Read},
		{ttis.Detect, ttis.Read},
	}
}

// Unknown is the format of a file that no reader takes.
const Unknown = "unknown"

// recognise asks every reader. The match is full, or it is the nearest miss with format Unknown.
func recognise(f *decode.File) (schema.Match, *reader) {
	var near schema.Match
	for _, r := range readers() {
		m := r.detect(f)
		if m.OK() {
			return m, &r
		}
		if near.Format == "" || len(m.Has) > len(near.Has) || (len(m.Has) == len(near.Has) && len(m.Lacks) < len(near.Lacks)) {
			near = m
		}
	}
	if len(near.Has) == 0 {
		return schema.Match{Format: Unknown, Lacks: []string{"anything that a known format has"}}, nil
	}
	near.Detail = near.Format
	near.Format = Unknown
	return near, nil
}
