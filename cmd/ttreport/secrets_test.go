package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// planted are secrets in the shapes that they take in real files; every one of them contains the mark.
const mark = "PLANTED"

var planted = struct{ key, bearer, url, home, flag, env string }{
	key:    `hf_` + mark + `abcdefghij1234`,
	bearer: `Authorization: Bearer ` + mark + `abcdef123456`,
	url:    `https://user:` + mark + `pass@host.example/v1`,
	home:   `/home/` + mark + `user/models/tiny`,
	flag:   `tool run --api-key ` + mark + `secret99 --header X-Auth-Token=` + mark + `x1y2z3`,
	env:    `OPENAI_API_KEY=` + mark + `sekrit9 HF_TOKEN=` + mark + `tok123`,
}

// leaky is a result of every format with secrets wherever it has room for text.
func leaky() map[string]string {
	all := strings.Join([]string{planted.key, planted.bearer, planted.url, planted.flag, planted.env}, " ")
	fields := `"api_key":"` + mark + `k123","hf_token":"` + mark + `t123","server_command":"` + all + `","note":"` + all + `","extra_body":{"password":"` + mark + `pw","nested":{"secret":"` + mark + `s","url":"` + planted.url + `"}},`
	serve := `{` + fields + `"model_id":"` + planted.home + `","tokenizer_id":"` + planted.home + `","generated_texts":["` + mark + ` answer"],"prompt":"` + mark + ` question","date":"20260101-000000","num_prompts":10,"errors":["` + all + `"],"completed":8,"duration":2.0,"output_throughput":20.5,"mean_ttft_ms":10.25,"label":"` + planted.key + `","dataset_name":"` + planted.home + `"}`
	return map[string]string{
		"vllm/a.json":     serve,
		"vllm/a.commands": `{"gpu_type":"H100","server_command":"` + all + `","client_command":"` + all + ` --random-input-len 5"}`,
		"sweep/B/run=0.json": strings.Replace(serve, "{",
			`{"run_number":0,"p99_ttft_ms":99.5,"mean_tpot_ms":3.25,"max_concurrency":3,`, 1),
		"thr/t.json":                        `{` + fields + `"elapsed_time":2.0,"num_requests":4,"requests_per_second":2.0,"tokens_per_second":99.5}`,
		"lat/l.json":                        `{` + fields + `"avg_latency":2.5,"latencies":[2.5],"percentiles":{"99":2.5}}`,
		"hud/x.json":                        `[{"benchmark":{"extra_info":{"args":{"api_key":"` + mark + `k","base_url":"` + planted.url + `","seed":"` + planted.key + `"}}},"model":{"name":"` + planted.home + `"},"metric":{"name":"mean_ttft_ms","benchmark_values":[1.5]}}]`,
		"aiperf/p/profile_export.json":      `{"time_to_first_token":{"unit":"ms","avg":10},"request_count":{"unit":"requests","avg":8},"error_request_count":{"unit":"requests","avg":1},"custom":"` + all + `","input_config":{"endpoint":{"model_names":["` + planted.home + `"],"api_key":"` + mark + `k","urls":["` + planted.url + `"]},"tokenizer":{"name":"` + planted.home + `"},"cli_command":"aiperf profile --model m --api-key '` + mark + `k1' --header 'Authorization: Bearer ` + mark + `b123456' ` + planted.home + `"},"error_summary":[{"error_details":{"message":"` + all + `"},"count":1}]}`,
		"aiperf/q/x.jsonl":                  `{"metadata":{"x_request_id":"a","request_start_ns":1790000000000000000},"metrics":{"request_latency":{"value":5},"output_sequence_length":{"value":5}}}` + "\n" + `{"metadata":{"x_request_id":"b"},"metrics":{},"error":{"message":"` + all + `"}}`,
		"lmeval/results.json":               `{"results":{"t":{"acc,none":0.5}},"model_name":"` + planted.home + `","config":{"model_args":"model=x,api_key=` + mark + `k,base_url=` + planted.url + `"},"pretty_env_info":"` + all + `"}`,
		"lmeval/samples_t.jsonl":            `{"doc_id":0,"doc":{"q":"` + mark + `"},"target":"` + mark + `","arguments":{"a":"` + mark + `"},"resps":[["` + mark + `"]],"filtered_resps":["` + mark + `"],"acc":1.0}`,
		"trt/b.log":                         "[BENCHMARK] engine_dir " + planted.home + " batch_size 1 input_length 60 output_length 20 latency(ms) 10.5 api_key " + mark + "k odd " + planted.key + "\n",
		"trt/r.json":                        `{"engine":{"model":"` + planted.home + `","version":"1.0"},"request_info":{"num_requests":4},"performance":{"request_throughput_req_s":2.5},"energy":{"token":"` + mark + `t"},"decoding_stats":{"mode":"` + planted.key + `"}}`,
		"nm/r.json":                         `{"json_schema_version":"0.0.0","benchmarking_context":{"vllm_version":"0.5.1"},"model":"` + planted.home + `","dataset":"` + planted.home + `","description":"` + all + `","metrics":{"mean_ttft_ms":{"value":1.5,"unit":"ms"}}}`,
		"nm/data.js":                        `window.BENCHMARK_DATA = {"lastUpdate":1,"entries":{"s":[{"commit":{"id":"c1","message":"` + all + `"},"date":1720492032018,"benches":[{"name":"{\"name\":\"mean_ttft_ms\",\"description\":\"` + planted.key + `\"}","value":2.5,"unit":"ms","extra":"{\"model\":\"` + planted.home + `\",\"script_args\":{\"api_key\":\"` + mark + `\"}}"}]}]}}`,
		"sglang/s.jsonl":                    `{` + fields + `"completed":4,"mean_e2e_latency_ms":5.5,"output_throughput":9.5,"tag":"` + planted.key + `","server_info":{"model_path":"` + planted.home + `","api_key":"` + mark + `k"}}`,
		"guide/b.json":                      `{"config":{"spec":{"backend":{"api_key":"` + mark + `k","target":"` + planted.url + `"}}},"benchmarks":[{"config":{"backend":{"model":"` + planted.home + `"},"strategy":{"type_":"synchronous"}},"requests":{"errored":[{"info":{"error":"` + all + `"}}]},"metrics":{"request_totals":{"successful":3,"errored":1},"request_latency":{"successful":{"mean":1.5,"count":3}}}}]}`,
		"iperf/stage_0_lifecycle.json":      `{"load_summary":{"count":4,"api_key":"` + mark + `k","note":"` + all + `"},"successes":{"count":4,"latency":{"time_to_first_token":{"mean":0.5}}},"failures":{"count":0}}`,
		"infx/agg.json":                     `{"hw":"h200","conc":1,"model":"` + planted.home + `","image":"` + planted.url + `","note":"` + all + `","mean_ttft":0.5}`,
		"llmd/r.yaml":                       "version: '0.2'\nrun: {user: " + mark + "user, uid: abc}\nscenario:\n  stack:\n  - standardized: {kind: inference_engine, tool: llm-d, tool_version: '" + planted.url + "', model: {name: " + planted.home + "}}\n    native: {envars: {HF_TOKEN: " + mark + "tok}}\n  load: {standardized: {tool: inference-perf, source: '" + planted.key + "'}}\nresults:\n  request_performance:\n    aggregate:\n      requests: {total: 4, failures: 0}\n      latency: {time_to_first_token: {units: s, mean: 0.5}}\n",
		"ttis/report_data_x.json":           `{"metadata":{"report_id":"x","model_name":"` + planted.home + `","device":"n150","run_command":"` + all + `"},"sections":[{"kind":"benchmarks","data":{"mean_ttft_ms":1.5,"filename":"` + planted.home + `"}}],"acceptance_blockers":{"evals.x":"` + all + `"}}`,
		"mani/x.json":                       strings.Replace(serve, "10.25", "11.75", 1),
		"mani/ttreport.manifest.yaml":       "stack: {engine: vllm, image: '" + planted.url + "'}\nrelease: '" + planted.key + "'\n",
		"side/x.json":                       strings.Replace(serve, "10.25", "12.75", 1),
		"side/x.json.ttreport.json":         `{"schema":"ttreport/sidecar/v1","result":"x.json","tool":"t","conditions":{"api_key":"` + mark + `k"},"client":{"note":"` + planted.key + `"},"argv":["t","--api-key","` + mark + `k","--header","Authorization: Bearer ` + mark + `b"],"start":"2026-01-01T05:00:00Z","end":"2026-01-01T05:01:00Z","exit_code":0}`,
		"home/" + mark + "user/keep/x.json": `{"completed":3,"output_throughput":1.5}`,
		"own/doc.json":                      `{"schema":"ttreport/v1","id":"doc-1","start":"2026-01-02T03:04:05Z","release":"` + planted.key + `","model":{"id":"` + planted.home + `"},"extra":{"api_key":"` + mark + `k","note":"` + all + `"},"provenance":{"release":{"from":"file","where":"` + planted.home + `"}},"problems":[{"severity":"warning","code":"x","found":"` + all + `","path":"x"}],"points":[{"key":{"task":"text","tool":"vllm","isl":128,"osl":64,"concurrency":1,"rate":null,"dataset":"` + planted.home + `","dims":{"label":"` + planted.key + `"}},"status":"ok","command":["t","--api-key","` + mark + `k"],"conditions":{"api_key":"` + mark + `k"},"client":{"note":"` + planted.key + `"},"extra":{"hf_token":"` + mark + `t","nested":{"a":"` + planted.bearer + `"}},"metrics":{"ttft":{"unit":"ms","def":"first-chunk","mean":10.5},"tpot":{"unit":"ms","missing":"` + all + `"}},"source":{"path":"` + planted.home + `","format":"vllm-serve"}}],"scores":[{"task":"` + planted.key + `","metric":"acc","value":0.5}]}`,
		"own/points.csv":                    "release,run,start_utc,model,device,task,tool,isl,osl,concurrency,dims,repeat,status,ttft_mean_ms,missing_reason\n" + planted.key + ",csv-1,2026-01-02T03:04:05Z," + planted.home + ",n150,text,vllm,128,64,4,label=" + planted.key + ",1,failed,," + all + "\n",
		"unknown/u.json":                    `{"completed":3,"token":"` + mark + `t","x":"` + all + `"}`,
		"cut/c.json":                        `{"completed":3,"token":"` + mark + `t","x":"` + all,
	}
}

