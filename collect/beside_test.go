package collect

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// What is read beside a measurement begins with its first request, and has the power that a program states.
func TestBeside(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\nprintf '70.5, 40\\n29.5, 52\\n'\n"
	if err := os.WriteFile(filepath.Join(bin, "nvidia-smi"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	metrics := "vllm:num_requests_running 3\nvllm:prefix_cache_hits_total 5\nvllm:prefix_cache_queries_total 10\n"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(metrics)) // the test ends before the server
	}))
	defer srv.Close()
	s := &session{}
	s.end.URL = srv.URL
	s.findMeter(t.Context())
	if s.meter == nil || s.meter.Of != schema.DefBoards {
		t.Fatalf("%+v", s.meter)
	}
	p := s.sample(t.Context())
	time.Sleep(1800 * time.Millisecond)
	var side manifest.Sidecar
	p.during(p.began.Add(300*time.Millisecond), 60, 100).into(&side)
	if side.Samples == nil || side.Power == nil || side.PowerOf != schema.DefBoards ||
		side.Client["server_running_mean"] != "3" {
		t.Fatalf("%+v", side)
	}
	if row := side.Power.Rows[0]; row[1] != 100 || row[3] != 52 {
		t.Errorf("two boards: %v", row)
	}
	first := side.Samples.Rows[0]
	if first[0] < 100.1 || first[0] > 101.4 || first[1] != 3 || first[2] != -1 || first[5] != 5 || first[6] != 10 {
		t.Errorf("the first row is %v, want one of half a second after the reading began, on the measurement's clock", first)
	}
}
