package kubernetes

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/engine/transfer"
	"github.com/ttreport/ttreport/collect/plan"
)

// partBytes is how many bytes a log of these tests carries.
const partBytes = 20_000

// claim is a folder that pods of a test mount.
type claim struct{ dir string }

// put writes a run folder as a pod leaves it, with so many bytes that cannot be compressed.
func (c claim) put(t *testing.T, folder string, noise int) []byte {
	t.Helper()
	run := filepath.Join(c.dir, folder, "20260101T000000Z-m-d-abc")
	if err := os.MkdirAll(run, 0o777); err != nil {
		t.Fatal(err)
	}
	var text string
	for _, e := range []string{"run-start", "point-done", "run-done"} {
		text += fmt.Sprintf(`{"time":"2026-01-01T00:00:00Z","event":%q,"item":"p"}`+"\n", e)
	}
	data := make([]byte, noise)
	_, _ = rand.Read(data) // never fails
	for name, data := range map[string][]byte{
		"journal.jsonl": []byte(text), "ttreport.manifest.yaml": []byte("release: v1\n"), "raw.bin": data,
	} {
		if err := os.WriteFile(filepath.Join(run, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

// reads is what a Job that reads a claim has: its folder there, the first part, and how many.
func (a *api) reads(name string) (folder string, from, n int) {
	spec := a.specs[name]["spec"].(map[string]any)
	pod := spec["template"].(map[string]any)["spec"].(map[string]any)
	client := pod["containers"].([]any)[0].(map[string]any)
	from, _ = strconv.Atoi(client["args"].([]any)[2].(string))
	mount := client["volumeMounts"].([]any)[0].(map[string]any)
	return mount["subPath"].(string), from, int(spec["completions"].(float64))
}

// serve runs the pods of Jobs that read the claim, and returns which ones ended; broken is what they print that cannot.
func (c claim) serve(t *testing.T, a *api, broken string) (read []string) {
	t.Helper()
	a.change(func() {
		for _, name := range names(a.jobs) {
			if !strings.Contains(name, "-read-") || a.pods[name+"-0"] != nil {
				continue
			}
			folder, from, n := a.reads(name)
			for i := range n {
				pod := fmt.Sprintf("%s-%d", name, i)
				var log bytes.Buffer
				o := podNamed(pod, succeeded, exited(0, "Completed"))
				if broken != "" {
					log.WriteString(broken)
					o = podNamed(pod, failed, exited(2, "Error"))
					a.jobs[name].Status.Conditions = []condition{{Type: "Failed", Status: "True", Reason: "BackoffLimitExceeded"}}
				} else if err := transfer.WritePart(&log, filepath.Join(c.dir, folder), from+i, partBytes); err != nil {
					t.Error(err)
				}
				o.Metadata.Annotations[indexNote], o.Metadata.OwnerReferences[0].Name = strconv.Itoa(i), name
				o.Metadata.OwnerReferences[0].UID = a.jobs[name].Metadata.UID
				a.pods[pod], a.logs[pod] = o, log.Bytes()
			}
			read = append(read, name)
		}
	})
	return read
}

// onClaims is a submission of one entry whose results are on a claim, its cluster, and the name of its Job.
func onClaims(t *testing.T, r plan.Resources) (*api, *Backend, *engine.Submission, string) {
	t.Helper()
	a, c := cluster(t)
	r.Results, r.Retries = "bench", "0"
	s := submission(t, engine.Job{Name: "m on d", Total: 1, Resources: r})
	return a, c, s, strings.ToLower(s.JobName(s.Groups[0], 0))
}

// Results on a claim are read through pods that mount it, in parts that a log keeps, while other jobs are followed;
// what read them is gone then. The pod that measured prints none of them.
func TestResultsOnAClaim(t *testing.T) {
	a, c, s, job := onClaims(t, plan.Resources{Queue: "q"})
	on := claim{t.TempDir()}
	want := on.put(t, onClaim(s, s.Groups[0])+"/0", partBytes+1000)
	if text, err := c.Render(s, s.Groups[0]); err != nil || strings.Contains(text, "--print-results") {
		t.Error(text, err)
	}
	var read, reasons []string
	f := follower(s, c, func(round int) {
		if round == 2 {
			a.change(func() { a.logs["p1"], a.jobs[job].Status.CompletedIndexes = []byte("1 point measured\n"), "0" })
			a.pod(job, podNamed("p1", succeeded, exited(0, "Completed")))
		}
		if round%3 == 0 { // else it is on its way
			read = append(read, on.serve(t, a, "")...)
		}
	})
	f.Show = func(v engine.View) { reasons = append(reasons, v.Tasks[0].Reason) }
	tasks, err := f.Run(within(t))
	if err != nil || !tasks[0].OK() || !strings.Contains(strings.Join(reasons, "|"), "being read from bench") {
		t.Fatalf("%v, %q, %+v", err, reasons, tasks)
	}
	got, err := os.ReadFile(filepath.Join(tasks[0].Run, "raw.bin"))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v, %d of %d bytes", err, len(got), len(want))
	}
	if text, _ := os.ReadFile(s.LogOf(1)); string(text) != "1 point measured\n" {
		t.Errorf("%q", text)
	}
	if len(read) != 2 || len(a.now().deleted) != 2 || a.now().jobs != 1 {
		t.Errorf("read by %v, deleted %v, left %d", read, a.now().deleted, a.now().jobs)
	}
}

// A pod that cannot read a claim is tried again, and says why in the end.
func TestClaimThatCannotBeRead(t *testing.T) {
	a, c, s, job := onClaims(t, plan.Resources{})
	f := follower(s, c, func(round int) {
		if round == 2 {
			a.change(func() { a.jobs[job].Status.CompletedIndexes = "0" })
			a.pod(job, podNamed("p1", succeeded, exited(0, "Completed")))
		}
		claim{}.serve(t, a, `error: unknown command "print-results"`)
	})
	tasks, err := f.Run(within(t))
	if err != nil || tasks[0].OK() || !strings.Contains(tasks[0].Reason, `bench did not succeed: error: unknown command`) {
		t.Errorf("%v, %+v", err, tasks)
	}
	if len(a.now().deleted) != 6 {
		t.Errorf("%d attempts", len(a.now().deleted))
	}
}

// A claim that is mounted where the command runs is read there.
func TestClaimMountedHere(t *testing.T) {
	on := claim{t.TempDir()}
	a, c, s, job := onClaims(t, plan.Resources{ResultsAt: on.dir})
	a.pod(job, podNamed("p1", succeeded, exited(0, "Completed")))
	r := engine.JobStatus{Name: s.JobName(s.Groups[0], 0), Array: job, Entry: 1, Job: "p1", Phase: engine.Succeeded}
	err := c.Fetch(t.Context(), s, r)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(on.dir, "kubernetes-"+s.ID, "1", "0")) {
		t.Errorf("%v", err)
	}
	on.put(t, onClaim(s, s.Groups[0])+"/0", 10)
	if err := c.Fetch(t.Context(), s, r); err != nil || a.now().jobs != 0 {
		t.Errorf("%v %v", err, a.jobs)
	}
	if found, _ := filepath.Glob(filepath.Join(s.OutOf(1), "*", "raw.bin")); len(found) != 1 {
		t.Error(found)
	}
}

// What jobs that are ended left on a claim is read when their pods have ended.
func TestCancelReadsTheClaim(t *testing.T) {
	a, c, s, job := onClaims(t, plan.Resources{})
	on := claim{t.TempDir()}
	on.put(t, onClaim(s, s.Groups[0])+"/0", 10)
	a.change(func() { a.jobs[job] = &object{Kind: "Job"} })
	a.pod(job, a.runningPod("p1"))
	stop, over := make(chan bool), make(chan bool)
	go func() {
		defer close(over)
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				on.serve(t, a, "")
			}
		}
	}()
	err := c.Cancel(t.Context(), s, []engine.JobStatus{{Array: job, Job: "p1", Entry: 1}})
	close(stop)
	<-over
	if found, _ := filepath.Glob(filepath.Join(s.OutOf(1), "*", "raw.bin")); len(found) != 1 || err != nil {
		t.Errorf("%v %v", err, found)
	}
}
