package gate_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// at puts a verdict on a workload by its concurrency.
func at(v schema.Verdict, concurrency float64) schema.Verdict {
	v.Key = judgetest.Key(concurrency)
	return v
}

// of puts a verdict on a device.
func of(v schema.Verdict, device string) schema.Verdict { v.Device = device; return v }

// moved gives a verdict an effect.
func moved(v schema.Verdict, effect float64) schema.Verdict { v.Effect = schema.Num(effect); return v }

// rechecks are those of a release in short: "d: 128/128/1, 128/128/2; control 128/128/3".
func rechecks(list ...schema.Verdict) string {
	r := gate.Review{Release: "run-1", Label: "v1", Findings: gate.Findings{History: list}}
	var out []string
	for _, x := range r.Rechecks() {
		var loads []string
		for _, k := range x.Workloads {
			loads = append(loads, k.Workload())
		}
		text := strings.TrimSpace(x.Device+" "+x.Impl) + ": " + strings.Join(loads, ", ")
		if x.Control != nil {
			text += "; control " + x.Control.Workload()
		}
		if x.Release != "v1" || x.Model != "M" {
			text += " of another release or model"
		}
		out = append(out, text)
	}
	return strings.Join(out, " | ")
}

func TestRechecks(t *testing.T) {
	suspect := regressed(schema.Suspected)
	unchanged := history(schema.Unchanged)
	excused := decidedBy(suspect, schema.Decision{ID: "D", Kind: schema.Waive})
	expired := decidedBy(suspect, schema.Decision{ID: "D", Kind: schema.Waive, Expired: true})
	otherMetric := suspect
	otherMetric.Metric = "tpot"
	otherTool := suspect
	otherTool.Key.Tool = "aiperf"
	for name, c := range map[string]struct {
		list []schema.Verdict
		want string
	}{
		"nothing":         {nil, ""},
		"none suspected":  {[]schema.Verdict{regressed(schema.Confirmed), large(.5), at(unchanged, 2)}, ""},
		"without control": {[]schema.Verdict{suspect}, "d: 128/128/1"},
		"with the unchanged one": {[]schema.Verdict{suspect, at(large(.01), 2), at(unchanged, 3)},
			"d: 128/128/1; control 128/128/3"},
		"with the one that moved least": {[]schema.Verdict{suspect, at(large(.2), 2), at(large(-.1), 3), at(large(.3), 4)},
			"d: 128/128/1; control 128/128/3"},
		// An unchanged number counts as not moved, whatever its effect; of several metrics the largest counts.
		"with the least of all its metrics": {[]schema.Verdict{
			suspect, at(large(.4), 2), at(unchanged, 2), at(moved(unchanged, .04), 3), at(large(.001), 4)},
			"d: 128/128/1; control 128/128/3"},
		"several workloads": {[]schema.Verdict{suspect, at(suspect, 2), otherMetric, otherTool, at(unchanged, 3)},
			"d: 128/128/1, 128/128/2; control 128/128/3"},
		"a control is none of them": {[]schema.Verdict{suspect, at(suspect, 2), at(unchanged, 1)},
			"d: 128/128/1, 128/128/2"},
		"excused":           {[]schema.Verdict{excused, at(suspect, 2)}, "d: 128/128/2; control 128/128/1"},
		"no longer excused": {[]schema.Verdict{expired, at(unchanged, 2)}, "d: 128/128/1; control 128/128/2"},
		"two devices": {[]schema.Verdict{suspect, of(suspect, "e"), at(unchanged, 2), of(at(unchanged, 3), "e")},
			"d: 128/128/1; control 128/128/2 | e: 128/128/1; control 128/128/3"},
		"a control of another device is none": {[]schema.Verdict{suspect, of(at(unchanged, 2), "e")}, "d: 128/128/1"},
	} {
		if got := rechecks(c.list...); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// One control a device is enough, whichever implementation it is of.
func TestOneControlADevice(t *testing.T) {
	impl := func(v schema.Verdict, name string) schema.Verdict { v.Impl = name; return v }
	suspect, unchanged := regressed(schema.Suspected), at(history(schema.Unchanged), 2)
	got := rechecks(impl(suspect, "a"), impl(suspect, "b"), impl(unchanged, "a"), impl(unchanged, "b"))
	if want := "d a: 128/128/1; control 128/128/2 | d b: 128/128/1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// The second names one when the first has none.
	got = rechecks(impl(suspect, "a"), impl(suspect, "b"), impl(unchanged, "b"))
	if want := "d a: 128/128/1 | d b: 128/128/1; control 128/128/2"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Workloads at a rate can be measured again; those that no load client can make are left out.
func TestRechecksOfOtherWorkloads(t *testing.T) {
	suspect := func(change func(*schema.Key)) schema.Verdict {
		v := regressed(schema.Suspected)
		change(&v.Key)
		return v
	}
	two := 2.5
	for name, c := range map[string]struct {
		v    schema.Verdict
		want string
	}{
		"a rate": {suspect(func(k *schema.Key) { k.Concurrency, k.Rate = nil, &two }),
			"d: 128/128/- 2.5 req/s"},
		"a rate and a concurrency": {suspect(func(k *schema.Key) { k.Rate = &two }), ""},
		"neither":                  {suspect(func(k *schema.Key) { k.Concurrency = nil }), ""},
		"no lengths":               {suspect(func(k *schema.Key) { k.ISL = nil }), ""},
		"an image":                 {suspect(func(k *schema.Key) { k.Task = "image" }), ""},
		"a dimension":              {suspect(func(k *schema.Key) { k.Dims = map[string]string{"images": "2"} }), ""},
		"no task":                  {suspect(func(k *schema.Key) { k.Task = "" }), "d: 128/128/1"},
		"an eval":                  {suspect(func(k *schema.Key) { *k = schema.EvalKey(&schema.Score{Task: "gsm8k"}) }), ""},
	} {
		if got := rechecks(c.v); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	r := gate.Review{Findings: gate.Findings{History: []schema.Verdict{regressed(schema.Suspected)}}}
	k := r.Rechecks()[0].Workloads[0]
	if k.Task != "" || k.Tool != "" || *k.ISL != 128 || *k.OSL != 128 || *k.Concurrency != 1 || k.Rate != nil {
		t.Errorf("%+v: a workload, whichever tool measured it", k)
	}
}

// What changed together is settled by eight workloads.
func TestRecheckOfAShift(t *testing.T) {
	var list []schema.Verdict
	for c := range 40 {
		list = append(list, grouped(at(regressed(schema.Suspected), float64(c+1))))
	}
	r := gate.Review{Findings: gate.Findings{History: list}}
	if x := r.Rechecks(); len(x) != 1 || len(x[0].Workloads) != 8 {
		t.Errorf("%+v", x)
	}
	// Under several metrics, in another order each: the same eight settle them all, and what changed alone is added.
	for c := range 40 {
		v := grouped(at(regressed(schema.Suspected), float64(40-c)))
		v.Metric, v.Change = "tpot", "another"
		list = append(list, v)
	}
	list = append(list, at(regressed(schema.Suspected), 99))
	r = gate.Review{Findings: gate.Findings{History: list}}
	if x := r.Rechecks(); len(x) != 1 || len(x[0].Workloads) != 9 {
		t.Errorf("%+v", x)
	}
}
