package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/render/rows"
)

// An export that ends at any of its files leaves whole files, and no release in the table of runs that is not in the
// others; the next one finishes it.
func TestExportCutShort(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	t.Chdir(t.TempDir())
	command := func(args ...string) (code int, said string) {
		var out bytes.Buffer
		code = run(context.Background(), args, strings.NewReader(""), &out, &out)
		return code, out.String()
	}
	for _, args := range [][]string{{"collect"}, {"ingest", "results"}, {"export", "parquet", "whole"}} {
		if code, said := command(args...); code != 0 {
			t.Fatal(said)
		}
	}
	names, err := filepath.Glob("whole/*/*/" + partName)
	if err != nil || len(names) < 8 {
		t.Fatalf("%v %v", names, err)
	}
	for i := 0; i < len(names); i += 5 { // every fifth is enough
		if err := os.RemoveAll("warehouse"); err != nil {
			t.Fatal(err)
		}
		blocked := strings.Replace(names[i], "whole", "warehouse", 1)
		if err := os.MkdirAll(filepath.Join("warehouse", "x"), 0o777); err != nil {
			t.Fatal(err)
		}
		mark, err := os.ReadFile(filepath.Join("whole", exportName))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("warehouse", exportName), mark, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(blocked, "in the way"), 0o777); err != nil {
			t.Fatal(err)
		}
		code, said := command("export", "parquet", "warehouse")
		if code != exitUsage || !strings.Contains(said, "check that warehouse can be written") {
			t.Fatalf("%s: exit %d: %s", blocked, code, said)
		}
		releases, err := filepath.Glob("warehouse/runs/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, release := range releases {
			for _, table := range rows.Tables() {
				name := filepath.Join("warehouse", table, filepath.Base(release), partName)
				data, err := os.ReadFile(name)
				if name != blocked && filepath.Join(release, partName) != blocked &&
					(err != nil || !bytes.HasSuffix(data, []byte("PAR1"))) {
					t.Errorf("%s: %s is in runs, and %s is not whole: %v", blocked, release, name, err)
				}
			}
		}
		if err := os.RemoveAll(blocked); err != nil {
			t.Fatal(err)
		}
		if code, said := command("export", "parquet", "warehouse"); code != 0 {
			t.Fatalf("exit %d: %s", code, said)
		}
		after, err := filepath.Glob("warehouse/*/*/" + partName)
		if err != nil || !slices.EqualFunc(after, names, func(a, b string) bool {
			return a == strings.Replace(b, "whole", "warehouse", 1)
		}) {
			t.Errorf("%v %v", after, err)
		}
	}
}
