package engine

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// States that ttreport adds to those of the scheduler.
const (
	NotSubmitted = "not submitted"
	Cancelled    = "cancelled" // by --cancel, in another process
	Lost         = "lost"      // the scheduler does not know the job any more, and its run is not complete
)

// Task is a job as it stands.
type Task struct {
	Job
	ID     string // "12_3"; "" before the scheduler has it
	State  string
	Reason string // why it is pending, or how it ended
	Node   string
	Left   string // until the time limit
	Retry  int    // times that it was submitted again, or by the scheduler
	Ended  bool

	Run    string   // its run folder; "" before it exists
	Done   int      // measurements of Total
	Failed int      // of these
	Now    string   // what is measured
	Whole  bool     // the run is complete
	Log    []string // the last lines that it printed, of one that ended without a result

	seen      int    // times in a row that the scheduler showed a final state
	unfetched string // why they could not be
	fetched   int    // times that its results were asked for
	restarts  int    // of the newest array's job, by the scheduler
	again     bool   // it is to be submitted once more, because somebody asked for it
	first     int    // what Retry was then
}

// OK reports that everything was measured.
func (t Task) OK() bool { return t.Ended && t.Whole && t.Failed == 0 }

// progress reads the journal of the newest run folder of a task.
func (s *Submission) progress(t *Task) {
	names, err := filepath.Glob(filepath.Join(s.OutOf(t.Entry), "*", manifest.JournalName))
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

// Hear takes a job's progress from the last line that it printed, as package progress writes it: "point     1/2  ISL".
func (t *Task) Hear(line string) {
	kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if kind == "" || t.Run != "" { // its journal says more
		return
	}
	const most = 48 // characters
	t.Now = plaintext.Middle(strings.Join(strings.Fields(redact.Text(line)), " "), most)
	count, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if done, _, ok := strings.Cut(count, "/"); ok && kind == "point" {
		if n, err := strconv.Atoi(done); err == nil && n <= t.Total {
			t.Done = n
		}
	}
}

// lastLog returns the last lines that the jobs of an entry printed.
func (s *Submission) lastLog(entry, n int) []string {
	f, err := os.Open(s.LogOf(entry))
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
