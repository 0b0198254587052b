package table_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/ttreport/ttreport/ingest/schema"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
	"github.com/ttreport/ttreport/ingest/table"
)

// A proposal maps what a heading names with its unit, and nothing else: lengths that a tool counted, rates without a
// unit and latencies of nobody knows what are left to a person.
func TestPropose(t *testing.T) {
	for head, want := range map[string]string{
		"model,GPU Type,max_concurrency,Mean TTFT (ms),P99_TTFT_ms,output tokens/s,req_per_sec": "model: model|" +
			"GPU Type: device|max_concurrency: concurrency|Mean TTFT (ms): ttft mean ms|P99_TTFT_ms: ttft p99 ms|" +
			"output tokens/s: output_tps tok/s|req_per_sec: rps req/s",
		"e2e_latency_avg_s;time_to_first_token_p50_ms;throughput;completion_tokens;ttft": "" +
			"e2e_latency_avg_s: e2el mean s|time_to_first_token_p50_ms: ttft median ms|" +
			"# say what these are, such as output_tps tok/s: throughput, ttft",
		"ttft_ms,ttft_ms,cold_ttft_ms,latency_ms,tps": "ttft_ms: ttft mean ms|" +
			"# say what these are, such as output_tps tok/s: cold_ttft_ms, latency_ms, tps",
		"context_len,prompt_tokens,spec_decode,kv_cache_dtype,configured_rps,output_tok_s,decode_tok_s": "" +
			"spec_decode: dim spec_decode|kv_cache_dtype: dim kv_cache_dtype|configured_rps: rate|" +
			"output_tok_s: output_tps tok/s|prompt_tokens: isl # if it was asked for, and not counted|" +
			"# say what these are, such as output_tps tok/s: decode_tok_s",
		"e2e_ttft (ms),e2e_p99_ms,e2e_mean_itl_ms,dp_size,dp": "e2e_ttft (ms): ttft mean ms|e2e_p99_ms: e2el p99 ms|" +
			"e2e_mean_itl_ms: itl mean ms|dp_size: dim dp",
		"ttft_sum_ms,ttft_total_s,itl_stddev_ms,tpot_delta_ms,tpot_ms": "itl_stddev_ms: itl std ms|tpot_ms: tpot mean ms|" +
			"# say what these are, such as output_tps tok/s: ttft_sum_ms, ttft_total_s, tpot_delta_ms",
		"ctx_size,n_prompt,n_gen,ttft_ms,avg_ts": "ttft_ms: ttft mean ms|" +
			"n_prompt: isl # if it was asked for, and not counted|n_gen: osl # if it was asked for, and not counted|" +
			"# say what these are, such as output_tps tok/s: avg_ts",
		"created,model_id,tpot_ms":     "created: start|model_id: model|tpot_ms: tpot mean ms",
		"Created At,itl_p99_ms,reqs/s": "Created At: start|itl_p99_ms: itl p99 ms|reqs/s: rps req/s",
		"model,ttft,throughput":        "model: model|# say what these are, such as output_tps tok/s: ttft, throughput",
		"id,throughput":                "", "": "", "\"": "",
		"prompt_tokens,gen_tokens,ttft_ms": "ttft_ms: ttft mean ms|" +
			"prompt_tokens: isl # if it was asked for, and not counted|" +
			"gen_tokens: osl # if it was asked for, and not counted",
		"prompt_tps,predicted_tps,predicted_per_second": "prompt_tps: input_tps tok/s|predicted_tps: output_tps tok/s|" +
			"# say what these are, such as output_tps tok/s: predicted_per_second",
		"quant,decode_tps,prefill_tps,pp_tok_s,tps": "quant: dim quant|decode_tps: output_tps tok/s|" +
			"prefill_tps: input_tps tok/s|# say what these are, such as output_tps tok/s: pp_tok_s, tps",
		"Output Throughput (tok/s),req_throughput_req_s,ttft_ms_p50,avg_sequence_latency(ms),token_throughput(tok/sec)": "" +
			"Output Throughput (tok/s): output_tps tok/s|req_throughput_req_s: rps req/s|ttft_ms_p50: ttft median ms|" +
			"avg_sequence_latency(ms): e2el mean ms|" +
			"# say what these are, such as output_tps tok/s: token_throughput(tok/sec)",
		"input_tok_throughput_tok_s,output_tok_throughput_tok_s,total_tok_throughput_tok_s": "" +
			"input_tok_throughput_tok_s: input_tps tok/s|output_tok_throughput_tok_s: output_tps tok/s|" +
			"total_tok_throughput_tok_s: total_tps tok/s",
	} {
		lines := strings.Split(table.Propose([]byte(head)), "\n      ")
		if got := strings.Join(lines[1:], "|"); got != want {
			t.Errorf("%s: %q, want %q", head, got, want)
		}
	}
}

