package vllm_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
	"github.com/ttreport/ttreport/ingest/vllm"
)

func file(text string) *decode.File {
	f := decode.NewFile("r.json", []byte(text), time.Time{}, decode.DefaultLimits())
	return &f
}

func read(t *testing.T, text string) schema.Reading {
	t.Helper()
	f := file(text)
	if m := vllm.Reader.Detect(f); !m.OK() {
		t.Fatalf("not detected: lacks %v", m.Lacks)
	}
	return vllm.Reader.Read(f)
}

func codes(r schema.Reading) string {
	var out []string
	for _, p := range r.Problems {
		out = append(out, p.Code)
	}
	return strings.Join(out, " ")
}

// result makes a file of our own with the keys of an era.
func result(members string) string {
	return `{"date":"20260102-030405","model_id":"acme/tiny","num_prompts":4,"request_rate":"inf","duration":2.0,` +
		`"completed":4,"total_input_tokens":40,"total_output_tokens":20,"request_throughput":2.0,"output_throughput":10.0` +
		members + `}`
}

const statsOf = `,"mean_ttft_ms":10,"median_ttft_ms":9,"p99_ttft_ms":20,"mean_tpot_ms":2,"median_tpot_ms":2,` +
	`"p99_tpot_ms":3`

func TestEras(t *testing.T) {
	for _, c := range []struct{ name, members, detail, metric string }{
		{"before 0.5.0: TPOT includes the first token", `,"input_throughput":20` + statsOf, "before v0.5.0", "ntpot"},
		{"0.5", `,"input_throughput":20,"mean_itl_ms":2,"std_ttft_ms":1` + statsOf, "", "tpot"},
		{"0.6.0 to 0.6.3", `,"total_token_throughput":30` + statsOf, "v0.6.0 to v0.6.3", "tpot"},
		{
			"0.6.4 to 0.9.1", `,"burstiness":1.0,"max_concurrency":8,"request_goodput:":1.5` + statsOf, "", "tpot",
		},
		{"0.8 to 0.10", `,"endpoint_type":"openai","request_goodput":null` + statsOf, "", "tpot"},
		{"0.11.1 on", `,"endpoint_type":"openai","backend":"openai","failed":0` + statsOf, "", "tpot"},
		{
			"Rust client", `,"failed":0,"steady_state":null,"failed_requests":[]` + statsOf, "", "tpot",
		},
	} {
		r := read(t, result(c.members))
		if r.Detail != c.detail {
			t.Errorf("%s: detail %q, want %q", c.name, r.Detail, c.detail)
		}
		p := r.Points[0]
		if v, ok := p.Value(c.metric, "mean"); !ok || v != 2 {
			t.Errorf("%s: no %s in %v", c.name, c.metric, p.Metrics)
		}
		if c.metric == "ntpot" && len(drafttest.Metric(p, "tpot").Stats) > 0 {
			t.Errorf("%s: a TPOT that includes the first token passes for TPOT", c.name)
		}
	}
}

func TestFacts(t *testing.T) {
	r := read(t, result(`,"max_concurrency":8,"request_goodput:":1.5,"p99.9_ttft_ms":33,"tokenizer_id":"/home/bob/tok",`+
		`"my_note":"x","random_input_len":"128","server_key":"hf_abcdefghijklmnopqrst"`+statsOf))
	p := r.Points[0]
	if *p.Key.Concurrency != 8 || p.Key.Rate != nil || *p.Key.ISL != 128 || p.Key.OSL != nil || p.Key.Tool != "vllm" {
		t.Errorf("key %+v", p.Key)
	}
	if v, _ := p.Value("ttft", "p99.9"); v != 33 {
		t.Error("p99.9 was lost")
	}
	if v, _ := p.Value("goodput_rps", "value"); v != 1.5 {
		t.Error("goodput with a colon was lost")
	}
	if v, _ := p.Value("isl", "mean"); v != 10 {
		t.Error("measured ISL is tokens over completed")
	}
	if v, _ := p.Value("tps_user", "value"); v != 500 {
		t.Error("speed per user is 1000 over mean TPOT")
	}
	if string(p.Extra["my_note"]) != `"x"` || strings.Contains(fmt.Sprint(p.Extra, p.Conditions), "bob") ||
		strings.Contains(fmt.Sprintf("%s", p.Extra), "hf_abc") {
		t.Errorf("extra %s, conditions %v", p.Extra, p.Conditions)
	}
	if r.Facts.Model.ID != "acme/tiny" || r.Facts.End.Format(time.RFC3339) != "2026-01-02T03:04:05Z" ||
		r.Facts.Start.Second() != 3 || r.Facts.StartNote == "" {
		t.Errorf("facts %+v", r.Facts)
	}
}

