package ingest_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Each source wins over those after it: a flag, a manifest, a pattern, the file. A manifest farther up wins as the
// nearest does where the nearest is silent.
func TestEachSourceWinsOverTheNext(t *testing.T) {
	pattern, err := manifest.NewPattern("{device}/*")
	if err != nil {
		t.Fatal(err)
	}
	near, far := "n/d3/"+manifest.FileName, "n/"+manifest.FileName
	for name, c := range map[string]struct {
		manifests      map[string]string
		flag           string
		patterns       []manifest.Pattern
		want           string
		from           schema.From
		contradictions string
	}{
		"file":    {nil, "", nil, "d4", schema.FromFile, ""},
		"pattern": {nil, "", []manifest.Pattern{pattern}, "d3", schema.FromPath, "contradiction"},
		"flag":    {nil, "d2", []manifest.Pattern{pattern}, "d2", schema.FromFlag, "pattern contradiction contradiction"},
		"flag over manifest": {
			map[string]string{near: "device: {name: d1}"}, "d2", nil, "d2", schema.FromFlag, "contradiction contradiction",
		},
		"manifest": {map[string]string{near: "device: {name: d1}"}, "", nil, "d1", schema.FromManifest, "contradiction"},
		"far manifest": {
			map[string]string{far: "device: {name: d0}", near: "impl: x"}, "", nil, "d0", schema.FromManifest, "contradiction",
		},
		"two of them": {
			map[string]string{far: "device: {name: d0}", near: "device: {name: d1}"}, "", nil, "d1", schema.FromManifest,
			"contradiction",
		},
	} {
		files := map[string]string{"n/d3/a.json": serve(`"gpu_name":"d4","max_concurrency":4,`)}
		for name, text := range c.manifests {
			files[name] = text
		}
		set := load(t, ingest.Options{
			Patterns: c.patterns, Flags: schema.Facts{Device: schema.Device{Name: c.flag}},
		}, files)
		r := set.Runs[0]
		if r.Device.Name != c.want || r.Provenance["device.name"].From != c.from || codes(set.Problems) != c.contradictions {
			t.Errorf("%s: %s by %+v, %v", name, r.Device.Name, r.Provenance["device.name"], set.Problems)
		}
	}
}
