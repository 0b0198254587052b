package collect

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

func TestReadGauges(t *testing.T) {
	v := parseGauges(`# HELP vllm:num_requests_running Number of requests
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 3.0
vllm:num_requests_running{engine="1",model_name="m"} 4.0
vllm:num_requests_waiting{model_name="m, with a space"} 12
vllm:kv_cache_usage_perc{engine="0"} 0.25
vllm:kv_cache_usage_perc{engine="1"} 0.125
vllm:num_requests_running_bucket{le="1"} 99
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="0"} 90
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="1"} 40
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="1",position="1"} 5
nonsense
`)
	if at := len(v) - schema.Places; v[at] != 90 || v[at+1] != 45 || v[at+2] != -1 {
		t.Error("drafts:", v[at:])
	}
	if v[0] != 7 || v[1] != 12 || v[2] != .25 || v[3] != -1 {
		t.Error(v)
	}
}
