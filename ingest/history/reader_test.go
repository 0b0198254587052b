package history_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/history"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var reader = Reader{Detect: history.Detect, Read: history.ReadFile}

const (
	pointsTable = "release,run,start_utc,model,device,task,tool,isl,osl,concurrency,rate_req_s,dims,repeat,status," +
		"requests_ok,ttft_mean_ms,ttft_p99.9_ms,ttft_def,tpot_mean_ms,tps_user_tok_s,output_tps_tok_s,rps_req_s,new_column," +
		"missing_reason\r\n" +
		"v1,r1,2026-01-02T03:04:03Z,tiny,n150,text,vllm,128,64,8,,tp=8/label=a%2Fb,2,ok,4,10.25,99.5,first-chunk,2.5,400," +
		"128.5,2,teal,\r\n" +
		"v1,r1,2026-01-02T03:04:03Z,tiny,n150,text,vllm,128,64,16,,,1,failed,,,,,,,,,,the server was down\r\n" +
		"v2,r2,,'=cmd,n300,text,vllm,,,,2.5,,x,partial,1,nan,,,,,,,,\r\n"
	scoresTable = "release,run,model,device,task,metric,filter,value,stderr,n,total,fewshot,limit,direction," +
		"missing_reason\n" +
		"v1,r1,tiny,n150,gsm8k,exact_match,strict-match,0.5,0.05,100,1319,5,100,higher,\nv1,r1,tiny,n150,gsm8k,exact_match," +
		"flexible,,,,,,,,the file says \"N/A\"\n"
	document = `{"schema":"ttreport/v1","id":"r","start":"2026-01-02T03:04:05Z","model":{"id":"acme/tiny"},` +
		`"points":[{"key":{"task":"text","tool":"vllm","isl":128,"osl":64,"concurrency":1,"rate":null,"dataset":"",` +
		`"dims":{}},"status":"ok","metrics":{"ttft":{"unit":"ms","def":"first-chunk","mean":10.5}},` +
		`"source":{"path":"a.json","format":"vllm-serve"}}],"scores":[{"task":"t","metric":"acc","value":0.5}]}`
	listing = `{"schema":"ttreport/inspect/v1","files":[],"runs":[` + document + `]}`
)

// A table is read by its columns' names: of runs that it has rows of, with what older and newer versions add or lack.
func TestTables(t *testing.T) {
	r := reader.Must(t, "points.csv", pointsTable)
	if len(r.Points) != 2 || len(r.More) != 1 || r.Facts.RunID != "r1" || r.More[0].Facts.Model.Name != "=cmd" ||
		r.More[0].Facts.Device.Name != "n300" || *r.More[0].Points[0].Key.Rate != 2.5 {
		t.Fatalf("%+v", r)
	}
	p := r.Points[0]
	Expect(t, p, map[string]float64{
		"ttft.mean": 10.25, "ttft.p99.9": 99.5, "tpot.mean": 2.5, "tps_user.value": 400, "output_tps.value": 128.5,
		"rps.value": 2, "requests_ok.value": 4,
	})
	if Metric(p, "ttft").Kind().Def != "first-chunk" || Metric(p, "tpot").Kind().Def != "not-stated" ||
		p.Key.Dims["label"] != "a/b" ||
		p.Key.Dims["tp"] != "8" || p.Repeat != 2 {
		t.Errorf("%s %+v", p.Key, p.Metrics)
	}
	if failed := r.Points[1]; failed.Status != "failed" || Metric(failed, "ttft").Kind().Why != "the server was down" {
		t.Errorf("%+v", failed)
	}
	s := reader.Must(t, "scores.csv", scoresTable).Scores
	if v, _ := s[0].Value.Get(); v != .5 || s[0].N != 100 || *s[0].Fewshot != 5 ||
		s[1].Value.Why() != `the file says "N/A"` {
		t.Errorf("%+v", s)
	}
	for _, other := range []string{"a,b,c\n1,2,3\n", "release,run,model\n", ""} {
		if m := history.Detect(File("x.csv", other)); m.OK() {
			t.Errorf("%q is taken for a table of ours", other)
		}
	}
}

// A document that another program wrote or changed is read as far as it is valid; what is left out is reported.
func TestUnsoundDocument(t *testing.T) {
	point := func(status, metrics string) string {
		return `{"key":{"task":"text","tool":"vllm","isl":1,"osl":1},"status":"` + status + `","metrics":{` + metrics + `}}`
	}
	r := reader.Must(t, "x.json",
		`{"schema":"ttreport/v1","id":"r","points":[{},`+point("ok",
			`"ttft":{"unit":"s","mean":0.5},"tpot":{"unit":"ms","mean":2.5},"e2el":{"unit":"ms"},"speed":{"unit":"ms",`+
				`"mean":1},"itl":{"unit":"ms","mean":-1}`)+`,`+point("failed",
			`"ttft":{"unit":"ms","mean":5},"requests_failed":{"unit":"req","value":4}`)+`],"scores":[{"metric":"acc",`+
			`"value":0.5},{"task":"t","metric":"acc","value":0.5}],"problems":[{"x":1}]}`)
	if len(r.Points) != 2 || len(r.Scores) != 1 || Codes(r) != "unsound-document" || len(r.Points[0].Metrics) != 1 ||
		len(r.Points[1].Metrics) != 1 {
		t.Errorf("%+v", r)
	}
	if whole := reader.Must(t, "x.json", document); Codes(whole) != "" || len(whole.Points) != 1 {
		t.Errorf("%v", whole.Problems)
	}
}

func FuzzRead(f *testing.F) {
	reader.Fuzz(f, "points.csv", pointsTable, scoresTable, document, listing)
}
