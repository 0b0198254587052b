package traffic_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

func lengths(t *testing.T, text string) traffic.Lengths {
	t.Helper()
	l, err := traffic.ParseLengths(text)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := traffic.ParseLengths(l.String()); err != nil || again.String() != l.String() {
		t.Errorf("%s: its text %q is read as %v, %v", text, l, again, err)
	}
	return l
}

func arrivals(t *testing.T, text string) traffic.Arrivals {
	t.Helper()
	a, err := traffic.ParseArrivals(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func moments(v []float64) (mean, cv float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		cv += (x - mean) * (x - mean) / float64(len(v)-1)
	}
	return mean, math.Sqrt(cv) / mean
}

// Drawn lengths have the mean and spread that their text states.
func TestLengths(t *testing.T) {
	for text, want := range map[string][2]float64{ // mean, standard deviation over mean
		"uniform(100,500)":    {300, 401 / math.Sqrt(12) / 300},
		"normal(2000,300)":    {2000, .15},
		"lognormal(2000,0.4)": {2000, math.Sqrt(math.Exp(.16) - 1)},
	} {
		s := traffic.Workload{ISLDist: lengths(t, text), OSL: 7}
		var drawn []float64
		for _, q := range s.Random(20000, 3) {
			if q.OSL != 7 || q.ISL < 1 {
				t.Fatalf("%+v", q)
			}
			drawn = append(drawn, float64(q.ISL))
		}
		mean, cv := moments(drawn)
		if math.Abs(mean/want[0]-1) > .015 || math.Abs(cv/want[1]-1) > .03 {
			t.Errorf("%s: mean %.1f, cv %.3f; want %.1f, %.3f", text, mean, cv, want[0], want[1])
		}
	}
}

// Gaps between requests have the rate and the burstiness that are asked for, and a coefficient of variation of
// 1/sqrt(burstiness).
func TestArrivals(t *testing.T) {
	for _, c := range []struct {
		shape traffic.Workload
		cv    float64
	}{
		{traffic.Workload{}, 1}, {traffic.Workload{Arrivals: arrivals(t, "constant")}, 0},
		{traffic.Workload{Burstiness: .25}, 2}, {traffic.Workload{Burstiness: 4}, .5},
	} {
		var gaps []float64
		c.shape.ISL, c.shape.OSL, c.shape.Rate = 1, 1, 50
		list := c.shape.Random(40000, 9)
		for i := range list[1:] {
			gaps = append(gaps, (list[i+1].At - list[i].At).Seconds())
		}
		mean, cv := moments(gaps)
		if math.Abs(mean*50-1) > .03 || math.Abs(cv-c.cv) > .05*c.cv+1e-6 {
			t.Errorf("%v: mean gap %.4f s, cv %.3f; want .02, %.2f", c.shape.Varying(), mean, cv, c.cv)
		}
	}
}

// Rates that change: each part of the load has the share of requests and of time that its rates give it.
func TestChangingRates(t *testing.T) {
	const n = 30000
	ramp := traffic.Workload{Rate: 20, Arrivals: arrivals(t, "ramp(10,30)")}
	list := ramp.Random(n, 5)
	half := time.Duration(n / 20. / 2 * float64(time.Second))
	first := slices.IndexFunc(list, func(q traffic.Request) bool { return q.At > half })
	if share := float64(first) / n; math.Abs(share-.375) > .01 { // (10+20)/2 of (10+30)/2 in half of the time
		t.Errorf("ramp: %.3f of the requests in the first half", share)
	}
	steps := traffic.Workload{Rate: 35. / 3, Arrivals: arrivals(t, "steps(5,10,20)")}
	list = steps.Random(n, 5)
	third := time.Duration(n / steps.Arrivals.Rate() / 3 * float64(time.Second))
	for i, want := range []float64{5. / 35, 15. / 35} {
		until := slices.IndexFunc(list, func(q traffic.Request) bool { return q.At > time.Duration(i+1)*third })
		if share := float64(until) / n; math.Abs(share-want) > .01 {
			t.Errorf("steps: %.3f of the requests before step %d, want %.3f", share, i+2, want)
		}
	}
	if !slices.IsSortedFunc(list, func(a, b traffic.Request) int { return int(a.At - b.At) }) {
		t.Error("requests are not in order")
	}
}

func TestBadTexts(t *testing.T) {
	for _, text := range []string{"", "x", "uniform(5)", "uniform(9,3)", "normal(0,1)", "lognormal(2000,9)",
		"normal(1,NaN)", "normal(1,2", "uniform(1,1e12)"} {
		if _, err := traffic.ParseLengths(text); err == nil || !strings.Contains(err.Error(), "(") {
			t.Errorf("lengths %q: %v", text, err)
		}
	}
	for _, text := range []string{"", "x", "ramp", "ramp(1)", "ramp(1,0)", "steps(1)", "constant(2)", "ramp(1,Inf)"} {
		if _, err := traffic.ParseArrivals(text); err == nil {
			t.Errorf("arrivals %q are accepted", text)
		}
	}
	for _, text := range []string{"", "a+", "a+a", "x(a+b)", "zipf()", "random(a+b"} {
		if a, err := traffic.ParseAdapters(text); err == nil {
			t.Errorf("adapters %q are accepted: %v", text, a)
		}
	}
	for fields, want := range map[string]string{
		"burstiness=2": "need a rate", "prefixes=2": "needs the length of one", "arrivals=constant": "need a rate",
	} {
		var w traffic.Workload
		if err := w.Parse("isl=8,osl=8,c=1," + fields); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s without a rate or a prefix: %v", fields, err)
		}
	}
}

