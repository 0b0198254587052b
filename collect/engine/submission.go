package engine

import (
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
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/rootfs"
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
	var salt [2]byte
	_, _ = rand.Read(salt[:]) // never fails; see crypto/rand
	s.ID = now.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(salt[:])
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
func (s *Submission) Write(file func(Group) (string, error)) error {
	if err := os.MkdirAll(s.Dir, 0o777); err != nil {
		return fmt.Errorf("submission: %w", err)
	}
	for _, j := range s.Jobs {
		if err := os.MkdirAll(s.OutOf(j.Entry), 0o777); err != nil {
			return fmt.Errorf("submission: %w", err)
		}
		if err := durable.WriteFile(s.EntryOf(j.Entry), j.Plan); err != nil {
			return err
		}
	}
	for _, g := range s.Groups {
		text, err := file(g)
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
	for _, g := range s.Groups {
		for i := range s.Jobs {
			if slices.Contains(g.Entries, s.Jobs[i].Entry) {
				s.Jobs[i].Resources, s.Jobs[i].Server = g.Resources, g.Server
			}
		}
	}
	return s, s.readJournal()
}

// Newest returns the newest submission below a folder that is not over, of a digest unless that is ""; nil for none.
func Newest(state, digest string) (*Submission, error) {
	return newest(state, func(s *Submission) bool { return !s.Over() && (digest == "" || s.Digest == digest) })
}

// Last returns the newest submission below a folder, whether or not it is over; nil for none.
func Last(state string) (*Submission, error) {
	return newest(state, func(*Submission) bool { return true })
}

func newest(state string, wanted func(*Submission) bool) (*Submission, error) {
	names, err := filepath.Glob(filepath.Join(state, "*", submissionName))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(names, older)
	for _, name := range slices.Backward(names) {
		s, err := Open(filepath.Dir(name))
		if err != nil {
			return nil, err
		}
		if wanted(s) {
			return s, nil
		}
	}
	return nil, nil
}

// older orders files of submissions: their folders begin with the second, within which the file's own time decides.
func older(a, b string) int {
	second := func(name string) string {
		stamp, _, _ := strings.Cut(filepath.Base(filepath.Dir(name)), "-")
		return stamp
	}
	if c := strings.Compare(second(a), second(b)); c != 0 {
		return c
	}
	x, err := os.Stat(a)
	y, gone := os.Stat(b)
	if err != nil || gone != nil {
		return strings.Compare(a, b)
	}
	return x.ModTime().Compare(y.ModTime())
}

// Over reports whether nothing of the submission is left to do.
func (s *Submission) Over() bool {
	over := false
	for _, e := range s.journal {
		over = (over || e.Event == "over") && e.Event != "again"
	}
	return over
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
func (s *Submission) EntryOf(entry int) string {
	return filepath.Join(s.Dir, fmt.Sprintf("entry-%03d.yaml", entry))
}

// OutOf returns the folder in which the run folder of an entry is.
func (s *Submission) OutOf(entry int) string { return filepath.Join(s.Out, fmt.Sprintf("%03d", entry)) }

// LogOf returns the file with what the jobs of an entry print.
func (s *Submission) LogOf(entry int) string {
	return filepath.Join(s.Dir, fmt.Sprintf("log-%03d.txt", entry))
}

// Since returns when it was made, as its id states it.
func (s *Submission) Since() string {
	t, err := time.Parse("20060102T150405Z", s.ID[:min(len(s.ID), len("20060102T150405Z"))])
	if err != nil {
		return s.ID
	}
	return t.Format("2006-01-02 15:04 UTC")
}
