package kubernetes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/ttreport/ttreport/collect/engine/transfer"
)

// api is an API server of a test: what .ci/real shows against a real one, in milliseconds.
type api struct {
	mu    sync.Mutex
	jobs  map[string]*batch.Job
	pods  map[string]*core.Pod
	logs  map[string][]byte
	plans int

	workload string          // of Kueue, of the Job with the UID u1
	services []*core.Service // that were made, or checked
	owned    []string        // what was given to a Job
	version  int
	changed  chan struct{} // closed at each change
	away     bool
	broken   int // watches that were cut
	deleted  []string
	refuse   string
	leaves   map[string][]byte // what pods print when their Job is deleted
	kept     string            // the Job that cannot be deleted
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
		a.change(func() { a.owned = append(a.owned, strings.Join(parts[len(parts)-2:], "/")) })
		answer(w, http.StatusOK, core.ConfigMap{})
	case name == "log":
		a.log(w, r, parts[len(parts)-2])
	case r.URL.Query().Get("watch") != "":
		a.watch(w, r, name)
	case name == "workloads" && r.URL.Query().Get("labelSelector") == "kueue.x-k8s.io/job-uid=u1":
		_, _ = io.WriteString(w, a.workload)
	case name == "jobs" || name == "pods":
		a.mu.Lock()
		defer a.mu.Unlock()
		answer(w, http.StatusOK, a.list(name, strings.TrimPrefix(r.URL.Query().Get("labelSelector"), ofJob)))
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
	if kind == "services" {
		service := &core.Service{}
		if err := yaml.Unmarshal(data, service); err != nil {
			status(w, http.StatusBadRequest, "BadRequest", err.Error())
			return
		}
		a.change(func() { a.services = append(a.services, service) })
		answer(w, http.StatusCreated, service)
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
		a.change(func() {
			j.UID, j.CreationTimestamp = types.UID(fmt.Sprintf("made-%d", a.version)), meta.Now()
			a.jobs[j.Name] = j.DeepCopy() // j is encoded without the lock
		})
	}
	answer(w, http.StatusCreated, j)
}

// job is a copy of a job; nil where there is none.
func (a *api) job(name string) *batch.Job {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.jobs[name].DeepCopy()
}

// ofJob selects the pods of a Job.
const ofJob = batch.JobNameLabel + "="

// list is called with the lock held. Of pods it has those of a Job that is named.
func (a *api) list(kind, job string) any {
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
		if a.jobs[job] == nil || p.OwnerReferences[0].Name == job {
			l.Items = append(l.Items, *p)
		}
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
