package ingest_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ttreport/ttreport/ingest"
)

// What vLLM's users write with --metadata and --label, and the kind of endpoint, tell results apart as any other field
// does; a label that is the backend's name is nobody's.
func TestMarksTellApart(t *testing.T) {
	const lengths = `"random_input_len":128,"random_output_len":128,`
	for _, c := range []struct {
		first, second string
		keys          int
	}{
		{`"version":"0.9.0",`, `"version":"0.11.0",`, 2},
		{`"label":"baseline",`, `"label":"patched",`, 2},
		{`"backend":"vllm","endpoint_type":"openai",`, `"backend":"vllm","endpoint_type":"openai-chat",`, 2},
		{`"endpoint":"/v1/completions",`, `"endpoint":"/v1/chat/completions",`, 2},
		{`"backend":"vllm","label":"vllm",`, `"backend":"vllm",`, 1},
	} {
		files := fstest.MapFS{
			"x-1.json": {Data: []byte(serve(lengths + c.first))},
			"x-2.json": {Data: []byte(strings.ReplaceAll(serve(lengths+c.second), ".25", ".75"))},
		}
		set, err := ingest.Load(context.Background(), []ingest.Root{{FS: files}}, ingest.Options{})
		keys := map[string]bool{}
		for _, p := range points(set) {
			keys[p.Key.String()] = true
		}
		if err != nil || len(points(set)) != 2 || len(keys) != c.keys {
			t.Errorf("%s and %s: %v, %v", c.first, c.second, keys, err)
		}
	}
}
