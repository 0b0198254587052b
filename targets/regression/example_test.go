package regression_test

import (
	"context"
	"fmt"
	"math"

	"github.com/ttreport/ttreport/targets/regression"
)

// The TTFT of one workload gets 20 % slower in the ninth release, and the tenth sees it again.
func ExampleJudge() {
	values := []float64{100, 101, 99, 100.5, 99.5, 100, 101, 99.5, 120, 121} // ms
	t := &regression.Table{Strata: 1}
	for release, v := range values {
		t.Releases = append(t.Releases, regression.Release{Joins: true})
		t.Obs = append(t.Obs, regression.Obs{Release: int32(release), Z: math.Log(v), K: 1})
	}
	t.Cells = []regression.Cell{{End: int32(len(t.Obs)), Delta: math.Log1p(.05)}} // 5 % matter

	j, err := regression.Judge(context.Background(), t, regression.DefaultRules())
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, r := range j.Rows[7:] {
		fmt.Printf("release %d: %s %s %+.0f %%\n", i+8, r.Word, r.Evidence, 100*math.Expm1(r.D))
	}
	// Output:
	// release 8: unchanged  -1 %
	// release 9: regressed suspected +20 %
	// release 10: regressed confirmed +21 %
}
