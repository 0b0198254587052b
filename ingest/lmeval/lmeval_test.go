package lmeval_test

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/lmeval"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

func file(text string) *decode.File {
	f := decode.NewFile("results.json", []byte(text), time.Time{}, decode.DefaultLimits())
	return &f
}

func find(r schema.Reading, task, metric, filter string) *schema.Score {
	for i := range r.Scores {
		if s := &r.Scores[i]; s.Task == task && s.Metric == metric && s.Filter == filter {
			return s
		}
	}
	return nil
}

// A genuine result of lm-eval 0.4.9.1 under --limit 10.
func TestRecorded(t *testing.T) {
	data, err := os.ReadFile("testdata/results.json")
	if err != nil {
		t.Fatal(err)
	}
	f := file(string(data))
	if m := lmeval.Reader.Detect(f); !m.OK() || m.Detail != "0.4.9.1" {
		t.Fatalf("%+v", m)
	}
	r := lmeval.Reader.Read(f)
	s := find(r, "demo_arith", "exact_match", "strict-match")
	if s == nil {
		t.Fatalf("scores %+v", r.Scores)
	}
	v, _ := s.Value.Get()
	se, _ := s.Stderr.Get()
	if v != .6 || se < .16 || s.N != 10 || s.Total != 60 || *s.Fewshot != 2 || *s.Limit != 10 ||
		s.Direction != "higher" || r.Facts.Model.ID != "acme/tiny-1" || r.Facts.Start.IsZero() {
		t.Errorf("%+v, model %q", s, r.Facts.Model.ID)
	}
}

func TestTraps(t *testing.T) {
	r := lmeval.Reader.Read(file(`{"results":{
		"a":{"alias":" - a","acc,none":0,"acc_stderr,none":"N/A","odd, name,flexible-extract":0.5,"sample_len":5},
		"group":{" ":" ","alias":"group"},
		"b":{"word_perplexity,none":NaN,"pass@1,create_test":"0.25"}},
		"n-samples":{"a":{"original":541,"effective":28}},"higher_is_better":{"a":{"acc":true}},` +
		`"config":{"model_args":{"pretrained":"acme/tiny"}}}`))
	zero := find(r, "a", "acc", "none")
	if v, ok := zero.Value.Get(); !ok || v != 0 {
		t.Error("a score of zero is a score")
	}
	if _, ok := zero.Stderr.Get(); ok || zero.N != 28 || zero.Total != 541 {
		t.Errorf("%+v", zero)
	}
	if find(r, "a", "odd, name", "flexible-extract") == nil {
		t.Errorf("the filter begins after the last comma: %+v", r.Scores)
	}
	if s := find(r, "b", "word_perplexity", "none"); s == nil || s.Value.Why() == "" {
		t.Errorf("NaN must be missing with its reason: %+v", s)
	}
	if v, _ := find(r, "b", "pass@1", "create_test").Value.Get(); v != .25 {
		t.Error("a number written as text was lost")
	}
	if len(r.Scores) != 4 || r.Facts.Model.ID != "acme/tiny" {
		t.Errorf("%d scores, model %q", len(r.Scores), r.Facts.Model.ID)
	}
}

func TestOldFormat(t *testing.T) {
	f := file(`{"results":{"arc":{"acc":0.3,"acc_stderr":0.01}},"versions":{"arc":0},` +
		`"config":{"model_args":"pretrained=EleutherAI/pythia-70m,revision=x","num_fewshot":5}}`)
	if m := lmeval.Reader.Detect(f); !m.OK() || m.Format != lmeval.Old {
		t.Fatalf("%+v", m)
	}
	r := lmeval.Reader.Read(f)
	s := find(r, "arc", "acc", "")
	if s == nil || *s.Fewshot != 5 || r.Facts.Model.ID != "EleutherAI/pythia-70m@x" {
		t.Errorf("%+v", r)
	}
	if se, _ := s.Stderr.Get(); se != .01 {
		t.Error("standard error was lost")
	}
}

// Checkpoints of one model are models of their own; a commit says which state of the model it is.
func TestRevisions(t *testing.T) {
	for revision, want := range map[string][2]string{
		"step1000": {"acme/tiny@step1000", ""}, "refs/pr/3": {"acme/tiny@refs-pr-3", ""}, "main": {"acme/tiny", ""},
		"0123456789abcdef0123456789abcdef01234567": {"acme/tiny", "0123456789abcdef0123456789abcdef01234567"},
	} {
		f := lmeval.Reader.Read(file(`{"results":{"arc":{"acc":0.3,"acc_stderr":0.01}},"versions":{"arc":0},` +
			`"config":{"model_args":"pretrained=acme/tiny,revision=` + revision + `"}}`)).Facts
		if f.Model.ID != want[0] || f.Stack.Commits[schema.ModelCommit] != want[1] {
			t.Errorf("%s: %q, %v", revision, f.Model.ID, f.Stack.Commits)
		}
	}
}

