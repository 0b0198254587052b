package lmeval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/lmeval"
	"github.com/ttreport/ttreport/ingest/schema"
)

const printedTable = `loading…
hf (pretrained=acme/tiny-8b,dtype=bfloat16), gen_kwargs: (None), limit: 100.0, num_fewshot: None, batch_size: 8
|     Tasks      |Version|     Filter     |n-shot|  Metric   |   |Value |   |Stderr|
|----------------|------:|----------------|-----:|-----------|---|-----:|---|-----:|
|gsm8k           |      3|flexible-extract|     5|exact_match|↑  |0.9007|±  |0.0082|
|                |       |strict-match    |     5|exact_match|↑  |0.8848|±  |0.0088|
|mmlu            |      2|none            |      |acc        |↑  |0.6864|±  |0.0039|
| - humanities   |      2|none            |      |acc        |↑  |0.6012|±  |   N/A|
|wikitext        |      2|none            |     0|word_perplexity|↓  |9.7123|±  |N/A|

|Groups|Version|Filter|n-shot|Metric|   |Value |   |Stderr|
|------|------:|------|------|------|---|-----:|---|-----:|
|mmlu  |      2|none  |      |acc   |↑  |0.6864|±  |0.0039|
`

// Tables that the harness prints are its scores, of each model by themselves.
func TestTable(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a log", printedTable, "acme/tiny-8b: gsm8k exact_match flexible-extract .9007 higher 5 100, " +
			"gsm8k exact_match strict-match .8848 higher 5 100, mmlu acc none .6864 higher - 100, " +
			"humanities acc none .6012 higher - 100, wikitext word_perplexity none 9.7123 lower 0 100"},
		{"0.3", "|Task |Version|Metric|Value |   |Stderr|\n|-----|------:|------|-----:|---|-----:|\n" +
			"|boolq|      1|acc   |0.7780|±  |0.0073|\n", ": boolq acc  .778  - -"},
		{"two models in comments", "" +
			"# vllm (pretrained=/mnt/a/,x=1), gen_kwargs: (None), limit: None, num_fewshot: 0\n" +
			"# |Tasks|Version|Filter|n-shot|Metric| |Value |   |Stderr|\n# |Art|0|none|0|acc|↑|0.6667|±|0.0875|\n" +
			"# vllm (model=b/c), gen_kwargs: (None), limit: None, num_fewshot: 0\n" +
			"# |Tasks|Version|Filter|n-shot|Metric| |Value |   |Stderr|\n# |Art|0|none|0|acc|↑|0.7|±|0.0875|\n",
			"/mnt/a: Art acc none .6667 higher 0 -; b/c: Art acc none .7 higher 0 -"},
		{"arguments as Python prints them", "" +
			"local-completions ({'model': 'glm-5', 'base_url': 'http://h:1/v1'}), gen_kwargs: ({}), limit: None, " +
			"num_fewshot: 0\n|Tasks|Version|Filter|n-shot|Metric| |Value |   |Stderr|\n|Art|0|none|0|acc|↑|0.7340|±|0.0875|\n" +
			"\n|Groups|Version|Filter|n-shot|Metric| |Value |   |Stderr|\n|Art|0|none|0|acc|↑|0.734|±|0.0875|\n",
			"glm-5: Art acc none .734 higher 0 -"},
		{"rows on one line", "|Task |Version|Metric|Value |   |Stderr|\n|-----|------:|------|-----:|---|-----:|\n" +
			"|winogrande|0|acc|0.7514|_  |0.0121|\n\n" +
			"|Task |Version|Metric|Value |   |Stderr|\n" +
			"|-----|------:|------|-----:|---|-----:|  |arc_easy|0|acc|0.8813|_  |0.0066|\n" +
			"|     |       |acc_norm|0.8582|_  |0.0072|\n",
			": winogrande acc  .7514  - -, arc_easy acc  .8813  - -, arc_easy acc_norm  .8582  - -"},
		{"a heading behind a fence, and arguments of 0.3", "```\n" +
			"hf-causal (pretrained=a/b,dtype=auto), limit: None, provide_description: False, num_fewshot: 25, batch_size: 20\n" +
			"|Task |Version|Metric|Value |   |Stderr|\n|-----|------:|------|-----:|---|-----:|\n|arc|0|acc|0.5|±|0.1|\n```\n" +
			"hf-causal (pretrained=a/b,dtype=auto), limit: 10, provide_description: False, num_fewshot: 0, batch_size: 20\n" +
			"```|Task |Version|Metric|Value |   |Stderr|\n|----|--:|----|---:|---|---:|\n|arc|0|acc|0.6|±|0.1|\n```\n",
			"a/b: arc acc  .5  25 -, arc acc  .6  0 10"},
		{"two steps of a training", "" +
			"hf (pretrained=a/b,revision=step1000), gen_kwargs: (None), limit: None, num_fewshot: 0\n" +
			"|Tasks|Version|Filter|n-shot|Metric| |Value |   |Stderr|\n|Art|0|none|0|acc|↑|0.6667|±|0.0875|\n" +
			"hf (pretrained=a/b,revision=step2000), gen_kwargs: (None), limit: None, num_fewshot: 0\n" +
			"|Tasks|Version|Filter|n-shot|Metric| |Value |   |Stderr|\n|Art|0|none|0|acc|↑|0.7|±|0.0875|\n",
			"a/b@step1000: Art acc none .6667 higher 0 -; a/b@step2000: Art acc none .7 higher 0 -"},
		{"no table", "|Tasks|Version|\n", "no"},
	} {
		f := file(c.text)
		if !lmeval.Tables.Detect(f).OK() {
			if c.want != "no" {
				t.Errorf("%s: not detected", c.name)
			}
			continue
		}
		r := lmeval.Tables.Read(f)
		var all []string
		for _, one := range append([]schema.Reading{r}, r.More...) {
			var list []string
			for _, s := range one.Scores {
				x, _ := s.Value.Get()
				shots, limit := "-", "-"
				if s.Fewshot != nil {
					shots = fmt.Sprint(*s.Fewshot)
				}
				if s.Limit != nil {
					limit = fmt.Sprint(*s.Limit)
				}
				value := strings.TrimPrefix(fmt.Sprint(x), "0")
				list = append(list, strings.Join([]string{s.Task, s.Metric, s.Filter, value, s.Direction, shots, limit}, " "))
			}
			all = append(all, one.Facts.Model.ID+": "+strings.Join(list, ", "))
		}
		if got := strings.Join(all, "; "); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
	for _, row := range []string{"|arc|0|acc|0.5|±|0.1|0.7|x|\n", "|   | |acc|0.5|±|0.1|\n", "|arc|0|acc|\n"} {
		f := file("|Task |Version|Metric|Value |   |Stderr|\n|-----|------:|------|-----:|---|-----:|\n" + row)
		if r := lmeval.Tables.Read(f); len(r.Scores) != 0 || len(r.Problems) != 1 || r.Problems[0].Line != 3 {
			t.Errorf("%q: %d scores, %v", row, len(r.Scores), r.Problems)
		}
	}
	// Names of JSON: an alias begins a task, and a standard error is of the metric above it.
	r := lmeval.Tables.Read(file("|Task |Version|Metric|Value |   |Stderr|\n|-----|------:|------|-----:|---|-----:|\n" +
		"|arc|0|acc,none|0.47| | |\n| | |acc_stderr,none|0.01| | |\n|mmlu|0|alias|- m| | |\n| | |acc,none|0.33| | |\n"))
	if s := r.Scores; len(s) != 2 || s[0].Metric != "acc" || s[0].Filter != "none" || s[0].Stderr != schema.Num(.01) ||
		s[1].Task != "mmlu" || len(r.Problems) > 0 {
		t.Errorf("%+v, %v", s, r.Problems)
	}
	// After a second line of one model they are of the scores below it.
	again := "hf (pretrained=a/b), gen_kwargs: (None), limit: None, num_fewshot: 0\n" +
		"|Task |Version|Metric|Value |\n|-----|------:|------|-----:|\n|arc|0|acc,none|0.47|\n| | |acc_stderr,none|"
	r = lmeval.Tables.Read(file(again + "0.01|\n" + again + "0.02|\n"))
	if s := r.Scores; len(s) != 2 || s[0].Stderr != schema.Num(.01) || s[1].Stderr != schema.Num(.02) {
		t.Errorf("%+v, %v", s, r.Problems)
	}
	f := file(strings.Replace(printedTable, "|acc   |↑  |0.6864", "|acc   |↑  |0.7", 1))
	if r := lmeval.Tables.Read(f); len(r.Scores) != 5 || len(r.Problems) != 1 || r.Problems[0].Code != "table-again" {
		t.Errorf("another number under one name: %d scores, %v", len(r.Scores), r.Problems)
	}
}
