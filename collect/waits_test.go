package collect_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/ingest/schema"
)

// A server that takes requests and answers none is waited for as long as the workload says, in the warm-up too, and
// the screen says for what.
func TestNothingWaitsWithoutLimit(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"m","object":"model"}]}`))
			return
		}
		if r.Method == http.MethodPost && asked.Add(1) == 1 { // which is asked whether it is ready
			_, _ = w.Write([]byte(`{"choices":[{"index":0,"text":" a"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`))
		} else if r.Method == http.MethodPost {
			select {
			case <-stop:
			case <-r.Context().Done():
			}
		}
	}))
	defer srv.Close()
	defer close(stop)
	p := plan.Plan{Release: "v1", Model: schema.Model{Name: "m"}, Device: "truth", Seed: 1, Workloads: []plan.Workload{
		{ISL: 8, OSL: 8, Concurrency: 1, Requests: 1, Timeout: time.Second},
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	var said []string
	began := time.Now()
	out, err := collect.Run(ctx, p, &server.Attached{URL: srv.URL, Wait: time.Minute, Model: "m"}, t.TempDir(),
		func(e collect.Event) {
			if e.Final {
				said = append(said, e.Step+": "+e.Text+" "+e.Err)
			}
		})
	text := strings.Join(said, "\n")
	if err != nil || out.Failed != 1 || time.Since(began) > 60*time.Second {
		t.Errorf("%v, %d failed after %s:\n%s", err, out.Failed, time.Since(began), text)
	}
	for _, want := range []string{
		"waiting: for the answer to a request of 8 tokens, at most 1s", "warm-up:", "not answered within 1s",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing says %q:\n%s", want, text)
		}
	}
}