// BigScience's files have texts beside the metrics, some of which look like numbers.
func TestTextsAreNoMetrics(t *testing.T) {
	r := reader.Must(t, "x.json", `{"results":{"copa+4":{"task_name":"copa","prompt_name":"4","dataset_name":null,`+
		`"acc":0.3,"acc_stderr":0.01,"ppl":"NaN"}},"versions":{"copa+4":0},"config":{"model":"x"}}`)
	var got []string
	for _, s := range r.Scores {
		got = append(got, s.Metric)
	}
	if strings.Join(got, " ") != "acc ppl" {
		t.Error(got)
	}
}

var reader = drafttest.Reader{Detect: lmeval.Reader.Detect, Read: lmeval.Reader.Read}

const line = `{"doc_id":%d,"doc":{"q":"secret text"},"target":"a","arguments":{},"resps":[["x"]],` +
	`"filtered_resps":["x"],"filter":"%s","metrics":["acc","bleu"],"doc_hash":"d%d","prompt_hash":"p",` +
	`"target_hash":"t","acc":%d,"bleu":["a","b"]}` + "\n"

// Outcomes are kept as bits in the order of the items, the score is recomputed from them, and nothing else is kept.
func TestSamples(t *testing.T) {
	text := ""
	for _, filter := range []string{"strict", "loose"} {
		for i := 9; i >= 0; i-- { // concurrent requests come back in any order
			right := 0
			if i%2 == 0 || filter == "loose" {
				right = 1
			}
			text += fmt.Sprintf(line, i, filter, i, right)
		}
	}
	items := reader.Must(t, "out/samples_my_task_2026-11-21T02-22-13.273170.jsonl", text)
	if len(items.Scores) != 2 || items.Scores[0].Task != "my_task" || items.Scores[0].N != 10 {
		t.Fatalf("%+v", items.Scores)
	}
	results := lmeval.Reader.Read(file(`{"results":{"my_task":{"acc,strict":0.5,"acc_stderr,strict":0.16666666666666666,` +
		`"acc,loose":0.9}},"n-samples":{"my_task":{"original":60,"effective":10}}}`))
	if !lmeval.Combine(&results, items) {
		t.Fatal("items of the same task were not joined")
	}
	strict, loose := find(results, "my_task", "acc", "strict"), find(results, "my_task", "acc", "loose")
	if strict.From != "" || strict.Outcomes == nil || !strict.Outcomes.Right[0] || strict.Outcomes.Right[1] ||
		strict.Total != 60 {
		t.Errorf("%+v", strict)
	}
	if v, _ := loose.Value.Get(); v != 1 || loose.From != "recomputed" || drafttest.Codes(results) != "disagreement" {
		t.Errorf("%+v %v", loose, results.Problems)
	}
	if strict.Outcomes.Items != loose.Outcomes.Items {
		t.Error("the same items under two hashes")
	}
	compact, _ := strict.Outcomes.MarshalText()
	var got schema.Outcomes
	if err := got.UnmarshalText(compact); err != nil || !reflect.DeepEqual(&got, strict.Outcomes) {
		t.Errorf("outcomes changed by writing: %+v", got)
	}
	if se, _ := items.Scores[0].Stderr.Get(); math.Abs(se-.16666666666666666) > 1e-12 {
		t.Errorf("standard error %v", se)
	}
}

// Questions about one text are a group; a task whose documents have no such text, or each its own, has none. Items that
// are not the first ones keep their numbers.
func TestSamplesAboutOneText(t *testing.T) {
	read := func(texts ...string) schema.Score {
		lines := ""
		for i, about := range texts {
			lines += strings.Replace(fmt.Sprintf(line, i+5, "none", i, 1), `"q":"secret text"`, about, 1)
		}
		return reader.Must(t, "samples_t_2026-11-21T02-22-13.273170.jsonl", lines).Scores[0]
	}
	const a, b, c = `"passage":"a"`, `"passage":"b"`, `"q":"c"`
	if s := read(a, b, a); !slices.Equal(s.Outcomes.Clusters, []int{0, 1, 0}) ||
		!slices.Equal(s.Items, []string{"5", "6", "7"}) {
		t.Errorf("%+v %v", s.Outcomes, s.Items)
	}
	for _, texts := range [][]string{{a, b}, {a, a}, {c, c}, {a, a, c}} {
		if s := read(texts...); s.Outcomes.Clusters != nil {
			t.Errorf("%v: %v", texts, s.Outcomes.Clusters)
		}
	}
}

