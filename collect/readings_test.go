package collect

import (
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/host"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// What is read during a measurement begins with its first request, and has the power that a program states.
func TestReadings(t *testing.T) {
	bin := t.TempDir()
	asked := filepath.Join(bin, "n")
	script := "#!/bin/sh\necho >>" + asked + "\nprintf '70.5, 40, 1024\\n29.5, 52, 2048\\n'\n"
	if err := os.WriteFile(filepath.Join(bin, "nvidia-smi"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	metrics := "vllm:num_requests_running 3\nvllm:prefix_cache_hits_total 5\nvllm:prefix_cache_queries_total 10\n"
	var served atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		served.Add(1)
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
	awaited(t, func() bool { // findMeter asked once, too; who asks again has kept what it was told before
		data, _ := os.ReadFile(asked)
		return served.Load() >= 2 && len(data) >= 3
	})
	var side manifest.Sidecar
	p.during(p.began.Add(300*time.Millisecond), 600).into(&side)
	if side.Samples == nil || side.Power == nil || side.PowerOf != schema.DefBoards ||
		side.Client["server_running_mean"] != "3" {
		t.Fatalf("%+v", side)
	}
	if row := side.Power.Rows[0]; row[1] != 100 || row[3] != 52 || row[4] != 2 || row[6] != 29.5 ||
		side.Client["power_1_mean"] != "29.5" {
		t.Errorf("two boards: %v", row)
	}
	first, read := side.Samples.Rows[0], p.gauges[0][0]
	if read < .49 || math.Abs(first[0]-(read-.3)) > .011 ||
		!slices.Equal(first[1:], []float64{3, 5, 10}) { // what the server lacks has no column
		t.Errorf("the first row is %v, read after %g s, want half a second or more, on the measurement's clock", first, read)
	}
}

// The exporter of DCGM states power in the place of what this machine states; one that states none is said, and nothing
// else is read instead.
func TestPowerFromDCGM(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	page := "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 70.5\nDCGM_FI_DEV_POWER_USAGE{gpu=\"1\"} 29.5\n"
	for _, text := range []string{page, "up 1\n"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(text)) // the test ends before the server
		}))
		var notes []string
		s := &session{report: func(e Event) { notes = append(notes, e.Note) }}
		s.plan.DCGM = srv.URL + "/metrics"
		s.findMeter(t.Context())
		if text == page {
			if s.meter == nil || s.meter.Of != schema.DefBoards || s.meter.Read(t.Context()).Watts != 100 || notes != nil {
				t.Errorf("%+v, %v", s.meter, notes)
			}
		} else if s.meter != nil || len(notes) != 1 || !strings.Contains(notes[0], "no device reports its power") {
			t.Errorf("%+v, %v", s.meter, notes)
		}
		srv.Close()
	}
}

// A tool that runs against a server without gauges: when it sent its requests is not known, and neither is its power.
func TestPowerOfAnUnknownTime(t *testing.T) {
	idle := []float64{1, 0, -1, -1, -1, -1, -1, -1}
	for name, gauges := range map[string][][]float64{"no gauges": nil, "no requests shown": {idle, idle}} {
		p := &sampler{stop: func() {}, began: time.Now().Add(-time.Minute), meter: &host.Meter{Of: schema.DefBoards},
			gauges: gauges, power: [][]float64{{1, 30, -1, -1}, {30, 300, -1, -1}, {40, 300, -1, -1}}}
		if b := p.busy(); len(b.power) > 0 || len(b.gauges) > 0 {
			t.Errorf("%s: %+v", name, b)
		}
	}
}

// A program that fails once is asked again: its later readings are of the same measurement.
func TestPowerGoesOnAfterAFailure(t *testing.T) {
	bin := t.TempDir()
	count := filepath.Join(bin, "n")
	script := "#!/bin/sh\necho x >>" + count + "\nset -- $(/usr/bin/wc -l <" + count + ")\n" +
		"[ $1 = 3 ] && exit 1\necho '70.5, 40, [N/A]'\n"
	if err := os.WriteFile(filepath.Join(bin, "nvidia-smi"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	s := &session{}
	s.findMeter(t.Context()) // asks for the first time
	p := s.sample(t.Context())
	awaited(t, func() bool { data, _ := os.ReadFile(count); return len(data)/2 >= 5 })
	if b := p.during(p.began, 600); len(b.power) < 2 {
		t.Errorf("%v after five questions", b.power)
	}
}

// awaited waits for something that happens next to the test.
func awaited(t *testing.T, so func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain")
		}
	}
}
