package collect

import (
	"testing"
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
nonsense
`)
	if v[0] != 7 || v[1] != 12 || v[2] != .25 || v[3] != -1 {
		t.Error(v)
	}
}
