package judge_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// Where a system is measured on several hosts, a change that only one of them shows is not confirmed, however often it
// shows it; a run on another host settles it. One host, or none that is stated, asks for nothing.
func TestAnotherHostConfirms(t *testing.T) {
	values := judgetest.Steady(9)
	for r := 6; r < 9; r++ {
		values[r][3] *= 1.3
	}
	for name, c := range map[string]struct {
		hosts string // by release
		want  [3]schema.Evidence
	}{
		"not stated":     {"---------", [3]schema.Evidence{schema.Suspected, schema.Confirmed, schema.NoEvidence}},
		"one host":       {"aaaaaaaaa", [3]schema.Evidence{schema.Suspected, schema.Confirmed, schema.NoEvidence}},
		"in turns":       {"ababababa", [3]schema.Evidence{schema.Suspected, schema.Confirmed, schema.NoEvidence}},
		"the same twice": {"ababaabbb", [3]schema.Evidence{schema.Suspected, schema.Suspected, schema.Suspected}},
		"then another":   {"abababaab", [3]schema.Evidence{schema.Suspected, schema.Suspected, schema.Confirmed}},
		"long gone, new": {"bbbbbbaaa", [3]schema.Evidence{schema.Suspected, schema.Suspected, schema.Suspected}},
	} {
		columns := judgetest.History{TTFT: values}.Columns()
		for r := range columns.Runs {
			if host := c.hosts[r : r+1]; host != "-" {
				columns.Runs[r].Setting = map[string]string{"host": "host-" + host}
			}
		}
		j := judged(t, columns, nil)
		for i, want := range c.want {
			v := judgetest.Find(j.History(6+i), judgetest.Workload(4))
			if v.Evidence != want {
				t.Errorf("%s, release %d of the change: %s %s, want %q (%+v)", name, i+1, v.Outcome, v.Evidence, want, v.Reason)
			}
			why := v.Reason.(schema.Change)
			if (why.Why == schema.WhyOtherHost) != (i > 0 && want == schema.Suspected) ||
				(why.Why == schema.WhyOtherHost) != (why.Host != "") {
				t.Errorf("%s, release %d of the change: %+v", name, i+1, why)
			}
		}
	}
}
