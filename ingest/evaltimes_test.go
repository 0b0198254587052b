package ingest_test

import (
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest"
)

// The time of a folder is that of all evals in it: equal scores of small tasks are no copies of each other. The time in
// the name of a file is its own.
func TestEqualScoresUnderADatedFolder(t *testing.T) {
	eval := `{"results":{"agent":{"acc":0.7}},"versions":{"agent":1},` +
		`"config":{"model":"hf","model_args":"pretrained=acme/M"}}`
	for name, c := range map[string]struct {
		paths []string
		want  int
	}{
		"folder":          {[]string{"b_20260716_155028/it/r.json", "b_20260716_155028/hr/r.json"}, 2},
		"names of files":  {[]string{"it/r_20260716_155028.json", "hr/r_20260716_155028.json"}, 1},
		"stated of a run": {[]string{"x/it/r.json", "x/hr/r.json", "x/ttreport.manifest.yaml"}, 2},
	} {
		texts := map[string]string{}
		for i, path := range c.paths {
			texts["in/"+path] = eval[:len(eval)-1] + `,"of":` + string(rune('0'+i)) + "}"
		}
		if len(c.paths) == 3 {
			texts["in/x/ttreport.manifest.yaml"] = "start: 2026-07-16T15:50:28Z\n"
		}
		dir := write(t, t.TempDir(), texts, time.Time{})
		root, err := ingest.OSRoot(dir + "/in")
		if err != nil {
			t.Fatal(err)
		}
		set, err := ingest.Load(t.Context(), []ingest.Root{root}, ingest.Options{})
		n := 0
		for i := range set.Runs {
			n += len(set.Runs[i].Scores)
		}
		if err != nil || n != c.want {
			t.Errorf("%s: %d scores, want %d; %v %v", name, n, c.want, err, set.Problems)
		}
	}
}
