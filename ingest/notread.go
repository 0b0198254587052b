package ingest

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// NotRead is the format of results of tools that are known by name and whose numbers are not taken.
const NotRead = "not-read"

// toolNotRead names the results of tools that are not read, so that nobody looks for a fault in the file. "" for any
// other.
func toolNotRead(f *decode.File) string {
	v := f.First
	switch {
	case v.Get("config").Kind() == decode.Object && v.Get("mm_processor_stats").Kind() == decode.Object:
		return "vllm bench mm-processor: stages of preprocessing"
	}
	return ""
}

// notRead names such a file and what may be done about it.
func notRead(f *decode.File, what string) schema.Reading {
	return schema.Reading{
		Format: NotRead, Detail: what, Problems: append(f.Problems, schema.Problem{
			Severity: schema.SevNote, Path: f.Path, Code: "not-read",
			Found: "a result of a tool that is not read (" + what + ")", Used: "nothing of it",
			Hint: "ttreport help files lists what is read; measure with one of those tools, or ask for this one",
		}),
	}
}
