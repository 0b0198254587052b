package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/engine/transfer"
	"github.com/ttreport/ttreport/collect/plan"
)

// api is an API server of a test: what .ci/real shows against a real one, in milliseconds.
type api struct {
	mu      sync.Mutex
	jobs    map[string]*batch.Job
	pods    map[string]*core.Pod
	logs    map[string][]byte
	plans   int
	version int
	changed chan struct{} // closed at each change
	away    bool
	broken  int // watches that were cut
	deleted []string
	refuse  string
	leaves  map[string][]byte // what pods print when their Job is deleted
	kept    string            // the Job that cannot be deleted
}

func newAPI() *api {
	return &api{jobs: map[string]*batch.Job{}, pods: map[string]*core.Pod{}, logs: map[string][]byte{},
		changed: make(chan struct{})}
}

// change changes what there is, and tells those who watch.
func (a *api) change(how func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	how()
	a.version++
	close(a.changed)
	a.changed = make(chan struct{})
}

// pod sets the status of the pod of a Job.
func (a *api) pod(job, name string, s core.PodStatus) {
	a.change(func() {
		p := podNamed(name, s)
		p.OwnerReferences[0].Name = job
		a.pods[name] = p
	})
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	away := a.away
	a.mu.Unlock()
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	name := parts[len(parts)-1]
	switch {
	case away:
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.Method == http.MethodPost:
		a.create(w, r, name)
	case r.Method == http.MethodDelete && name == a.kept:
		status(w, http.StatusForbidden, "Forbidden", name)
	case r.Method == http.MethodDelete:
		a.change(func() { a.end(name) })
		answer(w, http.StatusOK, meta.Status{Status: "Success"})
	case r.Method == http.MethodPatch:
		answer(w, http.StatusOK, core.ConfigMap{})
	case name == "log":
		a.log(w, r, parts[len(parts)-2])
	case r.URL.Query().Get("watch") != "":
		a.watch(w, r, name)
	case name == "jobs" || name == "pods":
		a.mu.Lock()
		defer a.mu.Unlock()
		answer(w, http.StatusOK, a.list(name))
	case parts[len(parts)-2] == "jobs" && a.job(name) != nil:
		answer(w, http.StatusOK, a.job(name))
	default: // one object
		status(w, http.StatusNotFound, "NotFound", name)
	}
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the client is gone
}

func status(w http.ResponseWriter, code int, reason, message string) {
	answer(w, code, meta.Status{TypeMeta: meta.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure",
		Code: int32(code), Reason: meta.StatusReason(reason), Message: message})
}

func (a *api) create(w http.ResponseWriter, r *http.Request, kind string) {
	data, _ := io.ReadAll(r.Body)
	if a.refuse != "" && kind == "jobs" {
		status(w, http.StatusUnprocessableEntity, "Invalid", a.refuse)
		return
	}
	if kind == "configmaps" {
		a.change(func() { a.plans++ })
		answer(w, http.StatusCreated, core.ConfigMap{TypeMeta: meta.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}})
		return
	}
	j := &batch.Job{}
	if err := yaml.Unmarshal(data, j); err != nil {
		status(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	if a.job(j.Name) != nil {
		status(w, http.StatusConflict, "AlreadyExists", j.Name)
		return
	}
	if r.URL.Query().Get("dryRun") == "" {
		a.change(func() { a.jobs[j.Name] = j.DeepCopy() }) // j is encoded without the lock
	}
	answer(w, http.StatusCreated, j)
}

// job is a copy of a job; nil where there is none.
func (a *api) job(name string) *batch.Job {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.jobs[name].DeepCopy()
}

// list is called with the lock held.
func (a *api) list(kind string) any {
	about := meta.ListMeta{ResourceVersion: fmt.Sprint(a.version + 1)}
	if kind == "jobs" {
		l := batch.JobList{TypeMeta: meta.TypeMeta{Kind: "JobList", APIVersion: "batch/v1"}, ListMeta: about}
		for _, j := range a.jobs {
			l.Items = append(l.Items, *j)
		}
		return l
	}
	l := core.PodList{TypeMeta: meta.TypeMeta{Kind: "PodList", APIVersion: "v1"}, ListMeta: about}
	for _, p := range a.pods {
		l.Items = append(l.Items, *p)
	}
	return l
}

// watch sends everything at each change, and is cut at every third one.
func (a *api) watch(w http.ResponseWriter, r *http.Request, kind string) {
	if r.URL.Query().Get("sendInitialEvents") != "" { // an older API server
		status(w, http.StatusUnprocessableEntity, "Invalid", "sendInitialEvents is forbidden")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	flusher, _ := w.(http.Flusher)
	for range 3 {
		a.mu.Lock()
		changed := a.changed
		for _, o := range a.objects(kind) {
			data, _ := json.Marshal(o)
			_, _ = fmt.Fprintf(w, `{"type":"MODIFIED","object":%s}`+"\n", data)
		}
		a.mu.Unlock()
		flusher.Flush()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.broken++
	const expired = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":410,"reason":"Expired"}}`
	_, _ = fmt.Fprintln(w, expired)
}

// objects is called with the lock held.
func (a *api) objects(kind string) (out []any) {
	version := fmt.Sprint(a.version + 1)
	if kind == "jobs" {
		for _, j := range a.jobs {
			j.TypeMeta, j.ResourceVersion = meta.TypeMeta{Kind: "Job", APIVersion: "batch/v1"}, version
			out = append(out, j)
		}
		return out
	}
	for _, p := range a.pods {
		p.TypeMeta, p.ResourceVersion = meta.TypeMeta{Kind: "Pod", APIVersion: "v1"}, version
		out = append(out, p)
	}
	return out
}

// cluster is the cluster of an API server.
func (a *api) cluster(t *testing.T) *Cluster {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	name := filepath.Join(t.TempDir(), "config")
	config := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: %q}}]\n"+
		"contexts: [{name: x, context: {cluster: c, namespace: bench}}]\ncurrent-context: x\n", server.URL)
	if err := os.WriteFile(name, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", name)
	c, err := New(Target{})
	if err != nil || c.Target != (Target{"x", "bench"}) {
		t.Fatalf("%v %+v", err, c)
	}
	return c
}

