package engine

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Submission is a plan that was handed to a scheduler: a folder with files, entries, logs and a journal.
type Submission struct {
	ID        string   `json:"id"`
	Engine    string   `json:"engine"` // as "slurm"
	Suffix    string   `json:"suffix"` // of the files that are submitted
	Target    Target   `json:"target"`
	Digest    string   `json:"digest"`    // of what is measured
	Workspace string   `json:"workspace"` // where the jobs run
	Program   string   `json:"program"`
	Args      []string `json:"args"`  // of ttreport collect, for every job
	After     []string `json:"after"` // arguments after --
	Out       string   `json:"out"`   // folder with a folder for each entry, where its run folder is
	Jobs      []Job    `json:"jobs"`
	Groups    []Group  `json:"groups"`

	Dir     string `json:"-"`
	journal []event
}

// Target names a cluster, where one command knows several; "" for the usual one.
type Target struct {
	Context   string `json:"context,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}

// Files of a submission.
const (
	submissionName = "submission.json"
	journalName    = "journal.jsonl"
	mostFile       = 64 << 20 // bytes that are read of a file
	idTime         = "20060102T150405Z"
)

// MostJobs is how many jobs a submission may have: Slurm's usual MaxArraySize is 1001, and array indexes are below it.
const MostJobs = 1000

// event is a line of the journal.
type event struct {
	Time    time.Time     `json:"time"`
	Event   string        `json:"event"`           // submit, submitted, ended, cancel, not-cancelled, over, again
	Name    string        `json:"name,omitempty"`  // of jobs
	ID      string        `json:"id,omitempty"`    // of an array
	Group   int           `json:"group,omitempty"` // of Groups
	Retry   int           `json:"retry,omitempty"` // which of the retries this is; those of the scheduler count too
	Left    int           `json:"left,omitempty"`  // retries that the scheduler may make itself
	Entries []int         `json:"entries,omitempty"`
	Limit   time.Duration `json:"limit,omitempty"`
	State   string        `json:"state,omitempty"`
	Note    string        `json:"note,omitempty"`
}

// Prepare returns a submission that is not on the disk yet: state is the folder of submissions, results that of run
// folders. Its paths are absolute.
func Prepare(s Submission, state, results string, now time.Time) *Submission {
	var salt [1]byte
	_, _ = rand.Read(salt[:])                                                             // never fails; see crypto/rand
	s.ID = fmt.Sprintf("%s-%03d%x", now.UTC().Format(idTime), now.UnixMilli()%1000, salt) // names are in the order of time
	s.Dir, s.Out = filepath.Join(state, s.ID), filepath.Join(results, s.Engine+"-"+s.ID)
	s.Groups = GroupsOf(s.Jobs)
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q", s.Args, s.After)
	for _, j := range s.Jobs {
		fmt.Fprintf(sum, "%q %s", j.Plan, j.asks())
	}
	s.Digest = hex.EncodeToString(sum.Sum(nil)[:8])
	return &s
}

// Write writes the folder: entries, the file of each group, and last what makes it a submission.
func (s *Submission) Write(render func(*Submission, Group) (string, error)) error {
	for _, j := range s.Jobs {
		if err := os.MkdirAll(s.OutOf(j.Entry), 0o777); err != nil {
			return fmt.Errorf("submission: %w", err)
		}
		if err := durable.WriteFile(s.EntryOf(j.Entry), j.Plan); err != nil {
			return err
		}
	}
	for _, g := range s.Groups {
		text, err := render(s, g)
		if err != nil {
			return err
		}
		if err := durable.WriteFile(s.FileOf(g), []byte(text)); err != nil {
			return err
		}
	}
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(s.Dir, submissionName), append(data, '\n'))
}

// Open opens the submission in a folder.
func Open(dir string) (*Submission, error) {
	data, err := rootfs.ReadFile(filepath.Join(dir, submissionName), mostFile)
	if err != nil {
		return nil, fmt.Errorf("submission: %w", err)
	}
	s := &Submission{Dir: dir}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("submission %s: %w", dir, err)
	}
	return s, s.readJournal()
}

// Newest returns the newest submission below a folder, of a digest unless that is ""; nil for none. One that is over
// counts where over is true.
func Newest(state, digest string, over bool) (*Submission, error) {
	names, err := filepath.Glob(filepath.Join(state, "*", submissionName))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range slices.Backward(names) {
		s, err := Open(filepath.Dir(name))
		if err != nil {
			return nil, err
		}
		if (over || !s.Over()) && (digest == "" || s.Digest == digest) {
			return s, nil
		}
	}
	return nil, nil
}

// Over reports whether nothing of the submission is left to do.
func (s *Submission) Over() bool { return s.last("over", "again").Event == "over" }

// cancelling reports whether another process is ending the jobs. They disappear then, and are not to be submitted
// again.
func (s *Submission) cancelling() bool {
	const most = 5 * time.Minute // a process that takes longer was killed
	last := s.last("cancel", "not-cancelled", "again")
	return last.Event == "cancel" && time.Since(last.Time) < most
}

// last is the newest event of some kinds; the zero value for none.
func (s *Submission) last(kinds ...string) (found event) {
	for _, e := range s.journal {
		if slices.Contains(kinds, e.Event) {
			found = e
		}
	}
	return found
}

func (s *Submission) readJournal() error {
	data, err := rootfs.ReadFile(filepath.Join(s.Dir, journalName), mostFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	s.journal, _ = durable.ReadJournal[event](data)
	return nil
}

// log adds an event to the journal; it is on the disk when log returns.
func (s *Submission) log(e event) error {
	e.Time = time.Now().UTC()
	j, err := durable.OpenJournal[event](filepath.Join(s.Dir, journalName))
	if err != nil {
		return err
	}
	defer j.Close()
	if err := j.Log(e); err != nil {
		return err
	}
	s.journal = append(s.journal, e)
	return nil
}

// EntryOf returns the file of an entry.
func (s *Submission) EntryOf(entry int) string { return filepath.Join(s.Dir, EntryName(entry)) }

// EntryName returns the name of the file of an entry.
func EntryName(entry int) string { return fmt.Sprintf("entry-%03d.yaml", entry) }

// OutOf returns the folder in which the run folder of an entry is.
func (s *Submission) OutOf(entry int) string { return filepath.Join(s.Out, fmt.Sprintf("%03d", entry)) }

// LogOf returns the file with what the jobs of an entry print.
func (s *Submission) LogOf(entry int) string {
	return filepath.Join(s.Dir, fmt.Sprintf("log-%03d.txt", entry))
}

// Since returns when it was made, as its id states it.
func (s *Submission) Since() string {
	t, err := time.Parse(idTime, s.ID[:min(len(s.ID), len(idTime))])
	if err != nil {
		return s.ID
	}
	return t.Format("2006-01-02 15:04 UTC")
}

// Job is one server start: an entry of a plan. What it asks for is in its group once it is submitted.
type Job struct {
	Entry     int            `json:"entry"` // from 1; the index in its array
	Name      string         `json:"name"`  // "acme/tiny on h100"
	Total     int            `json:"total"` // measurements
	Resources plan.Resources `json:"-"`
	Server    Server         `json:"-"`
	Limit     time.Duration  `json:"-"` // from the estimate, where the resources state none
	Plan      []byte         `json:"-"` // file of the entry
}

// Server is what a scheduler must know of the server of a job; the zero value for a job that starts its own.
type Server struct {
	Image string   `json:"image,omitempty"` // started beside the client
	Args  []string `json:"args,omitempty"`  // of the image
	Port  int      `json:"port,omitempty"`
	URL   string   `json:"url,omitempty"` // runs already: jobs that measure it wait for each other
}

// TimeLimit returns the time limit, and whether it was stated.
func (j Job) TimeLimit() (d time.Duration, stated bool) {
	if d := j.Resources.TimeLimit(); d > 0 {
		return d, true
	}
	return j.Limit, false
}

// Group is an array: jobs whose resources and servers agree.
type Group struct {
	Number    int            `json:"number"` // from 1
	Entries   []int          `json:"entries"`
	Resources plan.Resources `json:"resources"`
	Server    Server         `json:"server"`
	Limit     time.Duration  `json:"limit"`
	Stated    bool           `json:"stated"` // the limit was not derived
}

// OneByOne reports whether the jobs of a group run one after the other: they have one server that runs already, and
// would measure each other.
func (g Group) OneByOne() bool { return g.Server.URL != "" }

// asks returns what a job asks for, as JSON: of lists printed side by side, one argument "b c" would be two.
func (j Job) asks() []byte {
	text, _ := json.Marshal([]any{j.Resources, j.Server}) // texts, lists of these and numbers can always be written
	return text
}

// GroupsOf returns the arrays of jobs, in the order of their first jobs.
func GroupsOf(jobs []Job) []Group {
	var out []Group
	at := map[string]int{}
	for _, j := range jobs {
		limit, stated := j.TimeLimit()
		key := fmt.Sprintf("%s %s", j.asks(), limit)
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			out = append(out, Group{
				Number: i + 1, Resources: j.Resources, Server: j.Server, Limit: limit, Stated: stated,
			})
		}
		out[i].Entries = append(out[i].Entries, j.Entry)
	}
	return out
}

// Derived returns a time limit for a plan that is estimated to take so long: twice the estimate and the start of the
// server, rounded up to steps that let similar plans share an array.
func Derived(estimate, start time.Duration) time.Duration {
	need := 2*estimate + start
	for _, step := range []time.Duration{15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour,
		8 * time.Hour, 12 * time.Hour} {
		if need <= step {
			return step
		}
	}
	const day = 24 * time.Hour
	return (need + day - 1) / day * day
}

// JobName returns the name of a group's jobs at a retry, by which they are found.
func (s *Submission) JobName(g Group, retry int) string {
	name := fmt.Sprintf("ttreport-%s-%d", s.ID, g.Number)
	if retry > 0 {
		name += fmt.Sprintf("-r%d", retry)
	}
	return name
}

// FileOf returns the file of what is submitted for a group.
func (s *Submission) FileOf(g Group) string {
	return filepath.Join(s.Dir, fmt.Sprintf("group-%d%s", g.Number, s.Suffix))
}

// NameOf returns the name of an entry's job.
func (s *Submission) NameOf(entry int) string {
	for _, j := range s.Jobs {
		if j.Entry == entry {
			return j.Name
		}
	}
	return ""
}

// String describes what a group asks for: "gpu, gpu:h100:8, at most 0-00:30:00".
func (g Group) String() string {
	var parts []string
	r := g.Resources
	for _, what := range []string{
		r.Partition, r.GRES, strings.Join(r.Devices, ", "), r.Queue, cmp.Or(g.Server.Image, r.Image), g.Server.URL,
	} {
		if what != "" {
			parts = append(parts, what)
		}
	}
	return strings.Join(append(parts, "at most "+TimeText(g.Limit)), ", ")
}

// TimeText writes a time limit as sbatch takes it: days-hours:minutes:seconds.
func TimeText(d time.Duration) string {
	d = (d + time.Second - 1) / time.Second
	return fmt.Sprintf("%d-%02d:%02d:%02d", d/86400, d/3600%24, d/60%60, d%60)
}

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
	fetched   int    // times that its results were asked for
	unfetched string // why they could not be brought
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
	var run []byte
	for _, name := range names {
		data, err := rootfs.ReadFile(name, mostFile)
		// an interrupted run that had nothing stays beside the one that went on
		if err == nil && (run == nil || bytes.Contains(data, []byte(manifest.EventRunDone)) ||
			!bytes.Contains(run, []byte(manifest.EventRunDone))) {
			run, t.Run = data, filepath.Dir(name)
		}
	}
	failed := map[string]bool{} // by item that has a result
	t.Now, t.Whole, t.Failed = "", false, 0
	for _, e := range manifest.ReadJournal(run) {
		kind, what, _ := strings.Cut(e.Event, "-")
		switch {
		case e.Event == manifest.EventRunDone:
			t.Whole = true
		case kind != "point" && kind != "eval":
		case what == "start":
			t.Now = e.Item
		default:
			failed[e.Item], t.Now = what != "done", ""
		}
	}
	t.Done = len(failed)
	for _, is := range failed {
		if is {
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