// Before 0.4.8 lines do not name their filter: the second pass over the documents is the second filter.
func TestSamplesWithoutFilter(t *testing.T) {
	text := ""
	for _, right := range []int{0, 1} {
		for i := range 4 {
			text += strings.Replace(fmt.Sprintf(line, i, "x", i, right), `"filter":"x","metrics":["acc","bleu"],`, "", 1)
		}
	}
	results := lmeval.Reader.Read(file(`{"results":{"t":{"acc,strict":0,"acc,loose":1}}}`))
	if !lmeval.Combine(&results, reader.Must(t, "samples_t_2026-11-21T02-22-13.jsonl", text)) ||
		len(results.Problems) > 0 || find(results, "t", "acc", "loose").Outcomes == nil {
		t.Errorf("%v %+v", results.Problems, results.Scores)
	}
}

func TestOtherShapes(t *testing.T) {
	array := reader.Must(t, "out/arc.jsonl",
		"[\n"+fmt.Sprintf(line, 0, "none", 0, 1)+","+fmt.Sprintf(line, 1, "none", 1, 0)+"]")
	if len(array.Scores) != 1 || array.Scores[0].N != 2 || array.Scores[0].Task != "arc" {
		t.Errorf("0.4.0's array: %+v", array.Scores)
	}
	lmms := reader.Must(t, "r.json",
		`{"lmms_eval_version":"0.3","date":"20250102_030405","results":{"mme":{"alias":"mme","score,none":1500.5,`+
			`"score_stderr,none":"N/A","score_stderr_clt,none":1.0}},"config":{"model_args":"pretrained=acme/vlm"}}`)
	if lmms.Format != lmeval.LMMs || len(lmms.Scores) != 1 || lmms.Facts.Start.Year() != 2025 ||
		lmms.Facts.Model.ID != "acme/vlm" {
		t.Errorf("%+v", lmms)
	}
	nested := reader.Must(t, "r.json",
		`{"results":{"copa":{"2022-10-27-12-34-56":{"acc":0.5,"acc_stderr":0.05},"2022-10-28-00-00-00":{"acc":0.6}}},`+
			`"versions":{"copa":0},"config":{"model_args":"pretrained=acme/old"}}`)
	if len(nested.Scores) != 1 || len(nested.More) != 1 || nested.Facts.Start.Day() != 27 ||
		nested.More[0].Facts.Start.Day() != 28 {
		t.Errorf("time stamps below a task: %+v", nested)
	}
}

func FuzzRead(f *testing.F) {
	reader.Fuzz(f, "samples_t_2026-11-21T02-22-13.jsonl",
		`{"results":{"a":{"acc,none":0.5}},"n-samples":{"a":{"original":5,"effective":3}}}`,
		`{"results":{"a":{"acc":0.5}},"versions":{}}`, `{"results":{"a":{"2022-10-27":{"acc":0.5}}},"versions":{}}`,
		fmt.Sprintf(line, 0, "x", 0, 1)+fmt.Sprintf(line, 1, "x", 1, 0))
}

// Grades between 0 and 1 are aggregated by the task, so a difference is reported and the stated value stays; a
// missing standard error is filled in, and one that the items contradict is replaced.
func TestGradesAndErrors(t *testing.T) {
	text := ""
	for i := range 4 {
		text += fmt.Sprintf(`{"doc_id":%d,"target":"a","arguments":{},"filtered_resps":["x"],"filter":"none",`+
			`"doc_hash":"d%d","f1":0.%d,"acc":%d.0}`+"\n", i, i, i+1, i%2)
	}
	for stated, want := range map[string]string{
		`"f1,none":0.25,"acc,none":0.5,"acc_stderr,none":"N/A"`:              "",
		`"f1,none":0.75,"acc,none":0.5,"acc_stderr,none":0.2886751345948129`: "disagreement",
		`"f1,none":0.25,"acc,none":0.5,"acc_stderr,none":0.1`:                "disagreement",
	} {
		results := lmeval.Reader.Read(file(`{"results":{"t":{` + stated + `}}}`))
		lmeval.Combine(&results, reader.Must(t, "samples_t.jsonl", text))
		if got := drafttest.Codes(results); got != want {
			t.Errorf("%s: %q, want %q: %v", stated, got, want, results.Problems)
		}
		if v, _ := find(results, "t", "f1", "none").Value.Get(); !strings.Contains(stated, fmt.Sprint(v)) {
			t.Errorf("%s: a grade was replaced by %v", stated, v)
		}
		if se, ok := find(results, "t", "acc", "none").Stderr.Get(); !ok || math.Abs(se-.2886751345948129) > 1e-9 {
			t.Errorf("%s: standard error %v", stated, se)
		}
	}
}

