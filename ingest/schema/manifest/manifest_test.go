package manifest_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

func TestManifestRoundTripAndOverrides(t *testing.T) {
	text := `
release: v0.17.0
model: {id: meta-llama/Llama-3.1-8B-Instruct}
device: {name: n150}
workload: {isl: 128}
files:
  - {glob: "*-tp8.json", device: {name: t3k}, workload: {dims: {tp: "8"}}}
  - {glob: "long/*.json", workload: {isl: 8192}}
`
	m, p := manifest.Read("m.yaml", []byte(text))
	if p != nil {
		t.Fatal(p)
	}
	data, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	again, p := manifest.Read("m.yaml", data)
	if p != nil || again.Release != "v0.17.0" || again.Model.ID != m.Model.ID || len(again.Files) != 2 {
		t.Fatalf("after a round trip: %v %+v\n%s", p, again, data)
	}
	f, _, w := m.Of("a/b-tp8.json")
	if f.Device.Name != "t3k" || f.Release != "v0.17.0" || w.Dims["tp"] != "8" || *w.ISL != 128 {
		t.Errorf("override by name: %+v %+v", f, w)
	}
	f, _, w = m.Of("long/x.json")
	if f.Device.Name != "n150" || *w.ISL != 8192 {
		t.Errorf("override by path: %+v %+v", f, w)
	}
}

func TestManifestFaults(t *testing.T) {
	for name, c := range map[string]struct{ text, found string }{
		"unknown field": {"release: x\ndevise: n150\n", "devise"},
		"bad glob":      {"files:\n  - {glob: \"[\"}\n", "glob"},
		"wrong type":    {"device: n150\n", ""},
	} {
		if _, p := manifest.Read("m.yaml", []byte(c.text)); p == nil || !strings.Contains(p.Found, c.found) {
			t.Errorf("%s: %v", name, p)
		}
	}
}

func TestMergeKeepsTheFirstAndNamesConflicts(t *testing.T) {
	a := schema.Facts{Release: "v1", Device: schema.Device{Name: "n150"}}
	b := schema.Facts{Release: "v2", Impl: "x", Start: time.Unix(1, 0)}
	got := a
	taken, conflicts := manifest.Take(&got, &b, nil)
	if got.Release != "v1" || got.Impl != "x" || strings.Join(taken, " ") != "impl start" || len(conflicts) != 1 ||
		conflicts[0] != (manifest.Conflict{Field: "release", First: "v1", Second: "v2"}) {
		t.Errorf("%+v %v %v", got, taken, conflicts)
	}
}

