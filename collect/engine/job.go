package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
)

// Job is one server start: an entry of a plan.
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

// Nodes returns on how many nodes each job of a group runs.
func (g Group) Nodes() int {
	n, _ := strconv.Atoi(g.Resources.Nodes) // its form was checked
	return max(1, n)
}

// OneByOne reports whether the jobs of a group run one after the other, or they would measure each other: they have one
// server that runs already, or clients that would take the nodes of the next one's.
func (s *Submission) OneByOne(g Group) bool {
	return g.Server.URL != "" || s.Engine == plan.OnKubernetes && g.Nodes() > 1
}

// asks returns what a job asks for, as text that no other one has: of lists printed side by side, one argument "b c"
// would be two.
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