// Of JSON a list of rows is proposed before an object that may be one, with what the file states of all of them.
func TestProposeRows(t *testing.T) {
	f := File("sweep-1.json", `{"model":"m","n":2,"capacity_by_slo_ms":{"500":{"ttft_p95_ms":1},"900":{"ttft_p95_ms":2}},`+
		`"steps":[{"concurrency":2,"ttft_p95_ms":12.5},{"concurrency":4,"ttft_p95_ms":19.5}]}`)
	want := "    rows: steps\n    columns:\n      concurrency: concurrency\n" +
		"      ttft_p95_ms: ttft p95 ms\n      /model: model"
	if got := table.ProposeJSON(f.First); strings.ReplaceAll(got, `"/model"`, "/model") != want {
		t.Errorf("%s", got)
	}
}

// Rows in several members are proposed together: the mapping of one of them would pass over the others.
func TestProposeAllMembers(t *testing.T) {
	for text, workloads := range map[string]int{`{"_meta":{"schema":2},"coder-30b":{"1024":{"ttft_ms":52.5,"tpot_ms":5},` +
		`"deep":{"ttft_ms":370,"tpot_ms":14}},"devstral":{"1024":{"ttft_ms":36.5,"tpot_ms":11}},` +
		`"gemma4":{"1024":{"ttft_ms":42.5,"tpot_ms":12}}}`: 4,
		// deeper than the members that are alike, whose names have dots
		`{"MiniMax-M2.7":{"data":[{"ttft_ms":1},{"ttft_ms":2}]},"Qwen3.5":{"data":[{"ttft_ms":3},{"ttft_ms":4}]}}`: 2,
	} {
		proposeAllMembers(t, text, workloads)
	}
}

// follow is the mapping that is proposed for a file, as ttreport.yaml would have it.
func follow(t *testing.T, file, rest string) table.Table {
	t.Helper()
	text := table.Hint("begin with:", table.Proposal{Files: file, Rest: rest})
	var said struct {
		Tables []table.Mapping `yaml:"tables"`
	}
	if err := yaml.Unmarshal([]byte(strings.TrimPrefix(text, "begin with:")), &said); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	tables, err := table.Compile(said.Tables)
	if err != nil || len(tables) != 1 {
		t.Fatalf("%v\n%s", err, text)
	}
	if before, list := table.Proposed(text); before != "begin with:" || len(list) != 1 || list[0].Rest != rest {
		t.Errorf("%q of %s", list, text)
	}
	return tables[0]
}

func proposeAllMembers(t *testing.T, text string, workloads int) {
	t.Helper()
	f := File("base.json", text)
	got := table.ProposeJSON(f.First)
	read := follow(t, "base.json", got).Read(File("base.json", text))
	keys := map[string]bool{}
	for _, p := range read.Points {
		keys[p.Key.String()] = true
	}
	if len(read.Points) != 4 && len(read.Points) != workloads || len(keys) != workloads {
		t.Errorf("%d points of %d workloads by\n%s", len(read.Points), len(keys), got)
	}
}

// A * stands for the items of a list, too. A file without any of the numbers that are mapped is no failed measurement.
func TestRowsInLists(t *testing.T) {
	tables, err := table.Compile([]table.Mapping{{Files: "a.json", Rows: "series.*.points",
		Columns: map[string]string{"c": "concurrency", "ttft_ms": "ttft mean ms"}}})
	if err != nil {
		t.Fatal(err)
	}
	r := tables[0].Read(File("a.json", `{"series":[{"points":[{"c":1,"ttft_ms":5}]},{"points":[{"c":2,"ttft_ms":7}]}]}`))
	if len(r.Points) != 2 || Codes(r) != "" {
		t.Errorf("%d points, %s", len(r.Points), Codes(r))
	}
	r = tables[0].Read(File("a.json", `{"series":[{"points":[{"c":1,"wait":{"ttft":5}}]}]}`))
	if len(r.Points) != 0 || Codes(r) != "missing-column other-file" {
		t.Errorf("%d points, %s", len(r.Points), Codes(r))
	}
}

// Members that are rows themselves, of several models, are not mapped one by one.
func TestProposeModels(t *testing.T) {
	proposeAllMembers(t, `{"devstral":{"tpot_ms":27.15},"coder":{"tpot_ms":33.68}}`, 2)
}

