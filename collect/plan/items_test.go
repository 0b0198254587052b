package plan

import (
	"testing"

	"github.com/ttreport/ttreport/collect/tool"
)

// What is planned has the name that the tool's result has, or it would count as missing although it was measured.
func TestPlannedAsItIsRead(t *testing.T) {
	aiperf, _ := tool.Named("aiperf")
	guidellm, _ := tool.Named("guidellm")
	for _, tt := range []struct {
		tool tool.Adapter
		load Workload
		want string
	}{
		{aiperf, Workload{ISL: 1, OSL: 1, Concurrency: 1}, "synthetic"},
		{guidellm, Workload{ISL: 1, OSL: 1, Concurrency: 1}, "synthetic_text"},
		{tool.Builtin().Adapter, Workload{ISL: 1, OSL: 1, Concurrency: 1}, "random"},
		{aiperf, Workload{Dataset: "sharegpt", Rate: 1}, "sharegpt"},
	} {
		if got := (Item{Tool: tool.Tool{Adapter: tt.tool}, Load: tt.load}).Workload().Dataset; got != tt.want {
			t.Errorf("%s of %s: %q, want %q", tt.load, tt.tool.Name, got, tt.want)
		}
	}
}