// Answers of one token each were cut there: they are no repeats of those that were not. A warm-up is no result.
func TestPrefillAlone(t *testing.T) {
	cut := strings.Replace(result(statsOf), `"total_output_tokens":20`, `"total_output_tokens":4`, 1)
	if osl := reader.Must(t, "x.json", cut).Points[0].Key.OSL; osl == nil || *osl != 1 {
		t.Error(osl)
	}
	if osl := reader.Must(t, "x.json", result(statsOf)).Points[0].Key.OSL; osl != nil {
		t.Error(*osl)
	}
	r := reader.Must(t, "x.json", result(statsOf+`,"type":"warmup"`))
	if len(r.Points) != 0 || len(r.Problems) != 1 || r.Problems[0].Code != "warm-up" {
		t.Errorf("%d points, %v", len(r.Points), r.Problems)
	}
}

func TestZeroIsNotANumber(t *testing.T) {
	r := read(t, `{"completed":0,"failed":4,"num_prompts":4,"duration":1,"output_throughput":0.0,"mean_ttft_ms":0.0,`+
		`"p99_ttft_ms":0.0,"std_ttft_ms":0,"mean_tpot_ms":0}`)
	p := r.Points[0]
	if p.Status != schema.StatusFailed || codes(r) != "all-failed" {
		t.Errorf("status %s, problems %s", p.Status, codes(r))
	}
	for _, m := range p.Metrics {
		name := m.Name()
		if strings.HasPrefix(name, "requests") || name == "error_rate" || name == "duration_s" {
			continue
		}
		if len(m.Stats) > 0 || m.Kind().Why == "" {
			t.Errorf("%s of a run in which all failed: %+v", name, m)
		}
	}
	r = read(t, result(`,"mean_itl_ms":0,"median_itl_ms":0`+statsOf))
	if m := drafttest.Metric(r.Points[0], "itl"); len(m.Stats) > 0 || m.Kind().Why == "" {
		t.Errorf("an ITL of zero: %+v", m)
	}
}

func TestPartialFailureWithoutFailedKey(t *testing.T) {
	r := read(t, strings.Replace(result(statsOf), `"num_prompts":4`, `"num_prompts":10`, 1))
	if v, _ := r.Points[0].Value("requests_failed", "value"); v != 6 ||
		r.Points[0].Status != schema.StatusPartial || codes(r) != "partly-failed" {
		t.Errorf("%v %s %s", v, r.Points[0].Status, codes(r))
	}
}

func TestSwappedE2ELIsSwappedBack(t *testing.T) {
	r := read(t, result(`,"total_token_throughput":30,"mean_e2el_ms":70,"median_e2el_ms":100`+statsOf))
	m := drafttest.Metric(r.Points[0], "e2el")
	if mean, _ := m.Stats.Get("mean"); mean != 100 || codes(r) != "swapped-e2el" {
		t.Errorf("mean %v, %s", mean, codes(r))
	}
}

// detailed makes a result whose statistics follow from its arrays.
func detailed(ttfts []float64, outs []int, gap float64, change func(map[string]any)) string {
	itls := make([][]float64, len(ttfts))
	errs := make([]string, len(ttfts))
	ins := make([]int, len(ttfts))
	sum, n, out := 0., 0, 0
	for i, v := range ttfts {
		ins[i] = 10
		itls[i] = []float64{}
		for j := 1; j < outs[i]; j++ {
			itls[i] = append(itls[i], gap)
		}
		sum, out, n = sum+v*1000, out+outs[i], n+1
	}
	m := map[string]any{
		"completed": n, "num_prompts": n, "duration": 2.0, "total_input_tokens": 10 * n,
		"total_output_tokens": out, "request_throughput": float64(n) / 2, "output_throughput": float64(out) / 2,
		"total_token_throughput": float64(out+10*n) / 2, "mean_ttft_ms": sum / float64(n), "input_lens": ins,
		"output_lens": outs, "ttfts": ttfts, "itls": itls, "errors": errs, "max_concurrency": 2,
	}
	change(m)
	b, _ := json.Marshal(m)
	return string(b)
}

