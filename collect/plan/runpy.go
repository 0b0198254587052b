package plan

import (
	"cmp"
	"fmt"
)

// RunPy holds flags of tt-inference-server's run.py that have another name here; see ttreport help run-py.
type RunPy struct {
	Workflow    string // benchmarks, evals, release, reports or server
	Device      string
	LimitMode   string // smoke-test, ci-commit, ci-nightly or ci-long
	Docker      bool
	LocalServer bool
}

// Workflows of run.py that the caller must act on.
const (
	WorkflowRelease = "release" // the report follows the measurement
	WorkflowReports = "reports" // the report alone
	WorkflowServer  = "server"  // the server alone
)

// ApplyRunPy translates flags of run.py.
func (o *Options) ApplyRunPy(r RunPy) error {
	o.System.Device = cmp.Or(o.System.Device, r.Device)
	switch r.Workflow {
	case "", WorkflowRelease, WorkflowReports, WorkflowServer:
	case string(OnlyBenchmarks), string(OnlyEvals):
		o.Measure.Only = Only(r.Workflow)
	default:
		return usage("workflows are benchmarks, evals, release, reports and server; ttreport help run-py",
			"collect: --workflow %q", r.Workflow)
	}
	if r.Docker {
		o.Server.Name = ServerName{Kind: ServerDocker}
	}
	if r.LocalServer {
		o.Server.Name = ServerName{Kind: ServerURL, URL: fmt.Sprintf("http://127.0.0.1:%d", cmp.Or(o.Server.Port, usualPort))}
	}
	limit, ok := map[string]int{"": 0, "smoke-test": 3, "ci-commit": 20, "ci-nightly": 100, "ci-long": 500}[r.LimitMode]
	if !ok {
		return usage("modes are smoke-test, ci-commit, ci-nightly and ci-long", "collect: --limit-samples-mode %q",
			r.LimitMode)
	}
	o.Evals.Limit = cmp.Or(o.Evals.Limit, limit)
	return nil
}
