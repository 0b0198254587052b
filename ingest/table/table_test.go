package table_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
	"github.com/ttreport/ttreport/ingest/table"
)

func compile(t *testing.T, columns map[string]string) table.Table {
	t.Helper()
	tables, err := table.Compile([]table.Mapping{{Files: "sweeps/*.csv", Tool: "mine", Columns: columns}})
	if err != nil {
		t.Fatal(err)
	}
	return tables[0]
}

func columns() map[string]string {
	return map[string]string{
		"Batch": "concurrency", "In": "isl", "Out": "osl", "GPU": "device", "Model": "model", "Date": "start",
		"TTFT avg": "ttft mean s", "TTFT 99": "ttft p99 ms", "TPS": "output_tps tok/s", "Power": "power W lower",
		"Quant": "dim quantization", "Comment": "skip", "OK": "requests_ok",
	}
}

const sheet = "Model,GPU,Date,Batch,In,Out,TTFT avg,TTFT 99,TPS,Power,Quant,Comment,OK,Flags\n" +
	"acme/m,H100,2026-01-02,8,128,64,0.5,750,\"1,234.5\",350,fp8,ok,8,--x\n" +
	"acme/m,H100,2026-01-02,16,128,64,OOM,,,,fp8,boom,,--x\n" +
	"acme/m,A100,2026-01-03,16,128,64,1.5,2000,abc,300,fp8,,8,\n"

// A score says of how many questions it is where a column does.
func TestQuestions(t *testing.T) {
	r := compile(t, map[string]string{
		"m": "model", "acc": "score mmlu acc", "total": "questions mmlu", "x": "score x acc"}).
		Read(File("sweeps/a.csv", "m,acc,total,x\nA,0.9,30,0.5\n"))
	Check(t, r)
	if len(r.Scores) != 2 || r.Scores[0].N+r.Scores[1].N != 30 || Codes(r) != "" {
		t.Errorf("%+v", r.Scores)
	}
}

// A column may hold the scores of a task: rows of a leaderboard are of a model each.
func TestScores(t *testing.T) {
	r := compile(t, map[string]string{"name": "model", "Core": "score core acc", "mmlu": "score mmlu acc %"}).
		Read(File("sweeps/a.csv", "name,Core,mmlu\nA,0.31,41.5\nB,0.35,\n"))
	Check(t, r)
	if len(r.Points) != 0 || len(r.Scores) != 2 || len(r.More) != 1 || len(r.More[0].Scores) != 1 || Codes(r) != "" {
		t.Fatalf("%+v", r)
	}
	if v, _ := r.Scores[1].Value.Get(); v != .415 || r.Scores[1].Task != "mmlu" || r.Facts.Model.ID != "A" {
		t.Errorf("%+v of %+v", r.Scores[1], r.Facts)
	}
}

// A cell too many or too few moves the others under other headings: such a row is read by nobody, and counted.
func TestUnevenRows(t *testing.T) {
	text := "m,isl,ttft,tps,\n" + "A,128,13,103\n" + "A,256,13,0.77,103\n" + "A,13,103\n" + "A,512,14,99,\n" +
		"figure 3\n" + "# of one machine, a comment\n"
	r := compile(t, map[string]string{"m": "model", "isl": "isl", "ttft": "ttft ms", "tps": "output_tps tok/s"}).
		Read(File("sweeps/a.csv", text))
	Check(t, r)
	if len(r.Points) != 2 || Codes(r) != "uneven-rows" || !strings.Contains(r.Problems[0].Found, "2 of 6 rows") ||
		!strings.Contains(r.Problems[0].Found, "row 2 has 5") {
		t.Errorf("%+v", r)
	}
}