func TestRecompute(t *testing.T) {
	good := detailed([]float64{.01, .02, .03}, []int{5, 5, 5}, .002, func(map[string]any) {})
	r := read(t, good)
	p := r.Points[0]
	if codes(r) != "" {
		t.Errorf("a good file has problems: %v", r.Problems)
	}
	ttft, tpot := drafttest.Metric(p, "ttft"), drafttest.Metric(p, "tpot")
	if v, _ := ttft.Stats.Get("mean"); math.Abs(v-20) > 1e-9 || ttft.Kind().From != "recomputed" || ttft.N != 3 ||
		len(ttft.Detail().Quantiles) != 33 {
		t.Errorf("%+v", ttft)
	}
	if v, _ := tpot.Stats.Get("mean"); math.Abs(v-2) > 1e-6 {
		t.Errorf("%+v", tpot)
	}
	lying := detailed([]float64{.01, .02, .03}, []int{5, 5, 5}, .002, func(m map[string]any) {
		m["mean_ttft_ms"] = 25.0
		m["p90_ttft_ms"] = 28.0
	})
	r = read(t, lying)
	if codes(r) != "disagreement" || !strings.Contains(r.Problems[0].Found, "25") ||
		!strings.Contains(r.Problems[0].Used, "20") {
		t.Errorf("%v", r.Problems)
	}
	if v, _ := r.Points[0].Value("ttft", "p90"); v != 28 {
		t.Errorf("a percentile that the file states was not recomputed: %v", v)
	}
}

// What arrived at a time that is not known is in no statistic, and a result that its client calls none has no latency.
func TestUndatedArrivals(t *testing.T) {
	undated := [][]int{{}, {0}, {-1, 2}}
	late := func(m map[string]any) { m["undated"], m["mean_ttft_ms"] = undated, 10. }
	p := read(t, detailed([]float64{.01, .02, .03}, []int{5, 5, 5}, .002, late)).Points[0]
	for metric, want := range map[string]int{"ttft": 1, "tpot": 2, "e2el": 2, "itl": 0} {
		if got := drafttest.Metric(p, metric).N; got != want {
			t.Errorf("%s is of %d values, want %d", metric, got, want)
		}
	}
	if got := drafttest.Stat(p, "ttft", "mean"); got != 10 || p.Status != schema.StatusOK {
		t.Errorf("mean TTFT %g, status %s", got, p.Status)
	}
	if why := drafttest.Metric(p, "itl").Kind().Why; !strings.Contains(why, "25% of the gaps are not known") {
		t.Errorf("there is no ITL: %s", why)
	}
	few := detailed([]float64{.01, .02}, []int{400, 5}, .002, func(m map[string]any) { m["undated"] = [][]int{{}, {2}} })
	if n := drafttest.Metric(read(t, few).Points[0], "itl").N; n != 399+2 {
		t.Errorf("ITL is of %d gaps, of 403 without two", n)
	}
	r := read(t, detailed([]float64{.01, .02, .03}, []int{5, 5, 5}, .002, func(m map[string]any) {
		late(m)
		m["busy_client"] = "this machine was too busy"
	}))
	p = r.Points[0]
	none := drafttest.Metric(p, "ttft")
	_, has := none.Stats.Get("mean")
	if has || p.Status != schema.StatusInvalid || codes(r) != "busy-client" ||
		none.Kind().Why != "this machine was too busy" {
		t.Errorf("%s, status %s, TTFT %+v", codes(r), p.Status, none)
	}
	if rate := drafttest.Stat(p, "output_tps", "value"); rate != 7.5 {
		t.Errorf("%g tok/s: a rate does not depend on when chunks were read", rate)
	}
}

// Where the TTFT of one request is known and the E2EL of another, the one may be above the other.
func TestUndatedEndsOfDifferentRequests(t *testing.T) {
	r := read(t, detailed([]float64{.02, .01, .01}, []int{2, 2, 2}, .002, func(m map[string]any) {
		m["undated"], m["mean_ttft_ms"] = [][]int{{1}, {0}, {}}, 15.
	}))
	a, b := drafttest.Stat(r.Points[0], "ttft", "mean"), drafttest.Stat(r.Points[0], "e2el", "mean")
	if a != 15 || b != 12 || codes(r) != "" {
		t.Errorf("TTFT %g, E2EL %g, %v", a, b, r.Problems)
	}
}

