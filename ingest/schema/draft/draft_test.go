package draft_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// begin starts a point of a file with one JSON value.
func begin(text string) (*draft.Draft, decode.Value) {
	f := decode.NewFile("a.json", []byte(text), time.Time{}, decode.DefaultLimits())
	return draft.New(&f, &schema.Reading{Format: "test"}, f.First, "tool"), f.First
}

// value is the single value of a metric, NaN where there is none.
func value(d *draft.Draft, metric, stat string) float64 {
	v, ok := d.Point.Value(metric, stat)
	if !ok {
		return math.NaN()
	}
	return v
}

func codes(d *draft.Draft) string {
	var out []string
	for _, p := range d.Reading.Problems {
		out = append(out, p.Code)
	}
	return strings.Join(out, " ")
}

func TestRequests(t *testing.T) {
	n := func(v float64) *float64 { return &v }
	for name, c := range map[string]struct {
		ok, failed, asked *float64
		status            schema.Status
		failures, rate    float64 // requests_failed and error_rate, NaN for none
		codes             string
	}{
		"all completed":        {n(8), n(0), nil, schema.StatusOK, 0, math.NaN(), ""},
		"some failed":          {n(6), n(2), nil, schema.StatusPartial, 2, 25, "partly-failed"},
		"failures from asked":  {n(6), nil, n(8), schema.StatusPartial, 2, 25, "partly-failed"},
		"more than were asked": {n(9), nil, n(8), schema.StatusOK, math.NaN(), math.NaN(), ""},
		"none completed":       {n(0), n(8), nil, schema.StatusFailed, 8, 100, "all-failed"},
		"only failures stated": {nil, n(3), nil, schema.StatusFailed, 3, 100, "all-failed"},
		"nothing stated":       {nil, nil, nil, schema.StatusOK, math.NaN(), math.NaN(), ""},
	} {
		d, _ := begin(`{}`)
		d.Stat("ttft", schema.DefFirstChunk, "mean", 5)
		d.Requests(c.ok, c.failed, c.asked, ": refused")
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if d.Status != c.status || !same(value(d, "requests_failed", "value"), c.failures) ||
			!same(value(d, "error_rate", "value"), c.rate) || codes(d) != c.codes {
			t.Errorf("%s: status %s, %v, %s", name, d.Status, d.Metrics, codes(d))
		}
		if hasTTFT := len(drafttest.Metric(d.Point, "ttft").Stats) > 0; hasTTFT != (c.status != schema.StatusFailed) {
			t.Errorf("%s: TTFT %+v", name, drafttest.Metric(d.Point, "ttft"))
		}
	}
}

func TestDone(t *testing.T) {
	for name, c := range map[string]struct {
		fill         func(d *draft.Draft)
		metric, stat string
		want         float64 // NaN: missing
		why, codes   string
	}{
		"zero is not measured": {func(d *draft.Draft) { d.Stat("ttft", "", "mean", 0) },
			"ttft", "mean", math.NaN(), "the file says 0, which is not measured", "only-zeros"},
		"zero beside a number": {func(d *draft.Draft) {
			d.Stat("ttft", "", "mean", 0)
			d.Stat("e2el", "", "mean", 9)
		}, "ttft", "mean", math.NaN(), "the file says 0, which is not measured", ""},
		"negative is refused": {func(d *draft.Draft) { d.Stat("ttft", "", "mean", -5) },
			"ttft", "mean", math.NaN(), "the file has a negative number", "negative"},
		"not finite is left out": {func(d *draft.Draft) { d.Stat("ttft", "", "mean", math.Inf(1)) },
			"ttft", "mean", math.NaN(), "", ""},
		"speed of a user follows from TPOT": {func(d *draft.Draft) { d.Stat("tpot", schema.DefExclFirst, "mean", 20) },
			"tps_user", "value", 50, "", ""},
		"or from its median": {func(d *draft.Draft) { d.Stat("tpot", schema.DefExclFirst, "median", 25) },
			"tps_user", "value", 40, "", ""},
		"not from another TPOT": {func(d *draft.Draft) { d.Stat("tpot", schema.DefDecodePhase, "mean", 20) },
			"tps_user", "value", math.NaN(), "", ""},
		"no goodput was asked for": {func(d *draft.Draft) { d.Value("goodput_rps", -1) },
			"goodput_rps", "value", math.NaN(), "", ""},
		"not streamed": {func(d *draft.Draft) {
			d.Stat("ttft", "", "mean", 100)
			d.Stat("e2el", "", "mean", 100)
			d.Stat("osl", "", "mean", 64)
		}, "ttft", "mean", math.NaN(), "the file's TTFT is the whole answer: it was not streamed", ""},
		"one token is the whole answer": {func(d *draft.Draft) {
			d.Stat("ttft", "", "mean", 100)
			d.Stat("e2el", "", "mean", 100)
			d.Stat("osl", "", "mean", 1)
		}, "ttft", "mean", 100, "", ""},
	} {
		d, _ := begin(`{}`)
		c.fill(d)
		d.Done()
		got := value(d, c.metric, c.stat)
		if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) ||
			drafttest.Metric(d.Point, c.metric).Kind().Why != c.why ||
			codes(d) != c.codes || len(d.Reading.Points) != 1 {
			t.Errorf("%s: %+v, %s", name, drafttest.Metric(d.Point, c.metric), codes(d))
		}
	}
}

