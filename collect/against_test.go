package collect_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// machine is what two servers share: each start of either is noted.
type machine struct {
	starts []string
	fails  int // the start that fails, from 1; 0: none
	up     int
}

// turning is a simulator on a machine.
type turning struct {
	*server.Simulated
	on   *machine
	name string
}

func (s *turning) Start(ctx context.Context, dir string) (server.Endpoint, error) {
	s.on.starts = append(s.on.starts, s.name)
	if len(s.on.starts) == s.on.fails {
		return server.Endpoint{}, server.ErrNotStarted
	}
	s.on.up++
	return s.Simulated.Start(ctx, dir)
}

func (s *turning) Stop() {
	s.on.up = max(0, s.on.up-1)
	s.Simulated.Stop()
}

// against measures a pair of sides in turns.
func against(a, b collect.Side, results string, report func(collect.Event)) ([]collect.Outcome, error) {
	f, err := collect.Open(context.Background(), results, report, a, b)
	if err != nil {
		return nil, err
	}
	return f.Measure(context.Background())
}

func pairOn(m *machine, blocks int, kept bool) (baseline, candidate collect.Side) {
	p := planOf(2)
	make := func(name, side string, slower float64) collect.Side {
		one := p
		one.Release = name
		c := sim.Defaults()
		c.StepBase = time.Duration(float64(c.StepBase) * slower)
		srv := &turning{Simulated: &server.Simulated{Config: c}, on: m, name: name}
		return collect.Side{Plan: one.InTurns(side, blocks, kept), Server: srv}
	}
	return make("old", schema.SideBaseline, 1), make("new", schema.SideCandidate, 1.2)
}

func readManifest(t *testing.T, dir string) manifest.Manifest {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, manifest.FileName))
	if err != nil {
		t.Fatal(err)
	}
	m, p := manifest.Read("m", data)
	if p != nil {
		t.Fatal(p)
	}
	return m
}

// blocksOf returns the block of each result of a run folder, by seed: the same point of both runs has the same.
func blocksOf(t *testing.T, dir string) map[string]int {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(dir, "raw", "*"+manifest.SidecarSuffix))
	out := map[string]int{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var s manifest.Sidecar
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		out[s.Conditions["seed"]+" "+s.Result] = s.Block
	}
	return out
}

// Servers take turns A B B A, each start is fresh, and the run folders name each other and the block of each result.
func TestAgainst(t *testing.T) {
	t.Parallel()
	m := &machine{}
	a, b := pairOn(m, 2, false)
	outs, err := against(a, b, t.TempDir(), func(collect.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(m.starts, " "); got != "old new new old" {
		t.Errorf("started: %s", got)
	}
	if m.up != 0 {
		t.Errorf("%d servers were left running", m.up)
	}
	for i, side := range []string{schema.SideBaseline, schema.SideCandidate} {
		got := readManifest(t, outs[i].Dir)
		want := schema.Interleaved{With: outs[1-i].ID, Side: side, Starts: schema.StartsFresh, Blocks: 2}
		if got.Interleaved != want || got.RunID != outs[i].ID || got.End.IsZero() || len(outs[i].Points) != 4 {
			t.Errorf("%s: %+v", side, got)
		}
	}
	left, right := blocksOf(t, outs[0].Dir), blocksOf(t, outs[1].Dir)
	if fmt.Sprint(left) != fmt.Sprint(right) || len(left) != 4 {
		t.Errorf("prompts or blocks differ:\n%v\n%v", left, right)
	}
	n := map[int]int{}
	for _, block := range left {
		n[block]++
	}
	if n[1] != 2 || n[2] != 2 {
		t.Errorf("%v", left)
	}
}

// With both kept running, each starts once.
func TestAgainstKept(t *testing.T) {
	t.Parallel()
	m := &machine{}
	a, b := pairOn(m, 3, true)
	outs, err := against(a, b, t.TempDir(), func(collect.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	got := readManifest(t, outs[1].Dir).Interleaved
	if s := strings.Join(m.starts, " "); s != "old new" || m.up != 0 || got.Starts != schema.StartsKept {
		t.Errorf("started %s; %d left; %+v", s, m.up, got)
	}
}

// A pair that was interrupted goes on with the turn that is missing, in the same folders; nothing is measured twice.
func TestAgainstResumes(t *testing.T) {
	t.Parallel()
	results := t.TempDir()
	m := &machine{fails: 3}
	a, b := pairOn(m, 2, false)
	first, err := against(a, b, results, func(collect.Event) {})
	if !errors.Is(err, server.ErrNotStarted) || !strings.Contains(err.Error(), "candidate, block 2") {
		t.Fatalf("%v", err)
	}
	m = &machine{}
	a, b = pairOn(m, 2, false)
	again, err := against(a, b, results, func(collect.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(m.starts, " "); got != "new old" {
		t.Errorf("resumed with %s", got)
	}
	for i := range again {
		if again[i].ID != first[i].ID || len(blocksOf(t, again[i].Dir)) != 4 {
			t.Errorf("%+v, resumed as %+v", first[i], again[i])
		}
	}
}

// A server that is another one in a later block is refused: its blocks would be averaged with those before.
func TestAgainstOtherServer(t *testing.T) {
	t.Parallel()
	m := &machine{}
	a, b := pairOn(m, 2, false)
	srv := b.Server.(*turning)
	_, err := against(a, b, t.TempDir(), func(e collect.Event) {
		if e.Step == "turn" && strings.Contains(e.Text, "block 2") {
			srv.Config.Version = "another"
		}
	})
	if !errors.Is(err, collect.ErrOtherServer) {
		t.Errorf("%v", err)
	}
}

// What drifts evenly cancels within two blocks: each side has its turns at the same time on average.
func TestOrder(t *testing.T) {
	for blocks := 2; blocks <= 6; blocks += 2 {
		sum := map[bool]int{}
		for i, turn := range (plan.Turns{Blocks: blocks}).Order() {
			sum[turn.Baseline] += i
		}
		if sum[true] != sum[false] {
			t.Errorf("%d blocks: %v", blocks, sum)
		}
	}
}
