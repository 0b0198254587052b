package perfref_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/perfref"
)

// A limit is in the unit of the metric that it limits, whichever unit its source has: files of targets and the checks
// of a report agree.
func TestUnits(t *testing.T) {
	for name, c := range map[string]struct{ task, theirs, want string }{
		"a first token":               {"text", "ttft_ms", "ttft mean 10 ms"},
		"a whole answer":              {"image", "ttft_ms", "e2el mean 10 ms"},
		"a latency, in seconds":       {"cnn", "latency", "e2el mean 10000 ms"},
		"of a voice":                  {"tts", "latency", "ttft mean 10000 ms"},
		"a latency, in milliseconds":  {"embedding", "e2el_ms", "e2el mean 10 ms"},
		"answers of a user":           {"video", "tput_user", schema.MetricRequestsUser + " value 10 req/s"},
		"tokens in of a user":         {"embedding", "tput_user", schema.MetricInputUser + " value 10 tok/s"},
		"tokens out of a user":        {"text", "tput_user", "tps_user value 10 tok/s"},
		"times as fast as the speech": {"asr", "rtr", schema.MetricRealTime + " value 10 x"},
	} {
		entry := `{"task_type":"` + c.task + `","targets":{"target":{"` + c.theirs + `":10}},"target_checks":{"target":{"` +
			c.theirs + `":10,"` + c.theirs + `_check":2}}}`
		f := decode.NewFile("x.json", []byte(entry), time.Time{}, decode.DefaultLimits())
		list, _ := perfref.Targets(&f, f.First, schema.Target{})
		if len(list) == 0 || text(&list[0]) != c.want {
			t.Errorf("%s: %+v, want %s", name, list, c.want)
		}
		checked := perfref.Checked(f.First, decode.Value{}, schema.Target{Key: schema.Key{Task: c.task}})
		if len(checked) != 1 || text(&checked[0]) != c.want {
			t.Errorf("%s, checked by a report: %+v, want %s", name, checked, c.want)
		}
	}
}

func text(x *schema.Target) string {
	return fmt.Sprintf("%s %s %g %s", x.Metric, x.Stat, x.Value, x.Unit)
}

// The entries of text of tt-inference-server state 0 images, which is none.
func TestNoImagesAreNoDimension(t *testing.T) {
	for entry, want := range map[string]string{
		`"images_per_prompt":0,"image_height":0,"image_width":null`:  "map[]",
		`"images_per_prompt":1,"image_height":512,"image_width":512`: "map[height:512 images:1 width:512]",
	} {
		text := `{"isl":128,"osl":128,"max_concurrency":1,` + entry + `,"targets":{"target":{"ttft_ms":10}}}`
		f := decode.NewFile("x.json", []byte(text), time.Time{}, decode.DefaultLimits())
		list, _ := perfref.Targets(&f, f.First, schema.Target{})
		if got := fmt.Sprint(list[0].Key.Dims); got != want {
			t.Errorf("%s: %s, want %s", entry, got, want)
		}
	}
}

// Levels have two generations of names, in entries and in the checks of a report, whose tolerance the report repeats.
func TestLevelsOfCustomers(t *testing.T) {
	text := `{"isl":128,"targets":{"customer_functional":{"tput":10,"tolerance":0.05},"customer_complete":{"tput":20},
"customer_sellable":{"tput":30}},"target_checks":{"customer_functional":{"ttft_check":1,"tput":10,"tput_check":2},
"customer_complete":{"tput":20,"tput_check":2},"customer_sellable":{"tput":30,"tput_check":3}}}`
	f := decode.NewFile("x.json", []byte(text), time.Time{}, decode.DefaultLimits())
	stated, problems := perfref.Targets(&f, f.First, schema.Target{})
	checked := perfref.Checked(f.First, f.First.Get("targets"), schema.Target{Key: schema.Key{ISL: new(128.)}})
	for name, list := range map[string][]schema.Target{"stated": stated, "checked": checked} {
		got := ""
		for _, x := range list {
			got += fmt.Sprintf("%s %g ±%g; ", x.Level, x.Value, x.Tolerance)
		}
		if got != "functional 10 ±0.05; complete 20 ±0; target 30 ±0; " || len(problems) > 0 {
			t.Errorf("%s: %s %v", name, got, problems)
		}
	}
}

// A report does not repeat the tolerance of its checks: a number that misses its limit and passed shows that there was
// one.
func TestToleranceOfAPassedCheck(t *testing.T) {
	for checks, want := range map[string]float64{
		`"tput":31.838,"tput_ratio":0.9946,"tput_check":2`:                                          .05,
		`"tput":31.838,"tput_ratio":0.9946,"tput_check":3`:                                          0,
		`"tput":31.838,"tput_ratio":1.0054,"tput_check":2`:                                          0,
		`"ttft":100,"ttft_ratio":1.04,"ttft_check":2,"tput":30,"tput_ratio":1.2,"tput_check":2`:     .05,
		`"ttft":100,"ttft_ratio":0.96,"ttft_check":2`:                                               0,
		`"tput":31.838,"tput_ratio":0.9,"tput_check":2`:                                             0,
		`"tput":31.838,"tput_ratio":0.9946,"tput_check":2,"ttft":100,"ttft_ratio":2,"ttft_check":3`: .05,
	} {
		f := decode.NewFile("x.json", []byte(`{"target_checks":{"target":{`+checks+`}}}`), time.Time{},
			decode.DefaultLimits())
		for _, x := range perfref.Checked(f.First, decode.Value{}, schema.Target{}) {
			if x.Tolerance != want {
				t.Errorf("%s: %s ±%g, want ±%g", checks, x.Metric, x.Tolerance, want)
			}
		}
	}
}

// A tolerance that would excuse everything, or ask for more than the limit, is none, in entries and in what a report
// repeats of them; an entry is told.
func TestToleranceIsAShare(t *testing.T) {
	for stated, want := range map[string]float64{"0.05": .05, "0": 0, "5": 0, "1": 0, "-0.1": 0} {
		entry := `{"targets":{"target":{"ttft_ms":10,"tolerance":` + stated + `}},
			"target_checks":{"target":{"ttft_ms":10,"ttft_ms_check":2}},
			"performance_targets":{"target":{"tolerance":` + stated + `}}}`
		f := decode.NewFile("x.json", []byte(entry), time.Time{}, decode.DefaultLimits())
		list, problems := perfref.Targets(&f, f.First, schema.Target{})
		checked := perfref.Checked(f.First, f.First.Get("performance_targets"), schema.Target{})
		if len(list) == 0 || list[0].Tolerance != want || len(checked) != 1 || checked[0].Tolerance != want {
			t.Errorf("%s: %+v and %+v, want %g", stated, list, checked, want)
		}
		if isBad := stated != "0.05" && stated != "0"; isBad != (len(problems) == 1) {
			t.Errorf("%s: %v", stated, problems)
		}
	}
}