// printedRun is what a pod prints that measured two points.
func printedRun(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	run := filepath.Join(dir, "20260101T000000Z-m-d-abc")
	if err := os.MkdirAll(run, 0o777); err != nil {
		t.Fatal(err)
	}
	var text string
	for _, e := range []string{"run-start", "point-done", "run-done"} {
		text += fmt.Sprintf(`{"time":"2026-01-01T00:00:00Z","event":%q,"item":"p"}`+"\n", e)
	}
	for name, data := range map[string]string{"journal.jsonl": text, "ttreport.manifest.yaml": "release: v1\n"} {
		if err := os.WriteFile(filepath.Join(run, name), []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	out.WriteString("1 point measured\n")
	if err := transfer.Write(&out, dir); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A plan from submission to results: one entry waits and runs, one is evicted and goes on, one reaches its limit and is
// submitted again, one fails; watches are cut and expire, and the API server is away for a while.
func TestLife(t *testing.T) {
	a := newAPI()
	c := a.cluster(t)
	var jobs []engine.Job
	for i := range 4 {
		jobs = append(jobs, engine.Job{Name: fmt.Sprintf("m%d on d", i+1), Total: 1,
			Resources: plan.Resources{Time: fmt.Sprint(10 + i), Retries: "1"}})
	}
	s := submission(t, jobs...)
	ctx, end := context.WithTimeout(context.Background(), 30*time.Second)
	defer end()
	c.Follow(ctx, s)
	round, sawAway, log := 0, false, printedRun(t)
	name := func(g int) string { return strings.ToLower(s.JobName(s.Groups[g-1], 0)) }
	again := strings.ToLower(s.JobName(s.Groups[2], 1)) + "-3"
	f := engine.Follower{Submission: s, Scheduler: c, Poll: time.Millisecond,
		Show: func(v engine.View) { sawAway = sawAway || v.Away > 0 },
		Sleep: func(ctx context.Context, _ time.Duration) error {
			round++
			a.step(round, name, again, log)
			time.Sleep(20 * time.Millisecond) // a watch is not instant
			return ctx.Err()
		}}
	tasks, err := f.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"Succeeded", "Succeeded", "Succeeded", "Failed"} {
		if task := tasks[i]; task.State != want || task.OK() != (want == "Succeeded") {
			t.Errorf("%+v", task)
		}
	}
	if !sawAway || a.broken == 0 || len(a.jobs) != 5 || tasks[2].Retry != 1 || tasks[3].Log[0] != "error: no server" {
		t.Errorf("away %t, %d broken watches, %d jobs, %+v", sawAway, a.broken, len(a.jobs), tasks)
	}
	found, _ := filepath.Glob(filepath.Join(s.OutOf(2), "*", "ttreport.manifest.yaml"))
	facts, err := os.ReadFile(strings.Join(found, ""))
	for _, want := range []string{
		"kubernetes_state: Evicted, Succeeded", "kubernetes_node: n1", "kubernetes_job_id: b1, b2",
	} {
		if err != nil || !strings.Contains(string(facts), want) {
			t.Errorf("%v, no %q in %s", err, want, facts)
		}
	}
}

// step is what happens in a cluster after each look at it.
func (a *api) step(round int, name func(int) string, again string, log []byte) {
	running := core.PodStatus{Phase: core.PodRunning, ContainerStatuses: clientStatus(
		core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: meta.Now()}})}
	succeeded := core.PodStatus{Phase: core.PodSucceeded, ContainerStatuses: exited(0, "Completed")}
	done := func(job, pod string) {
		a.change(func() { a.logs[pod], a.jobs[job].Status.CompletedIndexes = log, "0" })
		a.pod(job, pod, succeeded)
	}
	fail := func(job string) {
		a.change(func() { a.jobs[job].Status.FailedIndexes = pointer("0") })
	}
	switch round {
	case 2:
		a.pod(name(1), "a1", core.PodStatus{Phase: core.PodPending})
		a.pod(name(2), "b1", running)
		a.pod(name(3), "c1", running)
		a.pod(name(4), "d1", running)
	case 4:
		done(name(1), "a1")
		a.pod(name(2), "b1", core.PodStatus{Phase: core.PodFailed, Conditions: []core.PodCondition{
			{Type: core.DisruptionTarget, Status: core.ConditionTrue, Reason: "Evicted"}}})
		a.pod(name(2), "b2", running)
		a.change(func() { a.pods["b2"].Annotations[failuresNote] = "1" })
		a.pod(name(3), "c1", core.PodStatus{
			Phase: core.PodFailed, Reason: "DeadlineExceeded", ContainerStatuses: exited(143, "Error")})
		fail(name(3))
		a.change(func() { a.logs["d1"] = []byte("error: no server\n") })
		a.pod(name(4), "d1", core.PodStatus{Phase: core.PodFailed, ContainerStatuses: exited(4, "Error")})
		fail(name(4))
	case 6:
		a.change(func() { a.away = true })
	case 9:
		a.change(func() { a.away = false })
		a.change(func() { a.pods["b2"].Status = succeeded })
		done(name(2), "b2")
		a.change(func() { a.pods["b2"].Annotations[failuresNote] = "1" })
	}
	a.mu.Lock()
	there := a.jobs[again] != nil && a.pods["c2"] == nil
	a.mu.Unlock()
	if there {
		done(again, "c2")
	}
}

