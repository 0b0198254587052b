package ingest_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/durable"
)

// The rest of a write that was cut short is no second result.
func TestUnfinishedFilesAreNoResults(t *testing.T) {
	dir := t.TempDir()
	text := `{"date":"20260101-000000","model_id":"acme/x","num_prompts":10,"max_concurrency":1,"completed":10,` +
		`"duration":2.0,"output_throughput":20.5,"mean_ttft_ms":10.25}`
	if err := os.WriteFile(filepath.Join(dir, durable.Temporary+"123"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := ingest.OSRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	set, err := ingest.Load(context.Background(), []ingest.Root{root}, ingest.Options{})
	if err != nil || len(set.Runs) > 0 || len(set.Files) > 0 {
		t.Errorf("%d runs of %d files, %v", len(set.Runs), len(set.Files), err)
	}
}