// Latencies and rates that are all 0 are those of a client that ended early: the point was attempted, without a number.
func TestOnlyZeros(t *testing.T) {
	zeros := func(d *draft.Draft) {
		d.Stat("ttft", "", "mean", 0)
		d.Value("output_tps", 0)
		d.Value("duration_s", 246)
		d.Stat("osl", "", "mean", 1024)
		d.Requests(new(80.), new(0.), nil, "")
	}
	for name, c := range map[string]struct {
		more   func(d *draft.Draft)
		status schema.Status
		codes  string
	}{
		"all are 0":              {func(*draft.Draft) {}, schema.StatusFailed, "only-zeros"},
		"one is a number":        {func(d *draft.Draft) { d.Value("rps", 2) }, schema.StatusOK, ""},
		"another kind of number": {func(d *draft.Draft) { d.Value("correct_rate", 0) }, schema.StatusOK, ""},
		"marked as invalid":      {func(d *draft.Draft) { d.Status = schema.StatusInvalid }, schema.StatusInvalid, ""},
		"nothing is stated":      {func(d *draft.Draft) { clear(d.Metrics) }, schema.StatusOK, ""},
	} {
		d, _ := begin(`{}`)
		zeros(d)
		c.more(d)
		d.Done()
		if p := d.Reading.Points[0]; p.Status != c.status || codes(d) != c.codes ||
			len(drafttest.Metric(p, "ttft").Stats) > 0 {
			t.Errorf("%s: status %s, %v, %s", name, p.Status, p.Metrics, codes(d))
		}
		if c.codes != "" && !strings.Contains(d.Reading.Problems[0].Found, "output_tps, ttft") {
			t.Errorf("%s: the fields are not named: %s", name, d.Reading.Problems[0])
		}
	}
}