// No secret, no prompt, no answer and no home folder reaches history or the site, from any format.
func TestSecretsStayOut(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	files := leaky()
	delete(files, "home/"+mark+"user/keep/x.json") // a folder's name is not ours to hide: only /home/… is
	out, said := buildOf(t, files)
	var listing, errs bytes.Buffer
	if code := run(context.Background(), []string{"inspect", "--json", "in"}, nil, &listing, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	for name, text := range map[string]string{"output": out, "messages": said + errs.String(),
		"inspect": listing.String()} {
		leak(t, name, text)
	}
	read := 0
	for _, root := range []string{"history", "_site", ".ttreport"} {
		err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := os.ReadFile(name)
			leak(t, name, name+" "+string(data))
			read++
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var seen struct {
		Files []struct {
			Path, Format   string
			PartOf         string `json:"part_of"`
			Points, Scores int
		}
	}
	if err := json.Unmarshal(listing.Bytes(), &seen); err != nil {
		t.Fatal(err)
	}
	formats := map[string]bool{}
	for _, f := range seen.Files {
		if f.Points+f.Scores > 0 {
			formats[f.Format] = true
		} else if !strings.Contains("a.commands samples_t.jsonl ttreport.manifest.yaml x.json.ttreport.json u.json c.json", filepath.Base(f.Path)) {
			t.Errorf("%s (%s, part of %q) gave no result: the test does not cover it", f.Path, f.Format, f.PartOf)
		}
	}
	if read < 60 || len(formats) < 18 {
		t.Errorf("only %d files and %d formats: the test saw too little", read, len(formats))
	}
}

func leak(t *testing.T, name, text string) {
	t.Helper()
	for rest := text; ; {
		i := strings.Index(rest, mark)
		if i < 0 {
			return
		}
		t.Errorf("%s: …%s…", name, rest[max(0, i-80):min(len(rest), i+40)])
		if rest = rest[i+len(mark):]; t.Failed() && strings.Count(rest, mark) > 20 {
			return
		}
	}
}