func TestHollowSuccess(t *testing.T) {
	r := read(t, detailed([]float64{.02, 0, .04, 0}, []int{5, 0, 5, 0}, .002, func(map[string]any) {}))
	p := r.Points[0]
	if v, _ := p.Value("ttft", "mean"); math.Abs(v-30) > 1e-9 || p.Status != schema.StatusPartial ||
		!strings.Contains(codes(r), "hollow-success") {
		t.Errorf("mean TTFT %v, %s, %v", v, p.Status, r.Problems)
	}
	if ok, _ := p.Value("requests_ok", "value"); ok != 2 {
		t.Errorf("%v requests count as completed", ok)
	}
	r = read(t, detailed([]float64{0, 0}, []int{0, 0}, 0, func(map[string]any) {}))
	if r.Points[0].Status != schema.StatusFailed || len(drafttest.Metric(r.Points[0], "ttft").Stats) > 0 {
		t.Errorf("a run of hollow successes alone: %+v", r.Points[0])
	}
}

func TestUnevenArrays(t *testing.T) {
	r := read(t, detailed([]float64{.01, .02}, []int{5, 5}, .002, func(m map[string]any) { m["output_lens"] = []int{5} }))
	if codes(r) != "uneven-arrays" {
		t.Errorf("%v", r.Problems)
	}
}

// Every percentile that a file states is kept, as its requests give it; one that they contradict is a problem.
func TestStatedPercentilesAreKept(t *testing.T) {
	r := read(t, detailed([]float64{.01, .02, .03}, []int{5, 5, 5}, .002, func(m map[string]any) {
		m["p80_ttft_ms"], m["p80_itl_ms"], m["p25_ttft_ms"] = 26.0, 2.0, 99.0
	}))
	for key, want := range map[[2]string]float64{
		{"ttft", "p80"}: 26, {"itl", "p80"}: 2, {"ttft", "p25"}: 15,
	} {
		if x, ok := r.Points[0].Value(key[0], key[1]); !ok || math.Abs(x-want) > 1e-6 {
			t.Errorf("%s is %v, want %v", key, x, want)
		}
	}
	if codes(r) != "disagreement" || !strings.Contains(r.Problems[0].Found, "p25_ttft_ms says 99") {
		t.Errorf("%v", r.Problems)
	}
}

func TestNotOurs(t *testing.T) {
	for name, text := range map[string]string{
		"sglang":     `{"completed":4,"output_throughput":1.0,"mean_ttft_ms":1,"mean_e2e_latency_ms":5}`,
		"harmonised": `{"completed":4,"mean_ttft_ms":1,"output_token_throughput":5}`,
		"throughput": `{"elapsed_time":1,"num_requests":2,"requests_per_second":2,"tokens_per_second":3}`,
		"seconds":    `{"completed":4,"mean_ttft":0.1}`,
		"array":      `[1,2]`, "text": `hello`, "nothing": ``,
	} {
		if m := vllm.Reader.Detect(file(text)); m.OK() || len(m.Lacks) == 0 {
			t.Errorf("%s is taken for vLLM's: %+v", name, m)
		}
	}
}

var reader = drafttest.Reader{Detect: vllm.Reader.Detect, Read: vllm.Reader.Read}