func TestPatterns(t *testing.T) {
	p, err := manifest.NewPattern("{release}/{device}/benchmark_{model}_isl-{isl}_osl-{osl}_maxcon-{concurrency}_n-{n}" +
		".json")
	if err != nil {
		t.Fatal(err)
	}
	f, _, w, c, ok := p.Match("archive/v0.17.0/n150/benchmark_Llama-3.1-8B_isl-128_osl-1024_maxcon-32_n-256.json")
	if !ok || f.Release != "v0.17.0" || f.Device.Name != "n150" || f.Model.Name != "Llama-3.1-8B" || *w.ISL != 128 ||
		*w.OSL != 1024 || *w.Concurrency != 32 || c["num_prompts"] != "256" {
		t.Errorf("%v %+v %+v %v", ok, f, w, c)
	}
	apart, err := manifest.NewPattern("{precision}/tp{tp}_ep{ep}_{label}.json")
	if err != nil {
		t.Fatal(err)
	}
	f, _, w, _, ok = apart.Match("r/fp8/tp08_ep4_warm.json")
	if want := map[string]string{"tp": "8", "ep": "4", "label": "warm"}; !ok || f.Model.Precision != "fp8" ||
		!maps.Equal(w.Dims, want) {
		t.Errorf("%v %+v %v", ok, f.Model, w.Dims)
	}
	for _, c := range [][4]string{ // pattern, path, model, release
		{"{model}-{release}.json", "gemma4-12b-v0514.json", "gemma4-12b", "v0514"},
		{"{model}-{release}.json", "qwen3-8b-2026-07-01.json", "qwen3-8b", "2026-07-01"},
		{"{model}_{release}/*", "qwen3_8b_v1.2-rc1/a", "qwen3_8b", "v1.2-rc1"},
		{"{model}-v{release}/*", "llama-v2-7b-v1.2.0-rc1/a", "llama-v2-7b", "1.2.0-rc1"},
		{"{model}__{release}/*", "qwen3_8b__a-b/a", "qwen3_8b", "a-b"},
		{"{model}*{release}.json", "a-b-c.json", "a", "c"},
		{"{model}-{precision}-{release}/*", "llama3-8b-q8-v2/a", "llama3-8b", "v2"},
		{"gpu_{chips}x_{model}/*", "gpu_02x_a-b/x", "a-b", ""},
	} {
		p, err := manifest.NewPattern(c[0])
		if err != nil {
			t.Fatal(err)
		}
		if f, _, _, _, ok := p.Match(c[1]); !ok || f.Model.Name != c[2] || f.Release != c[3] {
			t.Errorf("%s of %s: %v %q %q", c[0], c[1], ok, f.Model.Name, f.Release)
		}
	}
	if _, _, _, _, ok := p.Match("v0.17.0/n150/other.json"); ok {
		t.Error("matched another name")
	}
	if _, err := manifest.NewPattern("{relase}/x"); err == nil || !strings.Contains(err.Error(), "{release") {
		t.Errorf("an unknown placeholder gives %v", err)
	}
	if _, err := manifest.NewPattern("{release}*{model}("); err != nil {
		t.Errorf("characters of regular expressions must be literal: %v", err)
	}
}

func TestSidecars(t *testing.T) {
	isl := 128.
	in := manifest.Sidecar{
		Result: "a.json", Tool: "builtin", Workload: manifest.Workload{ISL: &isl}, Argv: []string{"<&>"},
	}
	data, err := in.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	out, p := manifest.ReadSidecar("a.json.ttreport.json", data)
	if p != nil || out.Tool != "builtin" || *out.Workload.ISL != 128 || out.Argv[0] != "<&>" {
		t.Fatalf("%v %+v", p, out)
	}
	for _, bad := range []string{"", "{", `{"schema":"ttreport/sidecar/v9"}`, `[]`} {
		if _, p := manifest.ReadSidecar("x", []byte(bad)); p == nil || p.Hint == "" {
			t.Errorf("%q was taken for a sidecar", bad)
		}
	}
}

// A pattern without placeholders is a glob as doublestar has it, against the end of a path.
func TestPatternsAreGlobs(t *testing.T) {
	paths := []string{
		"a.json", "x/a.json", "x/y/a.json", "x/y/z/b.json", "x/ab.json", "x/a/b/ab.json", "x/{a}.json", "y/c.txt",
	}
	for _, text := range []string{
		"*.json", "x/*.json", "x/**/*.json", "**", "?.json", "[ab]*.json", "{a,ab}.json", "x/*/a.json", "x/**/b/*", "y/*.txt",
	} {
		p, err := manifest.NewPattern(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for _, path := range paths {
			_, _, _, _, got := p.Match(path)
			if want := doublestar.MatchUnvalidated("**/"+text, path); got != want {
				t.Errorf("%s against %q: %t, doublestar says %t", text, path, got, want)
			}
		}
	}
}

func TestPatternsSpanFolders(t *testing.T) {
	p, err := manifest.NewPattern("{release}/**/{model}_{_}.json")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"v1/a/b/m_1.json": "v1", "v1/m_1.json": "v1", "v1/x/m_1.json": "v1", "m_1.json": "", "v1/x/m.json": "",
	} {
		f, _, _, _, ok := p.Match(path)
		if ok != (want != "") || f.Release != want || ok && f.Model.Name != "m" {
			t.Errorf("%s: %t, release %q, model %q", path, ok, f.Release, f.Model.Name)
		}
	}
	if _, err := manifest.NewPattern("[a/{model}.json"); err == nil {
		t.Error("a bracket that is not closed")
	}
}
