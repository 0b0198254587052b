package ingest

import (
	"iter"

	"github.com/ttreport/ttreport/ingest/aiperf"
	"github.com/ttreport/ttreport/ingest/bigcode"
	"github.com/ttreport/ttreport/ingest/console"
	"github.com/ttreport/ttreport/ingest/evalscope"
	"github.com/ttreport/ttreport/ingest/guidellm"
	"github.com/ttreport/ttreport/ingest/helm"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/inferenceperf"
	"github.com/ttreport/ttreport/ingest/inferencex"
	"github.com/ttreport/ttreport/ingest/inspect"
	"github.com/ttreport/ttreport/ingest/lighteval"
	"github.com/ttreport/ttreport/ingest/llamabench"
	"github.com/ttreport/ttreport/ingest/llmd"
	"github.com/ttreport/ttreport/ingest/llmperf"
	"github.com/ttreport/ttreport/ingest/lmeval"
	"github.com/ttreport/ttreport/ingest/mlperf"
	"github.com/ttreport/ttreport/ingest/mosaic"
	"github.com/ttreport/ttreport/ingest/nmvllm"
	"github.com/ttreport/ttreport/ingest/optimum"
	"github.com/ttreport/ttreport/ingest/ownmetrics"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/sglang"
	"github.com/ttreport/ttreport/ingest/torchhud"
	"github.com/ttreport/ttreport/ingest/trtllm"
	"github.com/ttreport/ttreport/ingest/ttis"
	"github.com/ttreport/ttreport/ingest/vllm"
	"github.com/ttreport/ttreport/ingest/vllmoffline"
)

// reader is one format: Detect recognises its files, Read reads them.
type reader struct {
	detect func(*decode.File) schema.Match
	read   func(*decode.File) schema.Reading
}

// readers lists all formats, in the order in which they are tried. Their rules exclude each other, so the order only
// decides which of two near misses is reported.
func readers() []reader {
	return []reader{
		{vllm.Detect, vllm.Read},
		{vllmoffline.Detect, vllmoffline.Read},
		{torchhud.Detect, torchhud.Read},
		{aiperf.Detect, aiperf.Read},
		{lmeval.Detect, lmeval.Read},
		{ttis.Detect, ttis.Read},
		{trtllm.Detect, trtllm.Read},
		{nmvllm.Detect, nmvllm.Read},
		{sglang.Detect, sglang.Read},
		{guidellm.Detect, guidellm.Read},
		{inferenceperf.Detect, inferenceperf.Read},
		{inferencex.Detect, inferencex.Read},
		{llmd.Detect, llmd.Read},
		{inspect.Detect, inspect.Read},
		{ownmetrics.Detect, ownmetrics.Read},
		{evalscope.Detect, evalscope.Read},
		{llamabench.Detect, llamabench.Read},
		{llmperf.Detect, llmperf.Read},
		{mlperf.Detect, mlperf.Read},
		{mosaic.Detect, mosaic.Read},
		{lighteval.Detect, lighteval.Read},
		{bigcode.Detect, bigcode.Read},
		{helm.Detect, helm.Read},
		{optimum.Detect, optimum.Read},
		{console.Detect, console.Read},
		{history.Detect, history.ReadFile},
	}
}

// Formats of files that no reader takes.
const (
	Unknown   = "unknown"      // it resembles a result, but has no known format
	NotResult = "not-a-result" // nothing in it is like a result
	Archive   = "archive"      // its members are listed
)

// recognise asks every reader. The match is full, or it is the nearest miss with format Unknown, or nothing in the file
// is like a result.
func recognise(f *decode.File) (schema.Match, *reader) {
	var near schema.Match
	if f.Form == decode.JSON || f.Form == decode.Text {
		for _, r := range readers() {
			m := r.detect(f)
			if m.OK() {
				return m, &r
			}
			if near.Format == "" || len(m.Has) > len(near.Has) ||
				(len(m.Has) == len(near.Has) && len(m.Lacks) < len(near.Lacks)) {
				near = m
			}
		}
	}
	// One feature of three is chance: every package.json has a version.
	if f.Form != decode.JSON || len(near.Has) == 0 || (len(near.Has) == 1 && len(near.Lacks) > 1) || isSchema(f.First) {
		return schema.Match{Format: NotResult, Detail: whatElse(f)}, nil
	}
	near.Detail = near.Format
	near.Format = Unknown
	return near, nil
}

// unwrapped lists the results in {"result": {…}}, in {"results": […]} and in a list, where nothing else is like a
// result: scripts that drive a tool wrap what it wrote.
func unwrapped(f *decode.File) (iter.Seq[decode.Value], bool) {
	v := f.First
	if f.Form != decode.JSON || f.Several() || v.Kind() != decode.Object && v.Kind() != decode.Array {
		return nil, false
	}
	inner := v
	for _, name := range []string{"results", "result"} {
		if x := v.Get(name); x.Kind() == decode.Object || x.Kind() == decode.Array {
			inner = x
		}
	}
	list := inner.Items()
	if inner.Kind() == decode.Object {
		if v.Kind() == decode.Object && !v.Has("result") && !v.Has("results") {
			return nil, false
		}
		list = func(yield func(decode.Value) bool) { yield(inner) }
	}
	for first := range list { // the whole file may be a result as it stands
		if _, own := recognise(f.With(first)); own == nil {
			return nil, false
		}
		_, whole := recognise(f)
		return list, whole == nil
	}
	return nil, false
}

// isSchema recognises a JSON Schema, which names every key of a result and holds none.
func isSchema(v decode.Value) bool {
	return v.Has("$schema") || v.Has("$defs") ||
		(v.Get("properties").Kind() == decode.Object && v.Get("type").Str() == "object")
}

// whatElse names a file that is no result, for the listing.
func whatElse(f *decode.File) string {
	switch {
	case f.Form == decode.Binary:
		return "binary"
	case f.Form == decode.Text:
		return "text"
	case f.Form == decode.Nothing:
		return "empty or damaged"
	case isSchema(f.First):
		return "a JSON schema"
	}
	return "nothing in it is like a result"
}
