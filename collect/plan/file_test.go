package plan

import (
	"strings"
	"testing"
)

// A plan file is written in readable form, and read back.
func TestPlanFile(t *testing.T) {
	f := File{Plans: []Entry{{
		Model: "acme/a", Device: "n150", Only: OnlyBenchmarks, Why: "suspected regression",
		Workloads: []Workload{{ISL: 128, OSL: 128, Requests: 8, Concurrency: 1},
			{Dataset: "sharegpt", Rate: 2.5, Requests: 50}},
	}, {
		Model: "acme/b", Server: ServerName{Kind: ServerCommand, Argv: []string{"vllm", "serve", "a b"}},
	}}}
	data, err := f.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	const want = `plans:
  - model: acme/a
    device: n150
    only: benchmarks
    workloads:
      - isl=128,osl=128,n=8,c=1
      - dataset=sharegpt,n=50,rate=2.5
    why: suspected regression
  - model: acme/b
    server: command vllm serve 'a b'
`
	if string(data) != want {
		t.Errorf("%s\nwant\n%s", data, want)
	}
	back, err := Read("recheck.yaml", data)
	if err != nil || len(back.Plans) != 2 || !back.Plans[0].Workloads[1].Same(f.Plans[0].Workloads[1]) ||
		back.Plans[1].Server.String() != f.Plans[1].Server.String() {
		t.Errorf("%+v, %v", back, err)
	}
}

// Invalid entries are refused with their position.
func TestBadPlanFiles(t *testing.T) {
	for text, want := range map[string]string{
		"plans:\n- device: x\n":                                "p.yaml: plans[0]: no model",
		"plans:\n- model: a\n  workloads: [isl=1]\n":           `p.yaml:3:15: workload "isl=1": expected isl, osl`,
		"plans:\n- model: a\n  server: nonsense\n":             `p.yaml:3:11: "nonsense": expected sim, docker`,
		"plans:\n- model: a\n  sweeep: quick\n":                "p.yaml:3:3: ",
		"plans:\n- model: a\n  workloads: [\"isl=1,osl=x\"]\n": `osl=x: expected a whole number or one of uniform`,
	} {
		if _, err := Read("p.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	extra := File{Plans: []Entry{{Model: "a",
		Workloads: []Workload{{ISL: 1, OSL: 1, Concurrency: 1, Extra: []string{"--x"}}}}}}
	if data, err := extra.Marshal(); err == nil {
		t.Errorf("arguments of a tool were dropped: %s", data)
	}
}

// If a device is named, only its plans of ttreport.yaml are used.
func TestOfConfiguration(t *testing.T) {
	list := []Entry{{Model: "a", Device: "N150"}, {Model: "b", Device: "t3k"}}
	for device, want := range map[string]int{"": 2, "n150": 1, "x": 0} {
		if got, err := OfConfiguration("ttreport.yaml", list, device); err != nil || len(got) != want {
			t.Errorf("%q: %v %v", device, got, err)
		}
	}
	if _, err := OfConfiguration("ttreport.yaml", []Entry{{}}, ""); err == nil {
		t.Error("an entry without a model was accepted")
	}
}
