package ttis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
	"github.com/ttreport/ttreport/ingest/ttis"
)

// What each client writes, by version, in one unit under one name.
func TestMedia(t *testing.T) {
	around := func(task, numbers string) string {
		return `{"benchmarks":{` + numbers + `},"model":"M","device":"N150","timestamp":"2026-06-20 10:00:00",` +
			`"task_type":"` + task + `","streaming_enabled":true}`
	}
	for name, c := range map[string]struct {
		file, key string
		want      map[string]float64
	}{
		"a network, v0.17": {
			around("cnn", `"num_requests":20,"latency":0.131,"latency_p50":0.128,"latency_p95":0.17,"throughput_rps":7.6`),
			"cnn/media-client/isl=-/osl=-/c=1/rate=-/-",
			map[string]float64{"e2el.mean": 131, "e2el.median": 128, "e2el.p95": 170, "rps.value": 7.6,
				schema.MetricRequestsUser + ".value": 1000. / 131},
		},
		"an image, v0.1": {
			`{"benchmarks: ":` + around("image", `"num_requests":4,"num_inference_steps":20,"ttft":2.5,`+
				`"inference_steps_per_second":8`) + `,"model":"M","device":"n150","task_type":"image"}`,
			"image/media-client/isl=-/osl=-/c=1/rate=-/-",
			map[string]float64{"e2el.mean": 2500, schema.MetricSteps + ".value": 8},
		},
		"sound to text": {
			around("audio", `"num_requests":2,"num_inference_steps":0,"ttft":0.3,"t/s/u":28.5,"rtr":14`),
			"asr/media-client/isl=-/osl=-/c=1/rate=-/-",
			map[string]float64{"ttft.mean": 300, "tps_user.value": 28.5, schema.MetricRealTime + ".value": 14},
		},
		"a voice: its client stops at the first sound": {
			around("tts", `"num_requests":10,"latency":1.9,"rtr":1.14,"latency_p90":2.3`),
			"tts/media-client/isl=-/osl=-/c=1/rate=-/-",
			map[string]float64{"ttft.mean": 1900, "ttft.p90": 2300, schema.MetricRealTime + ".value": 1.14},
		},
		"embeddings: e2el in ms, percentiles in s": {
			around("embedding", `"isl":512,"concurrency":8,"num_requests":1000,"tput_user":5643.23,"tput_prefill":45145.9,`+
				`"e2el":5251.2,"req_tput":88.2,"latency_p95":6.6`),
			"embedding/media-client/isl=512/osl=-/c=8/rate=-/-",
			map[string]float64{"e2el.mean": 5251.2, "e2el.p95": 6600, schema.MetricInputUser + ".value": 5643.23,
				schema.MetricInputRate + ".value": 45145.9, "rps.value": 88.2},
		},
	} {
		r := reader.Must(t, "benchmark_id_i_M_n150_1767225600.5.json", c.file)
		if r.Format != ttis.Media || len(r.Points) != 1 {
			t.Errorf("%s: %s, %d points", name, r.Format, len(r.Points))
			continue
		}
		p := r.Points[0]
		drafttest.Expect(t, p, c.want)
		if p.Key.String() != c.key || !p.Key.Comparable() || r.Facts.Model.Name != "M" {
			t.Errorf("%s: %s of %+v", name, p.Key, r.Facts)
		}
	}
	n, ok := ttis.NameFacts("w/benchmarks_output/benchmark_id_i_M_n150_1767225600.9903493.json")
	if !ok || n.ModelID != "id_i_M_n150" || n.Facts.Device.Name != "n150" {
		t.Errorf("%v %+v", ok, n)
	}
}

// Where a file does not say whether it streamed, its TTFT has no definition, and no condition says "false".
func TestUnstatedStream(t *testing.T) {
	for stated, want := range map[string]string{
		"": schema.DefNotStated, `,"streaming_enabled":true`: schema.DefFirstContent,
		`,"streaming_enabled":false`: schema.DefLastChunk,
	} {
		p := reader.Must(t, "benchmark_x_1767225600.5.json", `{"benchmarks":{"num_requests":2,"ttft":0.3},"model":"M",`+
			`"device":"N150","timestamp":"2026-06-20 10:00:00","task_type":"audio"`+stated+`}`).Points[0]
		if drafttest.Metric(p, "ttft").Kind().Def != want || (p.Conditions["streaming"] == "") != (stated == "") {
			t.Errorf("%q: %+v, %v", stated, drafttest.Metric(p, "ttft"), p.Conditions)
		}
	}
}

// The first clients, of August 2025, wrote the id of a specification as the model.
func TestMediaOfASpecification(t *testing.T) {
	r := reader.Must(t, "benchmark_x_1754656999.5.json", `{"benchmarks":{"num_requests":2,"num_inference_steps":20,`+
		`"ttft":13.98,"inference_steps_per_second":1.43},"model":"id_tt-transformers_sd-xl-base-1.0_n150","device":"N150",`+
		`"timestamp":"2025-08-08 12:43:21","task_type":"cnn"}`)
	if r.Facts.Model.Name != "sd-xl-base-1.0" || r.Facts.Impl != "tt-transformers" || len(r.Points) != 1 {
		t.Errorf("%+v, %d points", r.Facts, len(r.Points))
	}
}