// A row is a point, with the units that the mapping states.
func TestRows(t *testing.T) {
	r := compile(t, columns()).Read(File("sweeps/a.csv", sheet))
	Check(t, r)
	if len(r.Points) != 2 || len(r.More) != 1 || len(r.More[0].Points) != 1 || Codes(r) != "bad-cell rows-failed" {
		t.Fatalf("%d points, %d more, %v", len(r.Points), len(r.More), r.Problems)
	}
	p := r.Points[0]
	Expect(t, p, map[string]float64{
		"ttft.mean": 500, "ttft.p99": 750, "output_tps.value": 1234.5, "power{W,lower}.value": 350, "requests_ok.value": 8,
	})
	if *p.Key.Concurrency != 8 || *p.Key.ISL != 128 || p.Key.Dims["quantization"] != "fp8" || p.Key.Tool != "mine" ||
		r.Facts.Device.Name != "H100" || r.Facts.Start.Day() != 2 || string(p.Extra["Flags"]) != `"--x"` {
		t.Errorf("%s of %+v, %v", p.Key, r.Facts, p.Extra)
	}
	oom := r.Points[1]
	if oom.Status != "failed" || *oom.Key.Concurrency != 16 || Metric(oom, "ttft").Kind().Why != "the row says OOM" {
		t.Errorf("%+v", oom)
	}
	empty := compile(t, columns()).Read(File("sweeps/a.csv", "Model,TPS\nm,\nm,n/a\n"))
	if len(empty.Points) != 2 || empty.Points[1].Status != "failed" || !strings.Contains(Codes(empty), "no-number") {
		t.Errorf("%+v", empty)
	}
	if r.More[0].Facts.Device.Name != "A100" || len(Metric(r.More[0].Points[0], "output_tps").Stats) != 0 {
		t.Errorf("%+v", r.More[0])
	}
}

// Semicolons separate cells where a comma is the decimal point.
func TestSemicolons(t *testing.T) {
	m := compile(t, map[string]string{"TTFT (s)": "ttft median s", "c": "concurrency", "gone": "osl"})
	r := m.Read(File("sweeps/a.csv", "c;TTFT (s)\n4;0,125\n"))
	if len(r.Points) != 1 || Codes(r) != "missing-column" {
		t.Fatalf("%+v", r)
	}
	Expect(t, r.Points[0], map[string]float64{"ttft.median": 125})
}

// A mapping without a unit, or with one of another kind, is refused before anything is read.
func TestMappingsAreChecked(t *testing.T) {
	for spec, want := range map[string]string{
		"ttft mean":         `state the unit of ttft: ttft mean ms`,
		"ttft":              `state the unit of ttft`,
		"output_tps ms":     `state the unit of output_tps: output_tps value tok/s`,
		"ttft average ms":   `"average" is not a statistic`,
		"wattage":           `"wattage" is neither a field`,
		"power W up":        `"power W up" is neither a field`,
		"":                  "it says nothing",
		"rps value furlong": "state the unit of rps",
	} {
		_, err := table.Compile([]table.Mapping{{Files: "*.csv", Columns: map[string]string{"A": spec}}})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `column "A"`) {
			t.Errorf("%q: %v, want %s", spec, err, want)
		}
	}
	for _, m := range []table.Mapping{
		{Columns: map[string]string{"A": "ttft ms"}}, {Files: "*.csv", Columns: map[string]string{"A": "isl"}},
		{Files: "*.csv", Columns: map[string]string{"A": "score mmlu acc", "B": "task"}},
	} {
		if _, err := table.Compile([]table.Mapping{m}); err == nil {
			t.Errorf("%+v was accepted", m)
		}
	}
}

