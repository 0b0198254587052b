package plan

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect/plan/spec"
)

func parse(text string) (w Workload, err error) {
	err = w.Parse(text)
	return w, err
}

// The text of a workload is read as the same workload.
func TestSpecIsReadBack(t *testing.T) {
	for _, name := range []string{"quick", "tt-2025", "demo"} {
		list, err := Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range list {
			if got, err := parse(w.Text()); err != nil || !got.Same(w) || got.Requests != w.Requests {
				t.Errorf("%+v became %+v, %v", w, got, err)
			}
		}
	}
	burst := Workload{ISL: 5, OSL: 6, Requests: 9}
	if got, err := parse(burst.Text()); err != nil || !got.Same(burst) {
		t.Errorf("%q: %+v, %v", burst.Text(), got, err)
	}
	w := Workload{Dataset: "sharegpt", Path: "/d/s.json", Rate: 2.5, Requests: 750}
	if got, err := parse(w.Text()); err != nil || !got.Same(w) || got.Path != w.Path {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBadSpecsAreRefused(t *testing.T) {
	for text, want := range map[string]string{"isl=128": "expected isl, osl", "isl=0,osl=1,c=1": "above zero",
		"isl=1.5,osl=1,c=1": "whole number", "isl=1,osl=1,c=1,x=2": "expected one of",
		"isl=1,osl=1,c=NaN": "above zero", "isl=1e300,osl=1,c=1": "above zero", "": "expected one of",
		"dataset=sharegpt": "c or rate"} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// The table is that of Llama-3.1-8B on n150 in tt-inference-server's reports: 32 users share a context of 64 k.
func TestStandardFitsTheLimits(t *testing.T) {
	l := spec.Model{Context: 65536, Concurrency: 32}
	got := standard(l)
	for i, w := range got {
		if w.ISL+w.OSL > l.Context || w.Concurrency > l.Concurrency || w.Concurrency*(w.ISL+w.OSL) > l.Context {
			t.Errorf("%+v does not fit %+v", w, l)
		}
		if i > 0 && w.Concurrency == 1 && got[i-1].Concurrency > 1 {
			t.Error("light ones come first")
		}
	}
	text := ""
	for _, w := range got {
		text += w.Text() + "\n"
	}
	for _, want := range []string{"isl=128,osl=128,n=8,c=1\n", "isl=128,osl=128,n=256,c=32\n",
		"isl=8192,osl=128,n=14,c=7\n", "isl=32768,osl=128,n=1,c=1\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "isl=65536") || len(got) != 19 { // as many as its reports have
		t.Errorf("%d workloads:\n%s", len(got), text)
	}
	text = ""
	for _, w := range standard(spec.Model{Device: "SUPER_CLUSTER", Context: 262144, Concurrency: 64}) {
		text += w.Text() + "\n"
	}
	for _, want := range []string{"isl=128,osl=255872,n=1,c=1\n", "isl=128,osl=255872,n=128,c=64\n",
		"isl=255872,osl=128,n=128,c=64\n", "isl=131072,osl=128,n=128,c=64\n", "isl=128,osl=128,n=512,c=64\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("a super cluster: %q is not in\n%s", want, text)
		}
	}
	if small := standard(spec.Model{Context: 200, Concurrency: 4}); len(small) != 0 {
		t.Errorf("nothing fits 200 tokens: %v", small)
	}
}

func TestBatches(t *testing.T) {
	got, err := batches("1;8;64", "60,20; 128,20", false)
	if err != nil || len(got) != 6 || got[2].Text() != "isl=60,osl=20,n=256,c=64" ||
		got[3].Text() != "isl=128,osl=20,n=8,c=1" {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range [][2]string{{"", "60,20"}, {"1;x", "60,20"}, {"1", "60"}, {"1", "60,0"}, {"0", "1,1"}} {
		if _, err := batches(bad[0], bad[1], false); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestPresets(t *testing.T) {
	for _, name := range SweepNames() {
		if name == SweepStandard || name == SweepTargets || name == SweepStress {
			continue // they are made of limits and of targets
		}
		list, err := Preset(name)
		if err != nil || len(list) == 0 {
			t.Error(name, err)
		}
		for _, w := range list {
			if w.ISL <= 0 || w.OSL <= 0 || w.Concurrency <= 0 || w.Requests < w.Concurrency {
				t.Errorf("%s: %+v", name, w)
			}
		}
	}
	if list, _ := Preset("tt-2025"); len(list) != 18 {
		t.Errorf("tt-2025 has %d points", len(list))
	}
}

// What is no field says so before its value is looked at, and a flag that is written as one is named as the flag.
func TestFieldsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"isl=8,osl=8,c=1,until=ci=20%": "--until ci=2%", "isl=8,osl=8,c=1,budget=30m": "--budget 30m",
		"isl=8,osl=8,c=1,foo=x":             `"foo": expected one of dataset, path, isl`,
		"isl=8,osl=8,c=1,=5":                `"": expected one of dataset`,
		"isl=8,osl=8,rate=2,arrivals=gamma": "burstiness=0.5",
		"isl=8,osl=8,rate=2,arrivals=":      "arrivals=: expected one of constant",
		"isl=8,osl=8,arrivals=ramp(1":       "no closing parenthesis, as in ramp(1,20)",
		"isl=lognormal(3),osl=8,c=1":        "lognormal takes mean",
		"isl=8,osl=8,c=1.5":                 "expected a whole number, as in c=8",
	} {
		var w Workload
		if err := w.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