// Shared prefixes: the stated number of them, each request has one, none longer than the prompt.
func TestPrefixes(t *testing.T) {
	s := traffic.Workload{ISLDist: lengths(t, "uniform(10,100)"), OSL: 1, Prefix: 64, Prefixes: 3}
	seen := map[uint64]int{}
	for _, q := range s.Random(900, 1) {
		if seen[q.Blocks[0]]++; q.BlockTokens > q.ISL || len(q.Blocks) != 1 {
			t.Fatalf("%+v", q)
		}
	}
	if len(seen) != 3 || seen[0] < 200 {
		t.Errorf("%v", seen)
	}
	want := map[string]string{"isl": "uniform(10,100)", "prefix": "64", "prefixes": "3"}
	if !reflect.DeepEqual(s.Varying(), want) {
		t.Errorf("%v", s.Varying())
	}
}

func TestTrace(t *testing.T) {
	tr, err := traffic.ReadTrace([]byte(`
{"timestamp": 1000, "input_length": 1030, "output_length": 5, "hash_ids": [7, 8, 9]}
{"timestamp": 3000, "input_length": 600, "output_length": 7, "hash_ids": [7, 10]}

{"timestamp": 3500, "input_length": 20, "output_length": 3, "hash_ids": [11]}
`), 0)
	if err != nil {
		t.Fatal(err)
	}
	isl, osl := tr.Mean()
	if len(tr.Requests) != 3 || !tr.Timed || isl != 550 || osl != 5 || math.Abs(tr.Rate()-.8) > 1e-9 {
		t.Errorf("%+v, %d %d %g", tr, isl, osl, tr.Rate())
	}
	if got := tr.Requests[0].Blocks; !slices.Equal(got, []uint64{7, 8}) || len(tr.Requests[2].Blocks) != 0 {
		t.Errorf("blocks %v, %v", got, tr.Requests[2].Blocks)
	}
	if list := tr.Take(2, 4); len(list) != 2 || list[1].At != 500*time.Millisecond || tr.Requests[1].At != 2*time.Second {
		t.Errorf("%+v", list)
	}
	for _, bad := range []string{"", "{}", "[1]", `{"input_length":0,"output_length":1}`,
		`{"timestamp":5,"input_length":1,"output_length":1}` + "\n" + `{"timestamp":4,"input_length":1,"output_length":1}`,
		`{"timestamp":-1,"input_length":1,"output_length":1}`, `{"input_length":1e9,"output_length":1}`} {
		if _, err := traffic.ReadTrace([]byte(bad), 0); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestSplit(t *testing.T) {
	if got := traffic.Split("isl=lognormal(2000,0.4),osl=64,c=2"); !slices.Equal(got,
		[]string{"isl=lognormal(2000,0.4)", "osl=64", "c=2"}) {
		t.Errorf("%q", got)
	}
}

func FuzzWorkloads(f *testing.F) {
	for _, text := range []string{"uniform(1,5)", "lognormal(3,.4)", "ramp(1,2)", "steps(1,2,3)", "normal(1,1e300)"} {
		f.Add(text, uint64(1))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		s := traffic.Workload{ISL: 1, OSL: 1}
		s.ISLDist, _ = traffic.ParseLengths(text)
		s.Arrivals, _ = traffic.ParseArrivals(text)
		s.Rate = max(1, s.Arrivals.Rate())
		n := 1 + rand.New(rand.NewPCG(seed, 1)).IntN(50)
		for _, q := range s.Random(n, seed) {
			if q.ISL < 1 || q.At < 0 {
				t.Fatalf("%q: %+v", text, q)
			}
		}
	})
}

func FuzzTrace(f *testing.F) {
	f.Add([]byte(`{"timestamp": 1000, "input_length": 1030, "output_length": 5, "hash_ids": [7, 8, 9]}`), 0)
	f.Fuzz(func(t *testing.T, data []byte, block int) {
		if tr, err := traffic.ReadTrace(data, max(0, block)); err == nil && len(tr.Requests) == 0 {
			t.Error("an empty trace")
		}
	})
}

func TestSLO(t *testing.T) {
	s, err := traffic.ParseSLO("tpot_mean<50ms  ttft_p99<0.5s")
	if err != nil || s.String() != "tpot_mean<50ms ttft_p99<500ms" || s.Needs() != 200 {
		t.Errorf("%v %v %d", s, err, s.Needs())
	}
	request := latency.Request{OK: true, TTFT: 400, E2EL: 400 + 40*9, Out: 10}
	set := latency.Summarise([]latency.Request{request, request}, 1)
	if got := s.Worst(set); math.Abs(got-.8) > 1e-9 || !s.Meets(request) {
		t.Errorf("%g", got)
	}
	request.E2EL = 400 + 60*9
	for failures, bears := range map[int]bool{1: true, 3: true, 4: false} {
		many := slices.Repeat([]latency.Request{{OK: true, TTFT: 100, E2EL: 200, Out: 10}}, 300)
		clear(many[:failures])
		p90, _ := traffic.ParseSLO("ttft_p90<500ms")
		if got := p90.Worst(latency.Summarise(many, 1)); (got <= 1) != bears {
			t.Errorf("%d of 300 requests failed: %g", failures, got)
		}
	}
	p99, _ := traffic.ParseSLO("ttft_p99<500ms")
	rest := slices.Repeat([]latency.Request{{OK: true, TTFT: 100, E2EL: 200, Out: 10}}, 99)
	if got := p99.Worst(latency.Summarise(append(rest, latency.Request{}), 1)); got <= 1 {
		t.Errorf("a P99 that lies between the slowest and one that failed holds: %g", got)
	}
	failed := latency.Summarise([]latency.Request{request, {}}, 1)
	if s.Meets(request) || !math.IsInf(s.Worst(failed), 1) {
		t.Error("a slow or failed request holds")
	}
	for _, text := range []string{"", "x", "ttft<5", "ttft_p98<5ms", "ttft_p99<x", "ttft_p99>5ms", "ttft_p99<-5ms",
		"rps_mean<5ms"} {
		if _, err := traffic.ParseSLO(text); err == nil || !strings.Contains(err.Error(), "ttft_p99<500ms") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzSLO(f *testing.F) {
	f.Add("ttft_p99<500ms tpot_mean<50ms")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := traffic.ParseSLO(text)
		if err != nil {
			return
		}
		if again, err := traffic.ParseSLO(s.String()); err != nil || again.String() != s.String() {
			t.Errorf("%q: %q is read as %q, %v", text, s, again, err)
		}
	})
}
