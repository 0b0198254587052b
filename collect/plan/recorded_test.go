package plan

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

// A trace whose hashes stand for another number of tokens shares other prompts, at the same lengths and times: it is
// another workload. One that states what the file has is the same.
func TestBlockOfATraceIsPartOfItsName(t *testing.T) {
	t.Chdir(t.TempDir())
	const line = `{"timestamp": 0, "input_length": 1100, "output_length": 5, "hash_ids": [1, 2]}` + "\n"
	const session = `{"block_size": 64, "requests": [{"t": 0, "in": 200, "out": 5, "hash_ids": [1, 2]}]}`
	for name, text := range map[string]string{
		"mooncake.jsonl": line + line, "session.json": session, "azure.csv": "TIMESTAMP,ContextTokens,GeneratedTokens\n" +
			"2023-11-16 18:17:03,4808,10\n2023-11-16 18:17:04,4808,10\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	label := func(workload string) string {
		p, err := planned(t, workload)
		if err != nil {
			t.Fatal(err)
		}
		return p.Workloads[0].Dims[schema.DimLabel]
	}
	for file, own := range map[string]string{"mooncake.jsonl": "512", "session.json": "64", "azure.csv": "16"} {
		of := "dataset=trace,c=1,path=" + file
		if plain := label(of); label(of+",block="+own) != plain || filepath.Ext(plain) == "" {
			t.Errorf("%s: block=%s is %q, without %q", file, own, label(of+",block="+own), plain)
		} else if other := label(of + ",block=32"); (other == plain) != (file == "azure.csv") {
			t.Errorf("%s: block=32 is %q, without %q", file, other, plain)
		}
	}
}