// A score states the group around its task, past groups without a score of their own; a circle ends.
func TestGroups(t *testing.T) {
	r := lmeval.Reader.Read(file(`{"results":{"mmlu":{"acc,none":0.6},"mmlu_anatomy":{"acc,none":0.5},` +
		`"mmlu_pro":{"acc,none":0.3},
		"a":{"acc,none":0.1}},"group_subtasks":{"mmlu":["mmlu_stem"],"mmlu_stem":["mmlu_anatomy"],"mmlu_pro":[],
		"a":["b"],"b":["a"],"leaderboard":["mmlu_pro"]}}`))
	want := map[string]string{"mmlu": "", "mmlu_anatomy": "mmlu", "mmlu_pro": "", "a": ""}
	for _, s := range r.Scores {
		if s.Group != want[s.Task] {
			t.Errorf("%s is in %q, want %q", s.Task, s.Group, want[s.Task])
		}
		delete(want, s.Task)
	}
	if len(want) > 0 {
		t.Errorf("no score of %v", want)
	}
}

// A list of shots, one a task of the command, is kept; it is a task's number only where all are the same.
func TestListsOfShots(t *testing.T) {
	for list, want := range map[string]int{"[2,3]": -1, "[5,5]": 5} {
		r := lmeval.Reader.Read(file(`{"results":{"jcq-1.1":{"acc":0.5},"jsquad-1.1":{"f1":0.25}},` +
			`"versions":{"jcq-1.1":1.1},` +
			`"config":{"model":"hf-causal","model_args":"pretrained=acme/m","num_fewshot":` + list + `}}`))
		if len(r.Scores) != 2 {
			t.Fatalf("%d scores", len(r.Scores))
		}
		for _, s := range r.Scores {
			if got := s.Fewshot; want < 0 && got != nil || want >= 0 && (got == nil || *got != want) {
				t.Errorf("%s of %s: %v", s.Task, list, got)
			}
			if string(s.Unknown["num_fewshot"]) != `"`+list+`"` {
				t.Errorf("%s of %s: %s", s.Task, list, s.Unknown)
			}
		}
	}
}

// How answers are drawn is a setting, written alike by files and by what the harness prints; which weights were
// measured is a commit.
func TestSampling(t *testing.T) {
	const want = `"do_sample=true, temperature=0.6"`
	for kwargs, want := range map[string]string{
		`{"temperature":0.6,"do_sample":true}`: want, `"temperature=0.6,do_sample=true"`: want, "null": "", "{}": "",
	} {
		r := lmeval.Reader.Read(file(`{"results":{"t":{"acc,none":0.5}},"config":{"model_args":"pretrained=acme/m",` +
			`"model_sha":"81cee02dd020268dced5fa1327e8555acce9c63c","gen_kwargs":` + kwargs + `},"versions":{"t":1}}`))
		got, commit := string(r.Scores[0].Unknown[schema.Settings]), r.Facts.Stack.Commits[schema.ModelCommit]
		if got != want || commit == "" {
			t.Errorf("%s: %s, want %s, of %q", kwargs, got, want, commit)
		}
	}
	r := lmeval.Tables.Read(drafttest.File("run.log", "hf ({'pretrained': 'acme/m'}), gen_kwargs: ({'temperature': 0.6, "+
		"'do_sample': True}), limit: None, num_fewshot: 5, batch_size: 1\n|Tasks|Version|Filter|n-shot|Metric|   |Value|   |"+
		"Stderr|\n|-|-|-|-|-|-|-|-|-|\n|t|1|none|5|acc|↑|0.5|±|0.01|\n"))
	if len(r.Scores) != 1 || string(r.Scores[0].Unknown[schema.Settings]) != want {
		t.Errorf("%+v", r.Scores)
	}
}

// A model that was loaded in 8 bit is another one, also by harness 0.3.
func TestLoadedInFewBits(t *testing.T) {
	for args, want := range map[string]string{
		`"pretrained=acme/m,use_accelerate=True,load_in_8bit=True"`: "true", `"pretrained=acme/m"`: "",
		`{"pretrained":"acme/m","load_in_8bit":true}`: "true", `{"pretrained":"acme/m","load_in_8bit":false}`: "",
	} {
		r := reader.Must(t, "r.json", `{"results":{"mgsm":{"acc":0.5,"acc_stderr":0.01}},"versions":{"mgsm":1.0},"config":`+
			`{"model":"hf","model_args":`+args+`,"num_fewshot":[4,5]}}`)
		s := r.Scores[0]
		if s.Unknown.Text("load_in_8bit") != want || s.Unknown.Text("num_fewshot") == "" {
			t.Errorf("%s: %v", args, s.Unknown)
		}
	}
}
