package session_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/session"
)

// llama.cpp divides its context among slots, and only /props says so: a preset's points that exceed one are left out
// with the reason, before anything is measured.
func TestPointsThatExceedASlot(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := map[string]string{
			"/health": `{"status":"ok"}`, "/v1/models": `{"data":[{"id":"m"}]}`,
			"/props": `{"default_generation_settings":{"n_ctx":512},"total_slots":4}`,
		}[r.URL.Path]
		if text == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(text))
	}))
	defer srv.Close()
	r, said := request(t, "cpu", plan.ServerName{Kind: plan.ServerURL, URL: srv.URL})
	r.Options.Measure.Only, r.Options.Measure.Sweep = plan.OnlyBenchmarks, "tt-2025"
	s, err := session.New(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Plan.Workloads) == 0 {
		t.Error("nothing is left")
	}
	for _, w := range s.Plan.Workloads {
		if w.ISL+w.OSL > 512 {
			t.Errorf("%s does not fit a slot", w)
		}
	}
	if text := strings.Join(*said, "\n"); !strings.Contains(text, ": the model takes 512 tokens") {
		t.Errorf("said %q", text)
	}
}
