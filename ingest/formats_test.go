package ingest_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/table"
)

// allFormats is a tree with results of every format: what tools wrote, and files of our own making for the others.
func allFormats(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, dir := range []string{"testdata/formats", "../testdata/recorded"} {
		err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := os.ReadFile(name)
			rel, _ := filepath.Rel(filepath.Dir(dir), name)
			files[strings.ReplaceAll(filepath.ToSlash(rel), "%3A", ":")] = string(data) // no module may have such a name
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// store reads a path into a history folder, with the mapping of the tree's table. It returns all documents as one text.
func store(t *testing.T, dir, name string) (ingest.Result, string) {
	t.Helper()
	tables, err := table.Compile([]table.Mapping{{
		Files: "tables/*.csv", Columns: map[string]string{
			"Model": "model", "GPU": "device", "Batch": "concurrency", "TTFT": "ttft mean s",
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	root, err := ingest.OSRoot(name)
	if err != nil {
		t.Fatal(err)
	}
	root.Tables = tables
	got, err := ingest.Store{Dir: dir, Targets: func([]schema.Run) (ingest.Targets, []schema.Problem, error) {
		return inForce(0), nil, nil
	}}.Read(t.Context(), []ingest.Root{root}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range glob(t, filepath.Join(dir, "*", "*", "*.json")) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n%s\n", strings.TrimPrefix(name, dir), data)
	}
	return got, b.String()
}

// The tree has every format that there is.
func TestAllFormatsAreInTheTree(t *testing.T) {
	tmp := t.TempDir()
	got, _ := store(t, t.TempDir(), write(t, filepath.Join(tmp, "tree"), allFormats(t), time.Now()))
	counted, points := map[string]bool{}, 0
	for _, f := range got.Files {
		if f.Points+f.Scores > 0 || f.PartOf != "" {
			counted[f.Format] = true
			points += f.Points + f.Scores
		}
	}
	want := strings.Fields(`aiperf aiperf-records aiperf-sweep bigcode-eval evalscope-perf
		evalscope-percentiles evalscope-arguments evalscope-report genai-perf github-action-benchmark guidellm guidellm-csv
		helm inference-perf inferencex inferencex-raw inspect llama-bench llama-bench-md llm-d-report llmperf lighteval
		lm-eval lm-eval-0.3 lm-eval-samples mlperf mosaic-eval nm-vllm optimum-benchmark pytorch-hud serving-console
		sglang table trtllm-bench-console trtllm-bench trtllm-benchmark trtllm-benchmark-csv ttis-media ttis-media-eval
		ttis-report-data
		ttis-statistics ttreport-metrics vllm-ci-commands vllm-latency vllm-serve vllm-startup vllm-throughput`)
	for _, format := range want {
		if !counted[format] {
			t.Errorf("no result of %s; there are %v", format, slices.Sorted(maps.Keys(counted)))
		}
	}
	if points < 90 {
		t.Errorf("%d points and scores", points)
	}
}

// A tree of all formats that is read as a folder, as an archive and as a clone with other times gives one history, byte
// for byte; so does each of its files that is read alone. In a history of its own, each way gives the same documents,
// except for the name of the folder in paths.
func TestAllFormatsInEveryWay(t *testing.T) {
	tmp, history := t.TempDir(), t.TempDir()
	files := allFormats(t)
	before := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	folder := write(t, filepath.Join(tmp, "folder"), files, before)
	first, want := store(t, history, folder)
	if first.Written < 30 || first.Refused > 0 || strings.Contains(want, "2026-05-01") {
		t.Fatalf("%d documents, %d refused", first.Written, first.Refused)
	}
	ways := []string{
		folder, write(t, filepath.Join(tmp, "clone"), files, before.AddDate(0, 1, 0)),
		zipped(t, filepath.Join(tmp, "tree.zip"), files), folder,
	}
	for _, way := range ways {
		got, now := store(t, history, way)
		if now != want || got.Written != 0 || len(got.Replaced) != 0 {
			t.Errorf("%s: %d written, %d replaced: %s", filepath.Base(way), got.Written, len(got.Replaced),
				firstDifference(now, want))
		}
		if way == folder {
			continue // that is the history
		}
		_, fresh := store(t, t.TempDir(), way)
		if a, b := strings.ReplaceAll(fresh, way+"/", ""), strings.ReplaceAll(want, folder+"/", ""); a != b {
			t.Errorf("%s, read alone: another history: %s", filepath.Base(way), firstDifference(a, b))
		}
	}
	for name := range files {
		if got, now := store(t, history, filepath.Join(folder, filepath.FromSlash(name))); now != want || got.Written != 0 {
			t.Errorf("%s alone: %d written: %s", name, got.Written, firstDifference(now, want))
			history = t.TempDir()
			store(t, history, folder)
		}
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d is\n%.600s\nwant\n%.600s", i, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(x), len(y))
}
