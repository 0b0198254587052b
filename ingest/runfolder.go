package ingest

import (
	"path"
	"regexp"

	"github.com/ttreport/ttreport/ingest/aiperf"
)

var (
	sweepRun  = regexp.MustCompile(`^run=\d+\.json`)
	trialPart = regexp.MustCompile(`^(profile_runs|aggregate|(run|trial|search_iter)_\d+)$`)
	// pointPart is a folder that a sweep makes for a point: "concurrency_10__isl_512", "variation_0000_concurrency_16".
	pointPart = regexp.MustCompile(
		`^variation_\d+|(?:^|__)(concurrency|request_rate|isl|osl|num_users|prefill_concurrency)_?\d`)
	// sweepPart is a folder of vLLM's sweeps: "SERVE--a=1-BENCH--b=2", and below it "request_rate=4".
	sweepPart = regexp.MustCompile(`-?(BENCH|SERVE|STARTUP|WL)--|^BENCH|^SERVE|^[a-z_]+=[\w.]+$`)
)

// sweepRoot returns the folder of the experiment that a sweep's folder belongs to.
func sweepRoot(dir string) string {
	for sweepPart.MatchString(path.Base(dir)) {
		dir = path.Dir(dir)
	}
	return dir
}

// folderOfRun returns the folder whose files form a run: the file's own, or the one above if the tool gives every
// point a folder.
func folderOfRun(s *source) string {
	dir := path.Dir(s.shown())
	switch {
	case s.hasOwnFolder():
		inSweep := false
		for trialPart.MatchString(path.Base(dir)) || pointPart.MatchString(path.Base(dir)) {
			dir, inSweep = path.Dir(dir), true
		}
		if !inSweep {
			dir = path.Dir(dir)
		}
	case sweepRun.MatchString(path.Base(s.rel)) || path.Base(s.rel) == "summary.json":
		dir = sweepRoot(path.Dir(dir))
	}
	return dir
}

// hasOwnFolder reports whether the tool gives every point a folder and its files always the same names.
func (s *source) hasOwnFolder() bool {
	switch s.reading.Format {
	case aiperf.Format, aiperf.Records, aiperf.CSV, aiperf.GenAI, aiperf.GenAICSV:
		return true
	}
	return false
}
