package collect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// demoRun is a run folder that a demo left.
type demoRun struct {
	dir     string
	digest  string // of its plan
	release string
	start   time.Time // on the simulator's clock
	whole   bool      // it is complete, and its results are what the journal says
}

// demoRuns lists the run folders of a demo. They are known by the source of their targets, which no other run has; one
// that was ended before it had a manifest holds nothing but a journal.
func demoRuns(results string) ([]demoRun, error) {
	names, err := filepath.Glob(filepath.Join(results, "*", manifest.JournalName))
	if err != nil {
		return nil, fmt.Errorf("results of the demo: %w", err)
	}
	var out []demoRun
	for _, name := range names {
		r := demoRun{dir: filepath.Dir(name)}
		text, err := rootfs.ReadFile(filepath.Join(r.dir, manifest.FileName), mostJournal)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			left, err := filepath.Glob(filepath.Join(r.dir, "*", "*"))
			if all, readErr := os.ReadDir(r.dir); err != nil || readErr != nil || len(left) > 0 || len(all) > 2 {
				continue // more than a journal and a folder for results
			}
		case err != nil:
			continue
		case len(bytes.Trim(text, " \n\x00")) == 0: // lost in a power cut
			if !strings.Contains(filepath.Base(r.dir), "-sim-8b-"+schema.Simulated+"-") {
				continue
			}
		default:
			m, problem := manifest.Read(name, text)
			ofDemo := slices.ContainsFunc(m.Targets, func(t manifest.TargetRow) bool { return t.Source == demoSource })
			if problem != nil || !ofDemo || m.Device.Name != schema.Simulated {
				continue
			}
			r.start = m.Start
		}
		r.read(name)
		out = append(out, r)
	}
	return out, nil
}

// read reads the journal of a run.
func (r *demoRun) read(name string) {
	data, err := rootfs.ReadFile(name, mostJournal)
	if err != nil {
		return
	}
	same, ended := true, false
	for _, e := range manifest.ReadJournal(data) {
		switch e.Event {
		case "run-start":
			r.digest, r.release = e.Result, e.Note
		case "point-done", "eval-done":
			same = same && stillThere(filepath.Join(r.dir, filepath.FromSlash(e.Result)), e)
		case manifest.EventRunDone:
			ended = true
		}
	}
	r.whole = same && ended && !r.start.IsZero()
}

// outcome reads what a run of a plan measured.
func (r demoRun) outcome(p plan.Plan) (Outcome, error) {
	out := Outcome{ID: filepath.Base(r.dir), Dir: r.dir}
	for _, it := range p.Items() {
		if it.Task != "" {
			continue
		}
		name := filepath.Join(r.dir, "raw", it.Name+".json")
		var mean struct {
			TTFT float64 `json:"mean_ttft_ms"`
			TPOT float64 `json:"mean_tpot_ms"`
		}
		data, err := rootfs.ReadFile(name, mostJournal)
		if err == nil {
			err = json.Unmarshal(data, &mean)
		}
		if err != nil {
			return out, fmt.Errorf("results of the demo: %s: %w", name, err)
		}
		out.Points = append(out.Points, PointOutcome{Workload: it.Load, TTFT: mean.TTFT, TPOT: mean.TPOT})
	}
	return out, nil
}

// complete reports whether a demo, perhaps of another version, has nothing left to measure.
func complete(runs []demoRun, last string) bool {
	n := 0
	for _, r := range runs {
		if r.whole && r.release == last {
			n++
		}
	}
	return n > demoRechecks
}

// goOn keeps the runs that are complete, removes the others, and lets the next run begin when it would have begun
// without an interruption: releases of other times would be out of order.
func (d *demo) goOn(runs []demoRun) error {
	releases := server.DemoReleases()
	digests := map[string]int{}
	for i, rel := range releases {
		digests[demoPlan(rel.Name, d.workloads, uint64(i+1)).Digest()] = i
	}
	// A demo is over by now, rechecks included.
	d.begin, d.done = time.Now().Add(-time.Duration(len(releases)+demoRechecks)*time.Minute), map[string]demoRun{}
	for _, r := range runs {
		i, planned := digests[r.digest]
		recheck := r.release == releases[len(releases)-1].Name
		if _, twice := d.done[r.digest]; !r.whole || twice || !planned && !recheck {
			if err := os.RemoveAll(r.dir); err != nil {
				return fmt.Errorf("results of the demo: %w", err)
			}
			continue
		}
		if d.done[r.digest] = r; planned {
			d.begin = r.start.Add(-time.Duration(i) * time.Minute)
		}
	}
	return nil
}
