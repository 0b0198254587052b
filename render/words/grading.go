package words

import (
	"fmt"

	"github.com/ttreport/ttreport/targets/gate"
)

// Grading says how many workloads were graded against a target; "" where none was measured.
func Grading(c gate.Grading) string {
	if c.Workloads == 0 {
		return ""
	}
	out := fmt.Sprintf("Graded against targets: %s of %s.", Count(c.Graded), Plural(c.Workloads, "workload"))
	if c.Graded < c.Workloads {
		out += " What has no target was not graded, which is not a pass."
	}
	return out
}