// A number that is not mapped is named, once for a file, and kept with whatever else a row has.
func TestUnmapped(t *testing.T) {
	tables, err := table.Compile([]table.Mapping{{Files: "a.json", Columns: map[string]string{
		"c": "concurrency", "ttft_ms": "ttft mean ms", "also_ms": "ttft mean ms", "lat": "tpot ms",
		"/e2el": "e2el mean ms",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	r := tables[0].Read(File("a.json", `{"c":1,"ttft_ms":5,"also_ms":7,"e2el":9.5,"scheduler":"fcfs",`+
		`"lat":{"mean":2,"p99":3},"decode_tok_s":5.5,"curve":[{"output_tok_s":7.5,"note":"slow"}]}`))
	Check(t, r)
	found := ""
	for _, p := range r.Problems {
		found += p.Code + " " + p.Found + "|"
	}
	const want = `two-columns "also_ms" and "ttft_ms" both mapped as ttft mean, with 7 and 5 in row 1|` +
		"unmapped numbers that are not mapped, called curve.0.output_tok_s, decode_tok_s|"
	if found != want || len(r.Points) != 1 || r.Points[0].Extra["scheduler"] == nil {
		t.Errorf("%s, want %s; %+v", found, want, r.Points)
	}
}

// A mapping that is proposed reads what it is proposed of, wherever the rows are, and what the objects around them say.
func TestProposedIsLiteral(t *testing.T) {
	for text, want := range map[string]string{
		`{"runs":{"a-3.1":{"v1.2":{"ttft_ms":5,"users":4}},"b-2.5":{"v1.2":{"ttft_ms":6,"users":4}}}}`: "" +
			"-/-/4 a-3.1 5; -/-/4 b-2.5 6; ",
		`{"a.b":{"c.d":[{"ttft_ms":5,"users":4}]}}`:            "-/-/4 of a.b/c.d 5; ",
		`{"x":{"y.z":[{"ttft_ms":5,"users":4}],"gpu":"n300"}}`: "n300 -/-/4 of y.z 5; ",
		`{"m.1":{"device":"n150","runs":[{"ttft_ms":5}]},"m.2":{"device":"n300","runs":[{"ttft_ms":6}]}}`: "" +
			"n150 of m.1 5; n300 of m.2 6; ",
		`[{"model":"a","runs":[{"ttft_ms":5,"users":4}]},{"model":"b","runs":[{"ttft_ms":6,"users":4}]}]`: "" +
			"a -/-/4 5; b -/-/4 6; ",
		`[{"runs":[{"ttft_ms":5,"users":4}]},{"runs":[{"ttft_ms":6,"users":4}]}]`:        "-/-/4 of 0 5; -/-/4 of 1 6; ",
		`{"model":"m","ttft_ms_summary":{"unit":"ms","median":5},"ttft_note_ms":"slow"}`: "m workload not stated median 5; ",
		// statistics below the name of a metric, and what is none
		`{"model":"m","metrics":{"ttft_ms":{"unit":"ms","median":5},"itl_ms":{"p99":7}}}`: "m workload not stated " +
			"median 5; ",
		`{"c1":{"ttft_ms":{"mean":5},"tpot_ms":{"p50":2}},"c8":{"ttft_ms":{"mean":9},"tpot_ms":{"p50":3}}}`: "" +
			"of c1 5; of c8 9; ",
		`[{"users":4,"ttft":{"p50_ms":5,"p99_ms":6}}]`:          "-/-/4 median 5; ",
		`{"model":"m","p50":{"ttft_ms":5},"p99":{"ttft_ms":9}}`: "m workload not stated median 5; ",
		`{"cases":{"gpu":"n150","one":{"rows":[{"ttft_ms":5}]},"two":{"rows":[{"ttft_ms":6}]}}}`: "" +
			"n150 of one 5; n150 of two 6; ",
	} {
		f := File("x.json", text)
		rest := table.ProposeJSON(f.First)
		r, got := follow(t, "x.json", rest).Read(f), ""
		for _, one := range append([]schema.Reading{r}, r.More...) {
			for _, p := range one.Points {
				ttft, isMean := p.Value("ttft", "mean")
				words := one.Facts.Model.ID + one.Facts.Device.Name + " " + p.Key.Workload()
				if !isMean {
					ttft, _ = p.Value("ttft", "median")
					words += " median"
				}
				got += strings.TrimLeft(fmt.Sprintf("%s %g; ", words, ttft), " ")
			}
		}
		if got != want || Codes(r) != "" {
			t.Errorf("%s: %q %s by\n%s", text, got, Codes(r), rest)
		}
	}
}

// What is proposed is a mapping that is accepted, whatever the headings are called.
func FuzzPropose(f *testing.F) {
	f.Add("model,ttft_ms")
	f.Add("a:b,'ttft' p99 ms,#itl_ms,- tpot_s,\"x\ny_ttft_ms\",output_tok/s")
	f.Fuzz(func(t *testing.T, head string) {
		if rest := table.Propose([]byte(head)); rest != "" {
			follow(t, "a.csv", rest)
		}
	})
}
