//go:build unix

package history_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

func load(t *testing.T, dirs ...string) (*columns.Columns, []schema.Problem) {
	t.Helper()
	c, problems, err := history.Load(context.Background(), dirs...)
	if err != nil {
		t.Fatal(err)
	}
	return c, problems
}

func TestDocumentsFitTheSchema(t *testing.T) {
	compiled, err := jsonschema.NewCompiler().Compile("../schema/run.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	r := sample("a")
	docs := map[string][]byte{"full": history.Encode(&r), "empty": history.Encode(&schema.Run{ID: "b"})}
	for name, doc := range docs {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := compiled.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad, _ := jsonschema.UnmarshalJSON(strings.NewReader(`{"schema":"ttreport/v1","id":"x","model":{},"device":{},` +
		`"stack":{},"points":[{"key":{}}],"scores":[],"targets":[],"provenance":{},"problems":[]}`))
	if compiled.Validate(bad) == nil {
		t.Error("the schema accepts anything")
	}
}

func TestSameRunSameBytes(t *testing.T) {
	r := sample("a")
	first := history.Encode(&r)
	for range 5 {
		if !bytes.Equal(first, history.Encode(&r)) {
			t.Fatal("two writings of one run differ")
		}
	}
	again, problem := history.Decode("a.json", first)
	if problem != nil {
		t.Fatal(problem)
	}
	if second := history.Encode(&again); !bytes.Equal(first, second) {
		t.Fatalf("a read and a write changed the document:\n%s\n%s", first, second)
	}
	if drafttest.Metric(again.Points[0], "ttft").Detail().Quantiles[0] != drafttest.Metric(r.Points[0],
		"ttft").Detail().Quantiles[0] ||
		!reflect.DeepEqual(drafttest.Metric(again.Points[0], "ttft").Detail().Quantiles, drafttest.Metric(r.Points[0],
			"ttft").Detail().Quantiles) {
		t.Error("a distribution was changed")
	}
	if v, ok := again.Scores[1].Value.Get(); ok || again.Scores[1].Value.Why() == "" {
		t.Errorf("an absent score came back as %v", v)
	}
}

func TestUnknownFieldsSurvive(t *testing.T) {
	r := sample("a")
	var doc map[string]any
	if err := json.Unmarshal(history.Encode(&r), &doc); err != nil {
		t.Fatal(err)
	}
	mark := map[string]any{"new": []any{1.0, "two", nil}}
	point := doc["points"].([]any)[0].(map[string]any)
	places := []map[string]any{doc, doc["model"].(map[string]any), doc["device"].(map[string]any),
		doc["stack"].(map[string]any), doc["extra"].(map[string]any), point, point["key"].(map[string]any),
		point["source"].(map[string]any),
		point["metrics"].(map[string]any)["ttft"].(map[string]any), doc["scores"].([]any)[0].(map[string]any),
		doc["targets"].([]any)[0].(map[string]any), doc["problems"].([]any)[0].(map[string]any)}
	for _, p := range places {
		p["from_the_future"] = mark
	}
	future, _ := json.Marshal(doc)
	run, problem := history.Decode("a.json", future)
	if problem != nil {
		t.Fatal(problem)
	}
	if n := bytes.Count(history.Encode(&run), []byte(`"from_the_future":{"new":[1,"two",null]}`)); n != len(places) {
		t.Errorf("%d of %d unknown fields survived", n, len(places))
	}
}

// A point takes at most 2 KiB, and its course at most 1 KiB more.
func TestPointsAreSmall(t *testing.T) {
	bare, full := sample("a"), sample("a")
	bare.Points[0].Slices = schema.Slices{}
	var course schema.Slices
	for _, name := range []string{"ttft", "tpot", "output_tps", "running", "waiting", "kv", "power", "temperature"} {
		values := slices.Repeat([]float64{12345.6, .000123, 98.7, 0}, schema.MostSlices/4)
		course.Series = append(course.Series, schema.SliceOf{Name: name, Values: values})
	}
	full.Points[0].Slices = course
	small, large := pointLine(t, bare), pointLine(t, full)
	if len(small) > 2048 || len(large) > 3072 {
		t.Errorf("a point takes %d bytes, %d with its course:\n%s", len(small), len(large), large)
	}
}

// pointLine is the line of a run's document with its first point.
func pointLine(t *testing.T, r schema.Run) []byte {
	t.Helper()
	for _, line := range bytes.Split(history.Encode(&r), []byte("\n")) {
		if bytes.HasPrefix(line, []byte(`{"client"`)) {
			return line
		}
	}
	t.Fatal("no line with the point")
	return nil
}

// Documents that are hidden, packed, linked or no files are said to be lost.
func TestHiddenDocuments(t *testing.T) {
	dir := t.TempDir()
	if _, err := history.Put(dir, sample("run"), false); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "o.json")
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, ".v1.json"), []byte("{}"), 0o600),
		os.WriteFile(filepath.Join(dir, "v2.json.gz"), []byte("{}"), 0o600),
		os.WriteFile(filepath.Join(dir, "v3.JSON"), []byte("{}"), 0o600),
		os.WriteFile(filepath.Join(dir, "README.md"), []byte("# ours"), 0o600),
		os.WriteFile(out, []byte("{}"), 0o600),
		os.Symlink(out, filepath.Join(dir, "v4.json")),
		os.Symlink("/proc", filepath.Join(dir, "v5")),
		os.Symlink("/nowhere", filepath.Join(dir, "v6.json")),
		syscall.Mkfifo(filepath.Join(dir, "v7.json"), 0o600),
		os.Mkdir(filepath.Join(dir, "v8.json"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c, problems := load(t, dir)
	if len(c.Runs) != 1 || len(problems) != 7 {
		t.Errorf("%d runs, %d problems: %v", len(c.Runs), len(problems), problems)
	}
	for _, p := range problems {
		if !p.Lost || p.Severity != schema.SevError {
			t.Errorf("%+v", p)
		}
	}
	if _, problems := load(t, filepath.Join(dir, "v6.json")); len(problems) != 1 {
		t.Errorf("a history that is a link to nothing: %v", problems)
	}
}

// A folder of the history that is a link leading out is not written through.
func TestPutStaysInHistory(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	run := sample("run")
	first, _, _ := strings.Cut(filepath.ToSlash(history.PathOf(&run)), "/")
	if err := os.Symlink(elsewhere, filepath.Join(dir, first)); err != nil {
		t.Fatal(err)
	}
	if _, err := history.Put(dir, run, false); err == nil {
		t.Error("stored without a word")
	}
	if list, _ := os.ReadDir(elsewhere); len(list) > 0 {
		t.Errorf("written: %v", list)
	}
}

func TestBadDocumentsAreNamedAndKept(t *testing.T) {
	dir := t.TempDir()
	if _, err := history.Put(dir, sample("good"), false); err != nil {
		t.Fatal(err)
	}
	r := sample("late")
	bad := map[string]string{
		"empty.json": "", "cut.json": string(history.Encode(&r)[:500]), "later.json": `{"schema":"ttreport/v2","id":"x"}`,
		"foreign.json": `{"a":1}`,
	}
	codes := map[string]string{
		"empty.json": "empty-file", "cut.json": "truncated-json", "later.json": "other-schema",
		"foreign.json": "other-schema",
	}
	for name, text := range bad {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, problems := load(t, dir)
	if len(c.Runs) != 1 || c.Runs[0].ID != "good" || len(problems) != len(bad) {
		t.Fatalf("%d runs, problems %v", len(c.Runs), problems)
	}
	for _, p := range problems {
		if want := codes[filepath.Base(p.Path)]; p.Code != want || p.Hint == "" {
			t.Errorf("%s: %s, want %s (hint %q)", p.Path, p.Code, want, p.Hint)
		}
	}
	for name, text := range bad {
		if now, _ := os.ReadFile(filepath.Join(dir, name)); string(now) != text {
			t.Errorf("%s was changed", name)
		}
	}
	// A document of a later schema is never overwritten.
	later := filepath.Join(dir, history.PathOf(&r))
	if err := os.WriteFile(later, []byte(bad["later.json"]), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := history.Put(dir, r, false); err == nil {
		t.Error("a document of a later schema was overwritten")
	}
	if now, _ := os.ReadFile(later); string(now) != bad["later.json"] {
		t.Error("a document of a later schema was changed")
	}
}

func TestTwoRunsOfOneID(t *testing.T) {
	dir := t.TempDir()
	a, b := sample("same"), sample("same")
	b.Device.Name = "t3k"
	for _, r := range []schema.Run{a, b} {
		if _, err := history.Put(dir, r, false); err != nil {
			t.Fatal(err)
		}
	}
	c, problems := load(t, dir)
	if len(c.Runs) != 2 || len(problems) != 1 || problems[0].Code != "run-id-taken" {
		t.Fatalf("%d runs, %v", len(c.Runs), problems)
	}
	for i, run := range c.ByPath() {
		want := [][2]string{{"same", ""}, {"same~2", "same"}}[i]
		if h := &c.Runs[run]; [2]string{h.ID, h.Stated} != want {
			t.Errorf("%s is %s, stated %q; want %v", h.Path, h.ID, h.Stated, want)
		}
	}
}

func TestUpdateKeepsWhatWasNotReadAgain(t *testing.T) {
	dir := t.TempDir()
	first := sample("a")
	if _, err := history.Put(dir, first, false); err != nil {
		t.Fatal(err)
	}
	now := sample("a")
	now.Points[0].Source = schema.Source{Path: "another.json", SHA256: strings.Repeat("c", 64), Format: "vllm-serve"}
	now.Points[0].Key.Concurrency = ptr(1)
	now.Scores = nil
	now.Targets = slices.Clone(now.Targets)
	now.Targets[0].Value = 1
	if _, err := history.Put(dir, now, false); err != nil {
		t.Fatal(err)
	}
	got, ok := history.Peek(dir, &now)
	if !ok || len(got.Points) != 2 || len(got.Scores) != 2 || len(got.Targets) != 1 || got.Targets[0].Value != 80 {
		t.Errorf("%d points, %d scores, targets %+v", len(got.Points), len(got.Scores), got.Targets)
	}
	if changed, err := history.Put(dir, got, false); err != nil || changed {
		t.Error("putting the same run again wrote something", err)
	}
}

func TestOneIDForTwoReleasesKeepsBoth(t *testing.T) {
	dir := t.TempDir()
	for _, release := range []string{"v1", "v2", "v3", "v2"} {
		r := sample("X")
		r.Release = release
		if _, err := history.Put(dir, r, false); err != nil {
			t.Fatal(err)
		}
	}
	c, problems := load(t, dir)
	got := map[string]string{}
	for i := range c.Runs {
		got[c.Runs[i].ID] = c.Runs[i].Release
	}
	if len(c.Runs) != 3 || got["X"] != "v1" || got["X~2"] != "v2" || got["X~3"] != "v3" || len(problems) != 0 {
		t.Errorf("%v %v", got, problems)
	}
}

// The version of the tool is a condition of a point, and what a collection wrote about its machine is a fact of the
// run.
func TestToolVersionsAndMachines(t *testing.T) {
	dir := t.TempDir()
	r := sample("a")
	r.Points[0].Source.ToolVersion = "2"
	r.Extra = schema.Unknown{"setting": []byte(`{"host":"lab-1","kernel":"6.1"}`), "other": []byte(`{"host":"x"}`)}
	if _, err := history.Put(dir, r, false); err != nil {
		t.Fatal(err)
	}
	c, problems, err := history.Load(context.Background(), dir)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	if got := c.Conds[c.Points[0].Cond]; got[columns.ToolVersion] != "2" {
		t.Errorf("%v", got)
	}
	if got := c.Runs[0].Setting; got["host"] != "lab-1" || got["kernel"] != "6.1" || len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// The tags of the structs and run.schema.json name the same members.
func TestStructsFitTheSchema(t *testing.T) {
	data, err := os.ReadFile("../schema/run.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]json.RawMessage
		Defs       map[string]json.RawMessage `json:"$defs"`
	}
	of := func(data json.RawMessage) (o object) {
		if err := json.Unmarshal(data, &o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	doc := of(data)
	for _, c := range []struct {
		of    any
		in    object
		extra string // members that are no fields
	}{
		{schema.Run{}, doc, "schema"}, {schema.Model{}, of(doc.Properties["model"]), ""},
		{schema.Device{}, of(doc.Properties["device"]), ""}, {schema.Stack{}, of(doc.Properties["stack"]), ""},
		{schema.Acceptance{}, of(doc.Properties["acceptance"]), ""},
		{schema.Interleaved{}, of(doc.Properties["interleaved"]), ""}, {schema.Key{}, of(doc.Defs["key"]), ""},
		{schema.Point{}, of(doc.Defs["point"]), ""}, {schema.Source{}, of(doc.Defs["source"]), ""},
		{struct {
			schema.Metric
			schema.Kind
			schema.Detail
		}{}, of(doc.Defs["metric"]), ""}, {schema.Score{}, of(doc.Defs["score"]), "missing"},
		{schema.Target{}, of(doc.Defs["target"]), ""}, {schema.Problem{}, of(doc.Defs["problem"]), ""},
	} {
		var fields []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(c.of)) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" {
				fields = append(fields, name)
			}
		}
		if c.extra != "" {
			fields = append(fields, c.extra)
		}
		slices.Sort(fields)
		if want := slices.Sorted(maps.Keys(c.in.Properties)); !slices.Equal(fields, want) {
			t.Errorf("%T has %v, the schema %v", c.of, fields, want)
		}
	}
}

// A document of countless empty points does not take all memory.
func TestObjectsAreLimited(t *testing.T) {
	text := `{"schema":"ttreport/v1","id":"x","points":[{}` + strings.Repeat(",{}", 1_000_000) + "]}"
	if _, problem := history.Decode("a.json", []byte(text)); problem == nil || problem.Code != "unsound-document" {
		t.Errorf("%+v", problem)
	}
}
