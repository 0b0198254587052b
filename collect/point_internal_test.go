package collect

import (
	"math"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/precision"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// The line of a point says how many of its requests are in no statistic.
func TestFailedRequestsAreNoted(t *testing.T) {
	for want, set := range map[string]latency.Set{
		"":                          {OK: 4},
		"3 of 12 requests failed":   {OK: 9, Failed: 2, Hollow: 1},
		"8 of 1008 requests failed": {OK: 1000, Failed: 8},
	} {
		if got := remarks(plan.Workload{}, builtin.Outcome{}, set, "", ""); got != want {
			t.Errorf("%+v: %q, want %q", set, got, want)
		}
	}
	if got := remarks(plan.Workload{}, builtin.Outcome{}, latency.Set{Failed: 4}, "", ""); got != "" {
		t.Errorf("%q beside the error of a point that failed", got)
	}
}

// Draws are cut to what a server takes that was started for them: it refuses longer requests, and the plan was made
// before it stated its limit. A limit that the plan knows is the nearer one.
func TestDrawsFitTheServer(t *testing.T) {
	var w plan.Workload
	if err := w.Parse("isl=lognormal(600,0.9),osl=lognormal(250,0.7),c=8,n=200"); err != nil {
		t.Fatal(err)
	}
	longest := func(stated, takes int) (most int) {
		s := &session{end: server.Endpoint{Context: takes}}
		w.Context = stated
		load, err := s.loadOf(w, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range load.Each {
			most = max(most, q.ISL+q.OSL)
		}
		return most
	}
	if free := longest(0, 0); free <= 1024 {
		t.Fatalf("no request of the draw is longer than %d tokens", free)
	}
	if got := longest(0, 1024); got != 1024 {
		t.Errorf("%d tokens for a server that takes 1024", got)
	}
	if got := longest(900, 1024); got != 900 {
		t.Errorf("%d tokens where 900 are stated", got)
	}
	// All cut to the limit it would be another workload.
	w.Context = 0
	s := &session{end: server.Endpoint{Context: 849}}
	if _, err := s.loadOf(w, 1); err == nil || !strings.Contains(err.Error(), "takes requests of 849 tokens") {
		t.Errorf("%v", err)
	}
}

// Random prompts that the server has in its cache are noted; those that share tokens as asked are not.
func TestKnownPromptsAreNoted(t *testing.T) {
	of := func(cached int) builtin.Outcome {
		q := builtin.Timeline{Request: latency.Request{OK: true, In: 64}, Cached: &cached}
		return builtin.Outcome{Requests: []builtin.Timeline{q, q}}
	}
	for _, c := range []struct {
		workload string
		out      builtin.Outcome
		noted    bool
	}{
		{"isl=64,osl=8,c=2,n=2", of(63), true},
		{"isl=64,osl=8,c=2,n=2", of(48), true}, // whole blocks of 16
		{"isl=64,osl=8,c=2,n=2", of(30), false},
		{"isl=64,osl=8,c=2,n=2", builtin.Outcome{}, false},
		{"isl=64,osl=8,c=2,n=2,hit=90%", of(58), false},
		{"isl=64,osl=8,c=2,n=2,prefix=60", of(60), false},
		{"isl=64,osl=8,c=2,n=2,endpoint=chat,turns=2", of(60), false},
		{"dataset=sharegpt,path=x.json,osl=8,c=2,n=2", of(60), false},
	} {
		var w plan.Workload
		if err := w.Parse(c.workload); err != nil {
			t.Fatal(err)
		}
		if got := remarks(w, c.out, c.out.Set(), "", ""); strings.Contains(got, "--seed") != c.noted {
			t.Errorf("%s: %q", c.workload, got)
		}
	}
}

// An interval wider than its mean is written in full.
func TestWideIntervalsAreWritten(t *testing.T) {
	for v, want := range map[float64]int{123: 0, 12.3: 0, 1.23: 1, .123: 2, 0: 0} {
		if got := decimals(v); got != want {
			t.Errorf("%g: %d decimals, want %d", v, got, want)
		}
	}
	k := knownPoint{rule: precision.Rule{CI: .05}}
	k.known.States = []precision.State{{Name: "ttft", Mean: 100, Half: 123}}
	if got := k.note(2); !strings.Contains(got, "TTFT ±123%") || math.IsInf(k.known.States[0].Relative(), 1) {
		t.Error(got)
	}
}