func TestFind(t *testing.T) {
	list, err := table.Compile([]table.Mapping{
		{Files: "sweeps/*", Columns: columns()}, {Files: "sweeps/a*", Columns: columns()},
		{Files: "sweeps/*", Columns: columns(), Rows: "x.y"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := table.Find(list, "in/sweeps/a.csv"); len(got) != 2 {
		t.Errorf("%d of in/sweeps/a.csv: one of each kind of rows", len(got))
	}
	if got := table.Find(list, "in/other/a.csv"); len(got) != 0 {
		t.Error("in/other/a.csv is found")
	}
}

func FuzzRead(f *testing.F) {
	tables, err := table.Compile([]table.Mapping{{Files: "**", Columns: columns()}})
	if err != nil {
		f.Fatal(err)
	}
	Reader{
		Detect: func(*decode.File) schema.Match { return schema.Match{Format: table.Format, Has: []string{"it"}} },
		Read:   tables[0].Read,
	}.Fuzz(f, "x.csv", sheet, "c;TTFT avg\n4;0,125\n")
}

// Rows of which nothing is mapped are told where they have numbers that are called like one of a benchmark.
func TestRowsThatAreLeftOut(t *testing.T) {
	for text, want := range map[string]string{
		`{"Model":"a","TTFT avg":5}` + "\n" + `{"Model":"a","e2e_p99_ms":4100,"decode_tok_s":55}` + "\n" +
			`{"Model":"a","e2e_p99_ms":4200}` + "\n": "2 rows of 3 without a number in a column that is mapped; " +
			"there are numbers called decode_tok_s, e2e_p99_ms",
		`{"Model":"a","TTFT avg":5}` + "\n" + `{"Model":"a","n":4}` + "\n": "",
		"Model,TTFT avg,tpot_ms\na,5,\na,,7\n": "1 row of 2 without a number in a column that is mapped; " +
			"there are numbers called tpot_ms",
	} {
		r, got := compile(t, columns()).Read(File("sweeps/a.csv", text)), ""
		for _, p := range r.Problems {
			if p.Code == "rows-left-out" {
				got = p.Found
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Rows of other days are other runs; a time without seconds is one, and what is none is told once.
func TestDaysOfRows(t *testing.T) {
	tables, err := table.Compile([]table.Mapping{{Files: "a.csv", Columns: map[string]string{
		"when": "start", "model": "model", "c": "concurrency", "tps": "input_tps tok/s",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	f := decode.NewFile("a.csv", []byte("when,model,c,tps\n2026-05-07 20:00,m,1,5.5\n2026-05-07 21:30,m,2,6.5\n"+
		"2026-03-21,m,1,7.5\nlast week,m,4,8.5\nlast week,m,8,9.5\n"), time.Time{}, decode.DefaultLimits())
	r := tables[0].Read(&f)
	days, told := map[string]int{}, 0
	for _, one := range append([]schema.Reading{r}, r.More...) {
		days[one.Facts.Start.Format(time.DateTime)] += len(one.Points)
		for _, p := range one.Problems {
			if p.Code == "bad-cell" && strings.Contains(p.Found, "last week") {
				told++
			}
		}
	}
	want := map[string]int{"2026-05-07 20:00:00": 2, "2026-03-21 00:00:00": 1, "0001-01-01 00:00:00": 2}
	if !maps.Equal(days, want) || told != 1 {
		t.Errorf("%v, told %d times", days, told)
	}
}

// Scores say how they were asked by what is mapped as a dimension; what is not mapped is kept, and scores that nothing
// tells apart are reported once.
func TestSettingsOfScores(t *testing.T) {
	columns := map[string]string{"name": "model", "kv": "dim kv", "ppl": "score wikitext perplexity"}
	r := compile(t, columns).Read(File("sweeps/a.csv", "name,kv,note,ppl\nA,fp16,x,6.5\nA,int4,y,14\n"))
	if len(r.Scores) != 2 || Codes(r) != "" || r.Scores[1].Filter != "kv=int4" ||
		r.Scores[1].Unknown.Text("note") != "y" {
		t.Errorf("%+v %s", r.Scores, Codes(r))
	}
	delete(columns, "kv")
	r = compile(t, columns).Read(File("sweeps/a.csv", "name,kv,ppl\nA,fp16,6.5\nA,int4,14\nA,x,15\nB,fp16,7\nB,x,7\n"))
	if Codes(r) != "scores-alike" {
		t.Error(Codes(r))
	}
}

// A score with a percent sign is a share, whatever the column says; a latency in percent is none.
func TestPercent(t *testing.T) {
	tables, err := table.Compile([]table.Mapping{{Files: "a.csv", Columns: map[string]string{
		"acc": "score bfcl acc", "all": "score bfcl all %", "ttft": "ttft ms", "n": "dim n",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	r := tables[0].Read(File("a.csv", "acc,all,ttft,n\n35.50%,35.50%,5%,1\n0.25,25,7,2\n"))
	var values []string
	for _, s := range r.Scores {
		x, _ := s.Value.Get()
		values = append(values, fmt.Sprint(s.Metric, " ", x))
	}
	if got := strings.Join(values, ", "); got != "acc 0.355, all 0.355, acc 0.25, all 0.25" || Codes(r) != "bad-cell" {
		t.Errorf("%s; %s", got, Codes(r))
	}
}

// A heading may begin with a sign that keys have: one that no row has is told.
func TestHeadingLikeAKey(t *testing.T) {
	tables, err := table.Compile([]table.Mapping{{Files: "a.json", Columns: map[string]string{
		"@timestamp": "start", "c": "concurrency", "tps": "output_tps tok/s",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`[{"c":1,"tps":5.5}]`: "missing-column", `[{"@timestamp":"2026-05-07","c":1,"tps":5.5}]`: "",
	} {
		if r := tables[0].Read(File("a.json", text)); len(r.Points) != 1 || Codes(r) != want {
			t.Errorf("%s: %d points, %s", text, len(r.Points), Codes(r))
		}
	}
}

// What stands beside a mapped member of a nested object is kept, as a column is: it may tell two settings apart.
func TestMembersBesideMappedOnes(t *testing.T) {
	r := compile(t, map[string]string{"metadata.model": "model", "results.ttft_ms": "ttft mean ms"}).Read(File("a.json",
		`{"metadata":{"model":"m","policy":"sliding","tokens":256},"results":{"ttft_ms":12.5,"tbt_ms":8.5},"other":{"x":1}}`))
	Check(t, r)
	extra := r.Points[0].Extra
	if extra.Text("metadata.policy") != "sliding" || string(extra["metadata.tokens"]) != "256" ||
		string(extra["results.tbt_ms"]) != "8.5" || extra.Text("metadata.model") != "" {
		t.Errorf("%v", extra)
	}
}

// A mapping reads YAML as it does JSON; what is called so and has a mistake is named with its place.
func TestYAML(t *testing.T) {
	tables, err := table.Compile([]table.Mapping{{Files: "*.yml", Tool: "mine", Columns: map[string]string{
		"model": "model", "date": "start", "ttft.p99": "ttft p99 s", "pass_rate": "score polyglot pass@1 %",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	read := func(text string) schema.Reading {
		f := decode.NewFile("x.yml", []byte(text), time.Time{}, decode.DefaultLimits())
		return tables[0].Read(&f)
	}
	const one = "- model: acme/m\n  date: 2026-01-02\n  ttft: {p99: 1.5}\n  pass_rate: 20.4\n"
	r := read(one)
	Check(t, r)
	if len(r.Points) != 1 || len(r.Scores) != 1 || r.Facts.Start.IsZero() || len(r.Problems) != 0 {
		t.Fatalf("%d points, %d scores, %v", len(r.Points), len(r.Scores), r.Problems)
	}
	Expect(t, r.Points[0], map[string]float64{"ttft.p99": 1500})
	if x, _ := r.Scores[0].Value.Get(); x != .204 {
		t.Errorf("%v", x)
	}
	if r := read(one + "  model: acme/n\n"); len(r.Problems) != 1 || r.Problems[0].Code != "bad-yaml" ||
		!strings.Contains(r.Problems[0].Found, "already defined") || len(r.Points) != 0 {
		t.Errorf("a key that stands twice: %v", r.Problems)
	}
}
