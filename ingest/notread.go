package ingest

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// NotRead is the format of results of known tools whose numbers are not read.
const NotRead = "not-read"

// toolNotRead returns the kind of a result that is known and not read, so that users do not look for a fault in the
// file; "" for any other file.
func toolNotRead(f *decode.File) string {
	v := f.First
	switch {
	case v.Get("config").Kind() == decode.Object && v.Get("mm_processor_stats").Kind() == decode.Object:
		return "vllm bench mm-processor: stages of preprocessing"
	}
	return ""
}

// notRead returns the reading of such a file, with advice.
func notRead(f *decode.File, what string) schema.Reading {
	return schema.Reading{
		Format: NotRead, Detail: what, Problems: append(f.Problems, schema.Problem{
			Severity: schema.SevNote, Path: f.Path, Code: "not-read",
			Found: "a result of a tool that is not read (" + what + ")", Used: "nothing of it",
			Hint: "ttreport help files lists what is read; measure with one of those tools, or ask for this one",
		}),
	}
}
