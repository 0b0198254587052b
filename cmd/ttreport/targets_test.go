package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// What is imported can be read: a reference that is too long for one file becomes one a model, and a model that is too
// long for one writes nothing.
func TestImportWritesWhatCanBeRead(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	reference := func(entries ...int) string { // of each model
		var all []string
		for m, n := range entries {
			var rows []string
			for e := range n {
				rows = append(rows, fmt.Sprintf(`{"isl":%d,"osl":128,"max_concurrency":1,"task_type":"text","targets":`+
					`{"theoretical":{"ttft_ms":89,"tput_user":21,"tolerance":0.05}}}`, 128+e))
			}
			all = append(all, fmt.Sprintf(`"M%d":{"n150":[%s]}`, m, strings.Join(rows, ",")))
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	tell := func(args ...string) (int, string) {
		var out strings.Builder
		code := run(context.Background(), args, strings.NewReader(""), &out, &out)
		return code, out.String()
	}
	files := func() []string {
		names, err := filepath.Glob("targets/*")
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	t.Chdir(t.TempDir())
	lay(t, "ref.json", reference(250, 250, 250)) // 4,500 targets of 12 lines
	if code, said := tell("targets", "import", "ref.json", "--out", "one.yaml"); code != exitUsage || len(files()) > 0 {
		t.Errorf("one file for all: exit %d: %s %q", code, said, files())
	}
	if code, said := tell("targets", "import", "ref.json"); code != 0 || len(files()) != 3 {
		t.Fatalf("a file a model: exit %d: %s %q", code, said, files())
	}
	if code, said := tell("targets", "lint"); code != 0 || !strings.Contains(said, "4500 targets") {
		t.Errorf("what was written cannot be read: exit %d: %.400s", code, said)
	}
	if code, said := tell("targets", "import", "ref.json"); code != exitUsage || len(files()) != 3 {
		t.Errorf("a second time: exit %d: %.400s", code, said)
	}
	t.Chdir(t.TempDir())
	lay(t, "ref.json", reference(1, 750))
	if code, said := tell("targets", "import", "ref.json"); code != exitInput || len(files()) > 0 {
		t.Errorf("a model that is too long: exit %d: %.400s %q", code, said, files())
	}
}