// What the API server would not take is refused before anything is made, by field; what it has is not made twice.
func TestSubmit(t *testing.T) {
	a := newAPI()
	c := a.cluster(t)
	s := submission(t, engine.Job{Name: "m on d"})
	a.refuse = `Job.batch "x" is invalid: spec.template.spec.tolerations[0].effect: Unsupported value`
	_, err := c.Accepted(t.Context(), s)
	var refused *engine.RefusedError
	if !errors.As(err, &refused) || refused.Field != "tolerations" || len(a.jobs) != 0 {
		t.Errorf("%v", err)
	}
	a.refuse = ""
	if _, err := c.Accepted(t.Context(), s); err != nil || len(a.jobs) != 0 {
		t.Errorf("%v %d", err, len(a.jobs))
	}
	for field, r := range map[string]plan.Resources{
		"volumes": {Volumes: []string{"gone:/x"}}, "results": {Results: "gone"}, "secrets": {Secrets: []string{"A=gone/key"}},
	} {
		_, err := c.Accepted(t.Context(), submission(t, engine.Job{Name: "m on d", Resources: r}))
		if !errors.As(err, &refused) || refused.Field != field || !strings.Contains(err.Error(), `"gone"`) {
			t.Errorf("%s: %v", field, err)
		}
	}
	c.Follow(t.Context(), s)
	o := engine.Order{File: s.FileOf(s.Groups[0]), Name: s.JobName(s.Groups[0], 0), Group: s.Groups[0]}
	first, err := c.Submit(t.Context(), o)
	second, again := c.Submit(t.Context(), o)
	if err != nil || again != nil || first != second || len(a.jobs) != 1 {
		t.Errorf("%v %v, %d jobs", err, again, len(a.jobs))
	}
	err = c.Cancel(t.Context(), []engine.Record{{Array: first}}, nil)
	if err != nil || len(a.deleted) != 1 || len(a.jobs) != 0 {
		t.Errorf("%v %v", err, a.deleted)
	}
}