// Numbers that cannot be are none, and one of them voids the other.
func TestImpossible(t *testing.T) {
	for name, c := range map[string]struct {
		fill         func(d *draft.Draft)
		metric, stat string
		want         float64 // NaN: missing
		why, codes   string
	}{
		"a negative count": {func(d *draft.Draft) { d.Value("requests_ok", -5) },
			"requests_ok", "value", math.NaN(), "the file has numbers that cannot be: requests_ok of -5", "impossible"},
		"a mean above its maximum": {func(d *draft.Draft) {
			d.Stat("tpot", "", "mean", 2000)
			d.Stat("tpot", "", "max", 3)
		}, "tpot", "mean", math.NaN(), "the file has numbers that cannot be: tpot: mean 2000 above max 3", "impossible"},
		"percentiles that fall": {func(d *draft.Draft) {
			d.Stat("itl", "", "p90", 20)
			d.Stat("itl", "", "p99", 3)
		}, "itl", "p99", math.NaN(), "the file has numbers that cannot be: itl: p90 20 above p99 3", "impossible"},
		"the first token after the last": {func(d *draft.Draft) {
			d.Stat("ttft", "", "mean", 2000)
			d.Stat("e2el", "", "mean", 300)
			d.Stat("tpot", "", "mean", 3)
		}, "e2el", "mean", math.NaN(),
			"the file has numbers that cannot be: mean TTFT of 2000 ms and mean E2EL of 300 ms", "impossible"},
		"rounded to two decimals": {func(d *draft.Draft) {
			d.Stat("ttft", "", "mean", 300.01)
			d.Stat("e2el", "", "mean", 300)
			d.Stat("tpot", "", "mean", 3)
		}, "ttft", "mean", 300.01, "", ""},
	} {
		d, _ := begin(`{}`)
		c.fill(d)
		d.Done()
		got := value(d, c.metric, c.stat)
		if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) ||
			drafttest.Metric(d.Point, c.metric).Kind().Why != c.why ||
			codes(d) != c.codes || len(d.Reading.Points) != 1 {
			t.Errorf("%s: %+v, %s", name, drafttest.Metric(d.Point, c.metric), codes(d))
		}
	}
}

func TestSizesGiveErrors(t *testing.T) {
	d, _ := begin(`{}`)
	d.Stat("ttft", "", "mean", 10)
	d.Stat("ttft", "", "std", 4)
	d.Value("requests_ok", 17)
	d.Done()
	m := drafttest.Metric(d.Point, "ttft")
	if se, ok := m.Detail().SE.Get(); m.N != 17 || !ok || se != 1 {
		t.Errorf("n %d, standard error %v", m.N, m.Detail().SE)
	}
}

func TestForeignFields(t *testing.T) {
	d, _ := begin(`{"known":1,"note":"x","api_key":"sesame1234","deep":{"a":{"b":{"c":1}},"n":2.5},"list":[1],"on":true,` +
		`"prompt":"what is","output_head":"Okay, the user wants me",` +
		`"prompt_short":"Write a short poem","nothing":null,"long":"` + strings.Repeat("x", 300) + `"}`)
	d.In.Get("known")
	d.Foreign(d.In, "skipped_*")
	want := map[string]string{"note": `"x"`, "api_key": `"[redacted]"`, "deep.n": "2.5", "on": "true"}
	for name, text := range want {
		if string(d.Extra[name]) != text {
			t.Errorf("%s is %s, want %s", name, d.Extra[name], text)
		}
	}
	if len(d.Extra) != len(want) {
		t.Errorf("kept %v", d.Extra)
	}
	var many strings.Builder
	for i := range 200 {
		fmt.Fprintf(&many, `"field_%d":"some text",`, i)
	}
	d, _ = begin("{" + many.String() + `"last":1}`)
	d.Foreign(d.In, "")
	if len(d.Extra) > 60 || string(d.Extra["more_fields_in_the_file"]) == "" {
		t.Errorf("%d fields, %s left out", len(d.Extra), d.Extra["more_fields_in_the_file"])
	}
}

func TestFieldStat(t *testing.T) {
	f := draft.Field{Key: "{}_ttft_ms|ttft {}"}
	for key, want := range map[string]string{
		"mean_ttft_ms": "mean", "p50_ttft_ms": "median", "p99.9_ttft_ms": "p99.9", "std_ttft_ms": "std",
		"ttft Average": "mean", "p101_ttft_ms": "", "p_ttft_ms": "", "mean_ttft": "", "p+5_ttft_ms": "", "ttft_ms": "",
		"mean_queue_ms": "",
	} {
		if stat, ok := f.Stat(key); stat != want || ok != (want != "") {
			t.Errorf("%s is %q", key, stat)
		}
	}
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "  \n": "", "Traceback\nValueError: no": ": ValueError: no",
		"token=hf_abcdefghijklmnop": ": token=[redacted]",
	} {
		if got := draft.Quote(text); got != want {
			t.Errorf("%q is quoted as %q", text, got)
		}
	}
	if got := draft.Quote(strings.Repeat("é", 500)); len([]rune(got)) != 163 {
		t.Errorf("%d characters", len([]rune(got)))
	}
}

