package format_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/format"
	"github.com/ttreport/ttreport/ingest/schema"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var llmPerfReader = Reader{Detect: format.LLMPerf.Detect, Read: format.LLMPerf.Read}

const llmPerfSummary = `{"version":"2023-08-31","name":"m_550_150_summary","model":"acme/m","mean_input_tokens":550,` +
	`"stddev_input_tokens":150,"mean_output_tokens":150,"stddev_output_tokens":0,"num_concurrent_requests":5,` +
	`"results_inter_token_latency_s_quantiles_p50":0.0116,"results_inter_token_latency_s_mean":0.0119,` +
	`"results_ttft_s_quantiles_p50":0.24,"results_ttft_s_quantiles_p99":0.58,"results_ttft_s_mean":0.25,` +
	`"results_ttft_s_stddev":0.14,"results_end_to_end_latency_s_mean":1.2,` +
	`"results_request_output_throughput_token_per_s_mean":84.5,"results_number_input_tokens_mean":"551",` +
	`"results_number_output_tokens_mean":149.5,"results_num_completed_requests":60,"results_number_errors":2,` +
	`"results_mean_output_throughput_token_per_s":410.5,"results_num_completed_requests_per_min":120,` +
	`"timestamp":1700000000}`

func TestLLMPerfSummary(t *testing.T) {
	r := llmPerfReader.Must(t, "x_summary.json", llmPerfSummary)
	p := r.Points[0]
	Expect(t, p, map[string]float64{
		"ttft.mean": 250, "ttft.median": 240, "ttft.p99": 580, "ttft.std": 140, "ntpot.mean": 11.9, "e2el.mean": 1200,
		"output_tps.value": 410.5, "rps.value": 2, "osl.mean": 149.5, "requests_ok.value": 60, "tps_user.mean": 84.5,
	})
	if *p.Key.ISL != 550 || *p.Key.Concurrency != 5 || p.Key.Dims["prompt_tokens_stdev"] != "150" ||
		p.Status != schema.StatusPartial || r.Facts.Start.Unix() != 1700000000 || r.Facts.Model.ID != "acme/m" {
		t.Errorf("%s %s %+v", p.Key, p.Status, r.Facts)
	}
}

func TestLLMPerfResponsesAreOfTheSummary(t *testing.T) {
	r := llmPerfReader.Must(t, "x.json", `[{"error_code":null,"ttft_s":0.2,"end_to_end_latency_s":1.5}]`)
	if r.Format != "llmperf-responses" || len(r.Points) != 0 {
		t.Error(r)
	}
}

func FuzzLLMPerf(f *testing.F) { llmPerfReader.Fuzz(f, "x.json", llmPerfSummary) }
