package progress

import (
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/engine"
)

// slurm is a scheduler of this test.
var slurm = engine.About{Name: "slurm", Server: "the controller"}

// task is a job as a test says it stands.
func task(entry int, state, reason, node string, done int) engine.Task {
	t := engine.Task{State: state, Reason: reason, Node: node, Done: done, ID: "3_1"}
	t.Entry, t.Name, t.Total = entry, "acme/tiny on h100", 3
	return t
}

// A log has a line a change, with Slurm's own slurm, and the last lines of what failed; a controller that is away is
// said once.
// What a job prints of a point is what the table shows where only its log can be read.
func TestTheLogOfAJobIsItsProgress(t *testing.T) {
	var log strings.Builder
	d := New(Stream{Writer: &log})
	d.Event(collect.Event{
		Run: "r1", Step: "point", Text: "ISL 64 OSL 20", Index: 2, Count: 3, Took: time.Second, Final: true,
	})
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	task := engine.Task{Job: engine.Job{Total: 3}}
	task.Hear(lines[len(lines)-1])
	if task.Done != 2 || !strings.HasPrefix(task.Now, "point 2/3 ISL 64 OSL 20") {
		t.Errorf("%q: %d, %q", lines, task.Done, task.Now)
	}
	task.Hear("point     9/9  a measurement of somebody else")
	task.Hear("server    ready")
	task.Hear("")
	if task.Done != 2 || task.Now != "server ready" {
		t.Errorf("%d, %q", task.Done, task.Now)
	}
}

func TestJobsInALog(t *testing.T) {
	var out strings.Builder
	j := NewJobs(Stream{Writer: &out})
	waits, runs := task(1, "PENDING", "Resources", "", 0), task(2, "RUNNING", "None", "n1", 1)
	j.Show(engine.View{About: slurm, Tasks: []engine.Task{task(1, engine.NotSubmitted, "", "", 0), runs}})
	for range 2 {
		j.Show(engine.View{About: slurm, Tasks: []engine.Task{waits, runs}})
		j.Show(engine.View{About: slurm, Tasks: []engine.Task{waits, runs}, Away: time.Minute, Why: "Connection refused"})
	}
	j.Show(engine.View{About: slurm, Tasks: []engine.Task{waits, runs}})
	failed := task(2, "FAILED", "NonZeroExitCode", "n1", 1)
	failed.Ended, failed.Log = true, []string{"ttreport: the server died", "fix: see its log"}
	j.Show(engine.View{About: slurm, Tasks: []engine.Task{waits, failed}})
	want := `job   2   acme/tiny on h100                RUNNING on n1
job   1   acme/tiny on h100                PENDING (Resources)
slurm     the controller does not answer (Connection refused); jobs continue, and ttreport keeps asking
slurm     the controller answers again
slurm     the controller does not answer (Connection refused); jobs continue, and ttreport keeps asking
slurm     the controller answers again
job   2   acme/tiny on h100                FAILED (NonZeroExitCode) on n1, 1 of 3 measured
            ttreport: the server died
            fix: see its log
`
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
}

// A terminal has a table in place, in its width.
func TestJobsOnATerminal(t *testing.T) {
	var out strings.Builder
	j := NewJobs(Stream{Writer: &out, Width: func() int { return 60 }})
	j.Show(engine.View{About: slurm, Tasks: []engine.Task{task(1, "PENDING", "Resources", "", 0),
		task(2, "RUNNING", "None", "n1", 1)}})
	rows := strings.Split(out.String(), "\n")
	if len(rows) != 5 || !strings.Contains(rows[3], "1 PENDING, 1 RUNNING") {
		t.Errorf("%q", rows)
	}
	for _, r := range rows {
		if len([]rune(r)) > 60 {
			t.Errorf("%q is too wide", r)
		}
	}
	out.Reset()
	if j.End(); out.String() != "\033[4A\033[J" {
		t.Errorf("%q", out.String())
	}
	var many []engine.Task
	for i := range 200 {
		many = append(many, task(i+1, "RUNNING", "", "n1", 0))
	}
	out.Reset()
	if j.Show(engine.View{About: slurm, Tasks: many}); !strings.Contains(out.String(), "and 160 jobs more") ||
		strings.Count(out.String(), "\n") > 50 {
		t.Errorf("%s", out.String())
	}
}

func TestJobsTable(t *testing.T) {
	running := task(2, "RUNNING", "None", "n1", 1)
	running.Left, running.Now = "59:21", "02-isl64-osl50-c2"
	rows := JobsTable(engine.View{About: slurm, Tasks: []engine.Task{task(1, "PENDING", "Resources", "", 0), running},
		Away: 90 * time.Second})
	for i, want := range []string{
		"# model and device job state node time left points now", "1 acme/tiny on h100 3_1 PENDING (Resources) 0/3",
		"2 acme/tiny on h100 3_1 RUNNING n1 59:21 1/3 02-isl64-osl50-c2",
		"1 PENDING, 1 RUNNING; the controller has not answered for 1 min 30 s",
	} {
		if got := strings.Join(strings.Fields(rows[i]), " "); got != want {
			t.Errorf("%q", got)
		}
	}
}
