package collect

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
)

// A server that goes on with what was given up: the next rate waits until it has got rid of that.
func TestNextRateFindsAnIdleServer(t *testing.T) {
	const busy, alone = 600 * time.Millisecond, 20.
	free := time.Now().Add(busy)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(max(time.Until(free), 0) + alone*time.Millisecond)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"text\":\" a\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer srv.Close()
	s := &session{end: server.Endpoint{URL: srv.URL, Model: "m"}}
	st := &step{Item: plan.Item{Load: plan.Workload{ISL: 8, OSL: 1, FindRate: true}}}
	if err := s.recovered(t.Context(), st, alone); err != nil || time.Now().Before(free) {
		t.Errorf("%v: it goes on %s too early", err, time.Until(free))
	}
}

// A request of ten seconds: the first rates take two minutes, not three quarters of an hour, and those between a rate
// that holds and one that does not at most four.
func TestRequestsOfRate(t *testing.T) {
	for _, c := range []struct {
		rate, alone float64
		needs       int
		near        bool
		want        int
	}{
		{.1, 10, 1, false, 16}, {.1, 10, 1, true, 32}, {10, 10, 1, true, 1600}, {.1, 10, 200, false, 266},
		{5, .2, 1, false, 20}, {5, .2, 1, true, 266}, {500, .01, 1, true, 2000}, {5000, .2, 1, false, requestsOfProbe},
	} {
		if got := requestsOfRate(c.rate, c.alone, c.needs, c.near); got != c.want {
			t.Errorf("%+v: %d requests", c, got)
		}
	}
}
