package ingest_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest"
)

// inOrder shuffles paths, reads one after the other into a new history, and returns its folder and documents.
func inOrder(t *testing.T, seed uint64, paths []string) (history, documents string) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	history = t.TempDir()
	for _, name := range paths {
		_, documents = into(t, history, ingest.Options{}, name)
	}
	return history, documents
}

// below are the sorted paths of some files below a folder.
func below(dir string, texts map[string]string) (paths []string) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}

// A tree that is read file by file, in any order, gives the documents of the tree that is read at once; so does reading
// its folders and then the whole again.
func TestEveryOrder(t *testing.T) {
	const tree = "../testdata/recorded"
	var files, folders []string
	err := filepath.WalkDir(tree, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			folders = append(folders, name)
		} else if err == nil {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, want := into(t, t.TempDir(), ingest.Options{}, tree)
	for seed := range uint64(3) {
		for what, list := range map[string][]string{"files": files, "folders": folders} {
			history, now := inOrder(t, seed, list)
			if now != want {
				t.Fatalf("order %d of %s: %s", seed, what, firstDifference(now, want))
			}
			if got, again := into(t, history, ingest.Options{}, tree); got.Written != 0 || again != want {
				t.Fatalf("order %d of %s, then the tree: %d written: %s", seed, what, got.Written,
					firstDifference(again, want))
			}
		}
	}
}

// What was printed has the lengths that a file lacks, whichever of the two is read first.
func TestPrintedInEveryOrder(t *testing.T) {
	dir := t.TempDir()
	texts := map[string]string{}
	for i, seconds := range []float64{5.781234, 6.912345} {
		name, rate, ttft := fmt.Sprint("in/load", i), 10/seconds, 12*seconds
		texts[name+"/a-20260102-030405.json"] = fmt.Sprintf(`{"date":"20260102-0%d0405","model_id":"acme/M",`+
			`"num_prompts":10,"request_rate":"inf","max_concurrency":4,"duration":%g,"completed":10,"failed":0,`+
			`"total_input_tokens":1280,"total_output_tokens":640,"request_throughput":%g,"output_throughput":%g,`+
			`"total_token_throughput":%g,"mean_ttft_ms":%g,"mean_tpot_ms":7.9112}`,
			i+3, seconds, rate, 64*rate, 192*rate, ttft)
		texts[name+"/bench.log"] = fmt.Sprintf("Namespace(backend='vllm', dataset_name='random', max_concurrency=4, "+
			"model='acme/M', num_prompts=10, random_input_len=%d, random_output_len=80, request_rate=inf)\n"+
			"============ Serving Benchmark Result ============\nSuccessful requests:  10\n"+
			"Benchmark duration (s):  %.2f\nTotal input tokens:  1280\nTotal generated tokens:  640\n"+
			"Request throughput (req/s):  %.2f\nOutput token throughput (tok/s):  %.2f\n"+
			"Total Token throughput (tok/s):  %.2f\nMean TTFT (ms):  %.2f\nMean TPOT (ms):  7.91\n=====\n",
			128+i, seconds, rate, 64*rate, 192*rate, ttft)
	}
	printed := texts["in/load0/bench.log"]
	texts["in/load0/0-cut.log"] = printed[:strings.Index(printed, "====")] // the first attempt
	write(t, dir, texts, time.Time{})
	for name, text := range texts { // a clone
		write(t, dir, map[string]string{strings.Replace(name, "in/", "in/z-clone/", 1): text}, time.Time{})
	}
	files := below(dir, texts)
	_, want := into(t, t.TempDir(), ingest.Options{}, dir+"/in")
	if strings.Contains(want, `"status":"failed"`) || strings.Count(want, `"status"`) != 2 ||
		strings.Count(want, `"isl":128`) != 1 || strings.Count(want, "osl-mismatch") != 2 {
		t.Fatal(want)
	}
	for seed := range uint64(12) {
		history, now := inOrder(t, seed, files)
		if now != want {
			t.Fatalf("%v: %s", files, firstDifference(now, want))
		}
		if got, again := into(t, history, ingest.Options{}, dir+"/in"); got.Written != 0 || again != want {
			t.Fatalf("%v, then all: %d written: %s", files, got.Written, firstDifference(again, want))
		}
	}
}

// Scores of one name from files of several are told apart, in whatever order the files are read one by one.
func TestScoresInEveryOrder(t *testing.T) {
	texts := map[string]string{}
	for name, x := range map[string]string{"java": "0.86", "parallel": "0.1", "python": "0.7"} {
		texts["in/"+name+"_result.json"] = `{"results":{"bfcl":{"acc":` + x + `}},"versions":{"bfcl":1},` +
			`"config":{"model":"hf","model_args":"pretrained=acme/M","num_fewshot":4}}`
	}
	dir := write(t, t.TempDir(), texts, time.Time{})
	filters := func(documents string) string {
		return strings.Join(regexp.MustCompile(`"filter":"[^"]*"`).FindAllString(documents, -1), ", ")
	}
	_, want := into(t, t.TempDir(), ingest.Options{}, dir+"/in")
	if strings.Count(filters(want), "file ") != 3 {
		t.Fatal(want)
	}
	files := below(dir, texts)
	for seed := range uint64(6) {
		_, now := inOrder(t, seed, files)
		if filters(now) != filters(want) {
			t.Fatalf("%v: %s, want %s", files, filters(now), filters(want))
		}
	}
}

// When a run began and ended does not depend on which of its files was read first.
func TestTimesInEveryOrder(t *testing.T) {
	eval := func(start, seconds int, acc string) string {
		return fmt.Sprintf(`{"results":{"wikitext":{"acc,none":%s}},"versions":{"wikitext":2},"config":{"model":"hf",`+
			`"model_args":"pretrained=acme/M"},"date":%d.5,"total_evaluation_time_seconds":"%d"}`, acc, start, seconds)
	}
	log := "hf (pretrained=acme/M), gen_kwargs: (None), limit: None, num_fewshot: None, batch_size: 1\n" +
		"|Tasks|Version|Filter|n-shot|Metric|   |Value |   |Stderr|\n|---|---|---|---|---|---|---|---|---|\n" +
		"|wikitext|2|none|0|acc|↑|0.7132|±|0.01|\n"
	for name, texts := range map[string]map[string]string{
		"two evals of one run": {
			"in/a.json": eval(1780853836, 30, "0.713214"), "in/b.json": eval(1780869383, 28, "0.713215"),
		},
		"a log of a folder with a day": {
			"in/20260607T173000Z_full/e/acme__M/results_2026-06-07T17-37-42.352647.json": eval(1780853836, 30, "0.713214"),
			"in/20260607T173000Z_full/e/wikitext.log":                                    log,
		},
	} {
		dir := write(t, t.TempDir(), texts, time.Time{})
		_, want := into(t, t.TempDir(), ingest.Options{}, dir+"/in")
		files := below(dir, texts)
		for range 2 {
			slices.Reverse(files)
			history := t.TempDir()
			var now string
			for _, file := range files {
				_, now = into(t, history, ingest.Options{}, file)
			}
			if now != want {
				t.Errorf("%s: %v: %s", name, files, firstDifference(now, want))
			}
		}
	}
}

// A score that a log or a script repeats counts once, whichever is read first: under the alias that the harness prints,
// and in a list of what several files hold, each with the name of its file.
func TestScoresOfOthersInEveryOrder(t *testing.T) {
	const file = "in/r/acme__M-8bit/results_2026-06-07T17-37-42.352647.json"
	eval := `{"results":{"mmlu_generative":{"alias":"mmlu (generative)","exact_match,none":0.31},` +
		`"mmlu_virology_generative":{"alias":"  - virology","exact_match,none":0.4123}},` +
		`"versions":{"mmlu_generative":3},"config":{"model":"hf","model_args":"pretrained=acme/M-8bit"},"date":1780853836.5}`
	for name, other := range map[string][2]string{
		"a log with aliases": {"in/r/mmlu.log", "hf (pretrained=acme/M-8bit), gen_kwargs: (None), limit: None, " +
			"num_fewshot: None\n" +
			"|Tasks|Version|Filter|n-shot|Metric|   |Value |   |Stderr|\n|---|---|---|---|---|---|---|---|---|\n" +
			"|mmlu (generative)|3|none|0|exact_match|↑|0.3100|±|0.01|\n| - virology|3|none|0|exact_match|↑|0.4123|±|0.01|\n"},
		"a list": {"in/summary_20260607T181303Z.json", `[{"model_id":"M","wall_s":12.5,"results_file":"/home/me/` + file +
			`","results":{"mmlu_generative":{"exact_match,none":0.31},` +
			`"mmlu_virology_generative":{"exact_match,none":0.4123}}},` +
			`{"model_id":"M","wall_s":1.5,"results_file":"/home/me/r/other/results_2026-06-08T17-37-42.352647.json",` +
			`"results":{"gsm8k":{"exact_match,none":0.5123}}}]`},
	} {
		texts := map[string]string{file: eval, other[0]: other[1]}
		dir := write(t, t.TempDir(), texts, time.Time{})
		_, want := into(t, t.TempDir(), ingest.Options{}, dir+"/in")
		n := strings.Count(want, `"metric":"exact_match"`)
		if hasMore := name == "a list"; hasMore && (n != 3 || !strings.Contains(want, "/M/")) || !hasMore && n != 2 {
			t.Fatalf("%s: %d scores in %s", name, n, want)
		}
		for seed := range uint64(4) {
			if _, now := inOrder(t, seed, below(dir, texts)); now != want {
				t.Errorf("%s: %s", name, firstDifference(now, want))
			}
		}
	}
}

// What only a copy of a measurement knows, by a manifest beside it, is known of the measurement, whichever of the two
// is read first: of a reformatted copy, of another form, and of scores.
func TestFactsOfACopyInEveryOrder(t *testing.T) {
	file := lengths(result("", "20260101-000000", 1))
	file = strings.NewReplacer("256.0", "256.1234567", ":10,", ":10.1234567,").Replace(file)
	eval := `{"results":{"gsm8k":{"acc,none":0.53125678}},"versions":{},"config":{},"date":1740830400.0}`
	table := "============ Serving Benchmark Result ============\nSuccessful requests:  8\n" +
		"Benchmark duration (s):  2.00\nRequest throughput (req/s):  4.00\nOutput token throughput (tok/s):  256.12\n" +
		"Mean TTFT (ms):  10.12\nMean TPOT (ms):  2.00\n=====\n"
	indented := func(text string) string { return strings.ReplaceAll(text, ",\"", ",\n  \"") }
	const facts = "model: {name: Tiny-1B}\ndevice: {name: h100}\nrelease: v1.2\n"
	for name, c := range map[string]struct{ first, copy, manifest string }{
		"a reformatted copy": {file, indented(file), facts}, "scores": {eval, indented(eval), facts},
		"another form":   {file, table, facts},
		"a device alone": {file, indented(file), "device: {name: h100}\n"},
	} {
		form := ".json"
		if name == "another form" {
			form = ".log"
		}
		texts := map[string]string{
			"in/raw/a.json": c.first, "in/kept/b" + form: c.copy, "in/kept/ttreport.manifest.yaml": c.manifest,
		}
		dir := write(t, t.TempDir(), texts, time.Time{})
		// Which of the two files a document names is not the question.
		place := regexp.MustCompile(`in/(raw/a|kept/b)\.\w+|"(sha256|format|path)":"[^"]*"`)
		_, want := into(t, t.TempDir(), ingest.Options{}, dir+"/in")
		want = place.ReplaceAllString(want, "")
		if strings.Count(want, `"name":"h100"`) != 1 || strings.Count(want, `"schema"`) != 1 {
			t.Errorf("%s: %s", name, want)
		}
		for _, order := range [][]string{{"raw", "kept"}, {"kept", "raw"}, {"raw", "", "kept"}} {
			history, now := t.TempDir(), ""
			for _, part := range order {
				_, now = into(t, history, ingest.Options{}, filepath.Join(dir, "in", part))
			}
			if now = place.ReplaceAllString(now, ""); now != want {
				t.Errorf("%s, %q: %s", name, order, firstDifference(now, want))
			}
		}
	}
}