// A latency that a client writes as "score" is no score.
func TestMediaScores(t *testing.T) {
	const head = `{"model":"M","device":"n150","timestamp":"2026-01-01 00:00:00","accuracy_check":2,`
	for text, want := range map[string]string{
		`"task_type":"cnn","task_name":"load_image","score":0.131,"correct":93,"total":100`: "load_image accuracy " +
			"0.93 of 100; ",
		`"task_type":"tts","task_name":"tts_generation","score":1.9`: "",
		`"task_type":"image","task_name":"g","fid_score":24.1,"average_clip":27.4,"num_prompts":10`: "g clip 27.4 of 10; " +
			"g fid 24.1 of 10; ",
		`"task_type":"cnn","task_name":"a","correct":9,"total":10},` + head +
			`"task_type":"cnn","task_name":"b","correct":1,"total":4`: "a accuracy 0.9 of 10; b accuracy 0.25 of 4; ",
	} {
		got := ""
		for _, s := range reader.Must(t, "results_1767225600.5.json", "["+head+text+"}]").Scores {
			x, _ := s.Value.Get()
			got += fmt.Sprintf("%s %s %g of %d; ", s.Task, s.Metric, x, s.N)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// An entry that is no score is named, and the others count.
func TestMediaScoresBeside(t *testing.T) {
	const one = `{"model":"M","device":"n150","timestamp":"2026-01-01 00:00:00","accuracy_check":2,"task_name":"a",` +
		`"correct":9,"total":10}`
	r := reader.Must(t, "results_1767225600.5.json", "["+one+`,{"error":"no answer"},3,`+one+"]")
	if len(r.Scores) != 2 || len(r.Problems) != 2 || r.Problems[0].Code != "bad-score" || r.Problems[0].Line != 1 {
		t.Errorf("%d scores, %v", len(r.Scores), r.Problems)
	}
}

// The reports have the same numbers rounded, in milliseconds; a row of statistics is no row of text.
func TestMediaRows(t *testing.T) {
	r := reader.Must(t, "benchmark_stats_x.csv", "timestamp,model,model_name,model_id,backend,device,num_requests,"+
		"mean_latency_ms,throughput_rps,filename,task_type,performance_check,p50_latency_ms,p90_latency_ms,p95_latency_ms\n"+
		"1767225600.25,M,M,M,cnn,n150,20,131.0,7.63,benchmark_id_i_M_n150_1767225600.25.json,cnn,3,128.38,n/a,n/a\n")
	p := r.Points[0]
	drafttest.Expect(t, p, map[string]float64{"e2el.mean": 131, "e2el.median": 128.38, "rps.value": 7.63})
	if p.Key.Tool != schema.ToolMedia || p.Start.Unix() != 1767225600 || p.Conditions[ttis.RawFile] == "" {
		t.Errorf("%s at %v, %v", p.Key, p.Start, p.Conditions)
	}
	data := reader.Must(t, "report_data_x.json", `{"metadata":{"report_id":"x"},"sections":[{"kind":"benchmarks",`+
		`"task_type":"audio","data":{"records":[{"name":"Benchmarks 30s","num_requests":4,"ttft":0.16},`+
		`{"name":"Benchmarks 60s","num_requests":4,"ttft":0.31}],"target_checks":{"target":{"ttft":800,"ttft_check":2}}}}]}`)
	if len(data.Points) != 2 || data.Points[0].Key.Dims["sound"] != "30" || data.Points[1].Key.Dims != nil ||
		len(data.Targets) != 1 || !data.Targets[0].Matches(data.Points[1].Key) ||
		data.Targets[0].Matches(data.Points[0].Key) {
		t.Errorf("%+v %+v", data.Points, data.Targets)
	}
}

// Limits that a report of v0.17 states for media are those of the task, in the units of its numbers.
func TestMediaLimits(t *testing.T) {
	r := reader.Must(t, "report_data_x.json", `{"metadata":{"report_id":"x"},"benchmarks_summary":[`+
		`{"task_type":"tts","latency":1.9,"target_checks":{"target":{"latency":2.0,"latency_check":2,"tput_check":1}}},`+
		`{"task_type":"cnn","target_checks":{"target":{"latency":0.05,"latency_check":3},`+
		`"gold":{"latency":1,"latency_check":2}}},`+
		`{"task_type":"embedding","ISL":512,"target_checks":{"target":{"tput_user":5750.0,"tput_user_check":3,`+
		`"e2el_ms":8300,"e2el_ms_check":2}}}]}`)
	got := ""
	for _, x := range r.Targets {
		got += fmt.Sprintf("%s %s %g %s; ", x.Key.Task, x.Metric, x.Value, x.Unit)
	}
	if want := "tts ttft 2000 ms; cnn e2el 50 ms; embedding " + schema.MetricInputUser + " 5750 tok/s; " +
		"embedding e2el 8300 ms; "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	unknown := func(p schema.Problem) bool { return p.Code == "unknown-level" && strings.Contains(p.Found, `"gold"`) }
	if !slices.ContainsFunc(r.Problems, unknown) {
		t.Errorf("no word about a level that is unknown: %+v", r.Problems)
	}
}