func TestFields(t *testing.T) {
	d, v := begin(`{"rate":2.5,"text":"x","total_input_tokens":80,"total_output_tokens":"many","a":null,"b":7}`)
	d.Fields(v, map[string]string{"rps": "rate", "output_tps": "text", "total_tps": "absent"})
	if value(d, "rps", "value") != 2.5 || len(d.Metrics) != 1 {
		t.Errorf("%v", d.Metrics)
	}
	eight, none := 8., 0.
	d.MeanTokens(v, &eight)
	if value(d, "isl", "mean") != 10 || len(drafttest.Metric(d.Point, "osl").Stats) > 0 {
		t.Errorf("%v", d.Metrics)
	}
	d, v = begin(`{"total_input_tokens":80}`)
	d.MeanTokens(v, &none)
	d.MeanTokens(v, nil)
	d.Of("osl", v.Get("absent"))
	if len(d.Metrics) != 0 {
		t.Errorf("means of no requests: %v", d.Metrics)
	}
	_, v = begin(`{"a":null,"b":7}`)
	if x := v.Number("absent", "a", "b"); x == nil || *x != 7 {
		t.Errorf("first number %v", x)
	}
}

func TestClientTime(t *testing.T) {
	_, v := begin(`["20260102-030405","2026-01-02",65]`)
	var f schema.Facts
	end := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if !draft.ClientTime(&f, v.Index(0), v.Index(2)) || f.StartNote == "" || !f.End.Equal(end) ||
		!f.Start.Equal(end.Add(-65*time.Second)) {
		t.Errorf("%+v", f)
	}
	if draft.ClientTime(&f, v.Index(1), v.Index(2)) {
		t.Error("another form of date")
	}
}

func TestRuns(t *testing.T) {
	r := schema.Reading{Format: "f", Problems: []schema.Problem{{Code: "x"}}}
	runs := draft.RunsOf[string](&r)
	if runs.Join("d"); r.Format != "f" || r.Detail != "d" || len(r.More) != 0 {
		t.Errorf("of none: %+v", r)
	}
	for _, key := range []string{"a", "b", "a", "c"} {
		r := runs.Of(key, schema.Facts{Release: key})
		r.Scores = append(r.Scores, schema.Score{Task: key})
	}
	runs.Join("all")
	if runs.Len() != 3 || len(r.Problems) != 1 ||
		r.Detail != "all" || len(r.Scores) != 2 || len(r.More) != 2 || r.More[1].Facts.Release != "c" {
		t.Errorf("%d runs: %+v", runs.Len(), r)
	}
}

// A recomputed statistic replaces a stated one; a difference of more than 1 % is a problem.
func TestRecompute(t *testing.T) {
	d, v := begin(`{"mean_ttft_ms":10.0,"p99_ttft_ms":50.0}`)
	d.Stat("ttft", schema.DefFirstChunk, "mean", 10)
	d.Stat("ttft", schema.DefFirstChunk, "p99", 50)
	d.Recompute(v, draft.Table("ttft first-chunk: {}_ttft_ms")[0], latency.NewSample([]float64{8, 10, 12}), "", false)
	if value(d, "ttft", "mean") != 10 || value(d, "ttft", "p99") != 11.96 ||
		drafttest.Metric(d.Point, "ttft").Kind().From != "recomputed" {
		t.Errorf("%+v", drafttest.Metric(d.Point, "ttft"))
	}
	if codes(d) != "disagreement" || !strings.Contains(d.Reading.Problems[0].Found, "p99_ttft_ms says 50") {
		t.Errorf("%v", d.Reading.Problems)
	}
	for _, c := range []struct {
		stated, now float64
		want        bool
	}{{100, 100.9, false}, {100, 101.2, true}, {0, 1e-10, false}, {0, 1, true}} {
		if draft.Disagree(c.stated, c.now) != c.want {
			t.Errorf("%g and %g", c.stated, c.now)
		}
	}
}