// Later clients: the Rust one, pooling, sweeps, the fork of TensorRT-LLM.
func TestRelatives(t *testing.T) {
	rust := reader.Must(t, "x.json",
		`{"completed":2,"failed_requests":[{"index":1,"error":"HTTP 500"}],"failed":1,"steady_state":{"mean_ttft_ms":9.5,`+
			`"window":{"duration_s":4.5}},"output_throughput":5.0,"mean_ttft_ms":10.0,"mode":"multi_turn","max_model_len":4096}`)
	if p := rust.Points[0]; p.Key.Dims["turns"] != "several" ||
		string(p.Extra["steady_state.window.duration_s"]) != "4.5" || !strings.Contains(rust.Problems[0].Found, "HTTP 500") {
		t.Errorf("%s %s %v %v", rust.Detail, p.Key, p.Extra, rust.Problems)
	}
	pooling := reader.Must(t, "x.json",
		`{"duration":1.0,"completed":10,"total_input_tokens":1000,"request_throughput":10.0,`+
			`"total_token_throughput":1000.0,"mean_e2el_ms":5.0,"p99_e2el_ms":9.0}`)
	if p := pooling.Points[0]; pooling.Format != vllm.Pooling || p.Key.Task != "pooling" || p.Status != schema.StatusOK {
		t.Errorf("%+v", p)
	}
	run := func(n int) string {
		return fmt.Sprintf(`{"run_number":%d,"date":"20260801-10000%d","model_id":"acme/tiny","completed":8,"failed":0,`+
			`"max_concurrency":2,"output_throughput":50.5,"mean_ttft_ms":10.25,"p99_ttft_ms":12.5,"max_num_seqs":4,`+
			`"max_concurrent_requests":6}`, n, n)
	}
	sweep := reader.Must(t, "summary.json", "["+run(0)+","+run(1)+"]")
	if len(sweep.Points) != 2 || sweep.Points[0].Key.Dims["max_num_seqs"] != "4" ||
		sweep.Points[0].Key.Dims["max_concurrent_requests"] != "" {
		t.Errorf("%d points, %s", len(sweep.Points), sweep.Points[0].Key)
	}
	warm := strings.Replace(run(0), "{", `{"type":"warmup",`, 1)
	other := strings.Replace(run(2), "acme/tiny", "acme/large", 1)
	several := reader.Must(t, "all.json", "["+warm+","+run(1)+","+other+","+run(3)+"]") // which somebody put together
	if several.Facts.Model.ID != "acme/tiny" || len(several.Points) != 2 || drafttest.Codes(several) != "warm-up" ||
		len(several.More) != 1 || several.More[0].Facts.Model.ID != "acme/large" || len(several.More[0].Points) != 1 {
		t.Errorf("%+v %d points, %+v", several.Facts, len(several.Points), several.More)
	}
	fork := reader.Must(t, "x.json",
		`{"completed":2,"output_throughput":5.0,"user_throughput":90.5,"request_goodput:":0.0,"mean_tpot_ms":10.0}`)
	drafttest.Expect(t, fork.Points[0], map[string]float64{"tps_user.value": 90.5, "goodput_rps.value": 0})
}

// The exchanged mean and median of v0.6.0 to v0.6.3 are recognised by the arrays, not by the version.
func TestSwapIsTold(t *testing.T) {
	swap := func(m map[string]any) {
		m["mean_e2el_ms"], m["median_e2el_ms"] = m["median_e2el_ms"], m["mean_e2el_ms"]
	}
	ttfts := []float64{.01, .02, .09, .3}
	r := read(t, detailed(ttfts, []int{5, 5, 5, 5}, .002, func(m map[string]any) {
		e2el := []float64{18, 28, 98, 308}
		m["mean_e2el_ms"], m["median_e2el_ms"] = (e2el[0]+e2el[1]+e2el[2]+e2el[3])/4, (e2el[1]+e2el[2])/2
		swap(m)
	}))
	if codes(r) != "swapped-e2el" || drafttest.Stat(r.Points[0], "e2el", "mean") != 113 {
		t.Errorf("%v %v", r.Problems, drafttest.Stat(r.Points[0], "e2el", "mean"))
	}
}

func FuzzRead(f *testing.F) {
	reader.Fuzz(f, "x.json", result(statsOf), detailed([]float64{.01, 0}, []int{5, 0}, .002, func(map[string]any) {}),
		detailed([]float64{.01, 2}, []int{5, 1}, .002, func(m map[string]any) {
			m["undated"], m["busy_client"] = [][]int{{4, -1}, {1e9}}, "x"
		}), "["+result(statsOf)+"]",
		`{"completed":1e300,"output_throughput":NaN,"ttfts":[1],"itls":[[-1e308]],"output_lens":[1e300],"duration":-1,`+
			`"mean_ttft_ms":Infinity}`)
}

// What a client of a server with speculative decoding states of it, and its input throughput, are metrics.
func TestLoadsOf2026(t *testing.T) {
	r := reader.Must(t, "a.json", `{"completed":10,"duration":2,"output_throughput":50,"mean_ttft_ms":5,`+
		`"input_throughput":512.5,"spec_decode_acceptance_rate":62.5,"spec_decode_acceptance_length":2.25,`+
		`"spec_decode_per_position_acceptance_rates":[0.75,0.5]}`)
	drafttest.Expect(t, r.Points[0], map[string]float64{
		"acceptance_rate_1.value": 75, "acceptance_rate_2.value": 50,
		"input_tps.value": 512.5, "acceptance_rate.value": 62.5, "acceptance_length.value": 2.25,
	})
}
