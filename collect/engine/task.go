package slurm

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// States in Slurm's words; see squeue(1), JOB STATE CODES. Those that ttreport adds are in small letters.
const (
	Pending   = "PENDING"
	Completed = "COMPLETED"
	Cancelled = "CANCELLED"

	NotSubmitted = "not submitted"
	Lost         = "lost" // Slurm does not know the job any more, and its run is not complete
)

// active reports whether a job in a state will go on.
func active(state string) bool {
	switch state {
	case Pending, "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED",
		"RESIZING", "RESV_DEL_HOLD", "SIGNALING", "SPECIAL_EXIT", "STAGE_OUT", "STOPPED":
		return true
	}
	return false
}

// retried reports whether what a job in a final state has left over is submitted again: the machine failed, not the
// measurement.
func retried(state string) bool {
	switch state {
	case "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", Lost:
		return true
	}
	return false
}

// Task is a job as it stands.
type Task struct {
	Job
	ID     string // "12_3"; "" before Slurm has it
	State  string
	Reason string // why it is pending, or how it ended
	Node   string
	Left   string // until the time limit
	Retry  int    // times that it was submitted again, or requeued by Slurm
	Ended  bool

	Run    string   // its run folder; "" before it exists
	Done   int      // measurements of Total
	Failed int      // of these
	Now    string   // what is measured
	Whole  bool     // the run is complete
	Log    []string // the last lines that it printed, of one that ended without a result

	seen     int // times in a row that Slurm showed a final state
	restarts int // of the newest array's job, by Slurm
}

// OK reports that everything was measured.
func (t Task) OK() bool { return t.Ended && t.Whole && t.Failed == 0 }

// progress reads the journal of the newest run folder of a task.
func (s *Submission) progress(t *Task) {
	names, err := filepath.Glob(filepath.Join(s.outOf(t.Entry), "*", manifest.JournalName))
	if err != nil || len(names) == 0 {
		return
	}
	slices.Sort(names) // they begin with the time
	name := names[len(names)-1]
	for _, n := range names { // an interrupted run that had nothing stays beside the one that went on
		if data, err := rootfs.ReadFile(n, mostFile); err == nil && bytes.Contains(data, []byte(manifest.EventRunDone)) {
			name = n
		}
	}
	data, err := rootfs.ReadFile(name, mostFile)
	if err != nil {
		return
	}
	t.Run = filepath.Dir(name)
	t.read(manifest.ReadJournal(data))
}

// read takes a run's progress from its journal.
func (t *Task) read(entries []manifest.Entry) {
	results := map[string]bool{} // by item: whether it failed
	t.Now, t.Whole = "", false
	for _, e := range entries {
		kind, what, _ := strings.Cut(e.Event, "-")
		switch {
		case e.Event == manifest.EventRunDone:
			t.Whole = true
		case kind != "point" && kind != "eval":
		case what == "start":
			t.Now = e.Item
		default:
			results[e.Item] = what != "done"
			t.Now = ""
		}
	}
	t.Done, t.Failed = len(results), 0
	for _, failed := range results {
		if failed {
			t.Failed++
		}
	}
}

// lastLog returns the last lines that the jobs of an entry printed.
func (s *Submission) lastLog(entry, n int) []string {
	f, err := os.Open(s.logOf(entry))
	if err != nil {
		return nil
	}
	defer f.Close()
	const most = 8 << 10
	if info, err := f.Stat(); err == nil && info.Size() > most {
		_, _ = f.Seek(-most, 2) // else from the beginning
	}
	data := make([]byte, most)
	size, _ := f.Read(data) // as much as there is
	lines := slices.DeleteFunc(strings.Split(string(data[:size]), "\n"), func(l string) bool {
		return strings.TrimSpace(l) == ""
	})
	return lines[max(0, len(lines)-n):]
}
