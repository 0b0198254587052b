package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/engine/transfer"
)

// apiVariable makes this test program a kubectl that asks the API server of a test.
const apiVariable = "TTREPORT_TEST_API"

func TestMain(m *testing.M) {
	if at := os.Getenv(apiVariable); at != "" {
		os.Exit(fakeKubectl(at))
	}
	os.Exit(m.Run())
}

// nothing is what kubectl says where nothing has a label, which is no error.
const nothing = "No resources found in bench namespace."

// fakeKubectl hands its arguments and its input over, and writes the answer as it comes. The trailer has the error.
func fakeKubectl(at string) int {
	r, err := http.NewRequest(http.MethodPost, at, os.Stdin)
	if err != nil {
		return 2
	}
	r.Header["Arg"] = os.Args[1:]
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		fmt.Fprintln(os.Stderr, "The connection to the server was refused")
		return 1
	}
	_, _ = io.Copy(os.Stdout, answer.Body)
	if said := answer.Trailer.Get("Said"); said != "" {
		fmt.Fprintln(os.Stderr, said)
		if said == nothing {
			return 0
		}
		return 1
	}
	return 0
}

// api is an API server of a test: what .ci/real shows against a real one, in milliseconds.
type api struct {
	mu    sync.Mutex
	jobs  map[string]*object
	pods  map[string]*object
	logs  map[string][]byte
	specs map[string]map[string]any // of Jobs, as they were created
	plans int

	owned   []string // what was given to a Job
	version int
	changed chan struct{} // closed at each change
	away    bool
	deleted []string
	refuse  string
	kept    string // the Job that cannot be deleted
	unread  string // why logs cannot be read
}

// cluster is an API server, and a kubectl on the PATH that asks it.
func cluster(t *testing.T) (*api, *Backend) {
	t.Helper()
	a := &api{jobs: map[string]*object{}, pods: map[string]*object{}, logs: map[string][]byte{},
		specs: map[string]map[string]any{}, changed: make(chan struct{})}
	server := httptest.NewServer(a)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "kubectl")); err != nil {
		t.Skip("a program cannot have another name here")
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv(apiVariable, server.URL)
	return a, &Backend{}
}

// change changes what there is, and tells those who follow a log.
func (a *api) change(how func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	how()
	a.version++
	close(a.changed)
	a.changed = make(chan struct{})
}

// pod sets the pod of a Job.
func (a *api) pod(job string, p *object) {
	a.change(func() {
		p.Metadata.OwnerReferences[0].Name = job
		a.pods[p.Metadata.Name] = p
	})
}

// counted is what was done to the cluster until now.
type counted struct {
	jobs, plans    int
	deleted, owned []string
}

func (a *api) now() counted {
	a.mu.Lock()
	defer a.mu.Unlock()
	return counted{len(a.jobs), a.plans, slices.Clone(a.deleted), slices.Clone(a.owned)}
}

// job is a copy of a Job; nil where there is none.
func (a *api) job(name string) *object {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.jobs[name] == nil {
		return nil
	}
	o := *a.jobs[name]
	return &o
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Trailer", "Said")
	input, _ := io.ReadAll(r.Body)
	flags, words := map[string]string{}, []string{}
	for _, arg := range r.Header["Arg"] {
		if name, value, _ := strings.Cut(arg, "="); strings.HasPrefix(arg, "--") {
			flags[name] = value
		} else {
			words = append(words, arg)
		}
	}
	a.mu.Lock()
	away := a.away
	a.mu.Unlock()
	said := "Unable to connect to the server: dial tcp: i/o timeout"
	if !away {
		said = a.do(w, words, flags, input)
	}
	w.Header().Set("Said", said)
}

// do does what a command line of kubectl says, and returns its error; "" for none.
func (a *api) do(w io.Writer, words []string, flags map[string]string, input []byte) string {
	switch words[0] + " " + words[1%len(words)] {
	case "config view":
		_, _ = io.WriteString(w, `{"current-context": "x", "contexts": [{"name": "x", "context": {"namespace": "bench"}}]}`)
		return ""
	case "get jobs.batch,pods":
		a.list(w, flags["--selector"])
		return ""
	case "get jobs.batch":
		_, _ = io.WriteString(w, a.job(words[2]).Metadata.UID)
		return ""
	}
	switch words[0] {
	case "get": // claims and secrets
		kind, name, _ := strings.Cut(words[1], "/")
		return fmt.Sprintf("Error from server (NotFound): %s %q not found", kind, name)
	case "create":
		return a.create(w, flags, input)
	case "patch":
		a.change(func() { a.owned = append(a.owned, words[2]) })
		return ""
	case "delete":
		for _, name := range words[2:] {
			if name == a.kept {
				return fmt.Sprintf("Error from server (Forbidden): jobs.batch %q is forbidden", name)
			}
			a.change(func() { a.end(name) })
			fmt.Fprintln(w, "job.batch/"+name)
		}
		return ""
	case "logs":
		return a.log(w, words[1], flags)
	case "wait": // pods end at once
		return ""
	}
	return "error: unknown command " + words[0]
}

func (a *api) create(w io.Writer, flags map[string]string, input []byte) string {
	for part := range bytes.SplitSeq(input, []byte("---\n")) {
		var o object
		var all map[string]any
		data, err := yaml.YAMLToJSON(part)
		if err == nil {
			err = json.Unmarshal(data, &o)
		}
		if err == nil {
			err = json.Unmarshal(data, &all)
		}
		name := o.Metadata.Name
		switch {
		case err != nil:
			return "error: error parsing STDIN: " + err.Error()
		case a.refuse != "" && o.Kind == "Job":
			return a.refuse
		case flags["--dry-run"] != "":
		case o.Kind == "ConfigMap":
			a.change(func() { a.plans++ })
		case a.job(name) != nil:
			return fmt.Sprintf(`Error from server (AlreadyExists): error when creating "STDIN": jobs.batch %q already exists`,
				name)
		default:
			a.change(func() {
				o.Metadata.UID, o.Metadata.CreationTimestamp = fmt.Sprintf("made-%d", a.version), time.Now()
				a.jobs[name], a.specs[name] = &o, all
			})
			_, _ = io.WriteString(w, o.Metadata.UID)
		}
	}
	return ""
}

// list writes the Jobs and pods of a submission, or of a reader of a claim.
func (a *api) list(w io.Writer, selector string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	reader, _ := strings.CutPrefix(selector, "ttreport/reads=")
	wanted := func(job string) bool {
		return strings.Contains(job, "-read-") == (reader != selector) && (reader == selector || reader == job)
	}
	items := []*object{}
	for name, j := range a.jobs {
		if wanted(name) {
			items = append(items, j)
		}
	}
	for _, p := range a.pods {
		if wanted(p.Metadata.OwnerReferences[0].Name) {
			items = append(items, p)
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"items": items}) // the client is gone
}

// end deletes a Job with its pods and their logs. It is called with the lock held.
func (a *api) end(job string) {
	a.deleted = append(a.deleted, job)
	delete(a.jobs, job)
	for name, p := range a.pods {
		if p.Metadata.OwnerReferences[0].Name == job {
			delete(a.pods, name)
			delete(a.logs, name)
		}
	}
}

// log writes the log of a pod.
func (a *api) log(w io.Writer, pod string, flags map[string]string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.unread != "":
		return a.unread
	case a.pods[pod] == nil:
		return fmt.Sprintf("Error from server (NotFound): pods %q not found", pod)
	}
	text := a.logs[pod]
	if n, err := strconv.Atoi(flags["--tail"]); err == nil && n >= 0 {
		lines := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
		text = bytes.Join(lines[max(0, len(lines)-n):], nil)
	}
	_, _ = w.Write(text)
	return ""
}

// podNamed is a pod of index 0 of the job "j", in a phase, with what is stated of its client's container.
func podNamed(name, phase string, client ...container) *object {
	o := &object{Kind: "Pod"}
	o.Metadata.Name, o.Metadata.Annotations = name, map[string]string{indexNote: "0"}
	o.Metadata.OwnerReferences = []struct{ Kind, Name, UID string }{{Kind: "Job", Name: "j"}}
	o.Spec.NodeName, o.Status.Phase, o.Status.ContainerStatuses = "n1", phase, client
	return o
}

// client is what is shown of the client's container, as JSON.
func client(state string, args ...any) container {
	var c container
	if err := json.Unmarshal(fmt.Appendf(nil, state, args...), &c.State); err != nil {
		panic(err)
	}
	c.Name, c.ImageID = clientName, "docker-pullable://i@sha256:1"
	return c
}

func exited(code int, reason string) container {
	return client(`{"terminated": {"exitCode": %d, "reason": %q}}`, code, reason)
}

// runningPod is a pod that measures, and has said so.
func (a *api) runningPod(name string) *object {
	a.change(func() { a.logs[name] = append([]byte("server    ready\n"), a.logs[name]...) })
	return podNamed(name, running, client(`{"running": {"startedAt": %q}}`, time.Now().Format(time.RFC3339)))
}

// put makes what there is of Jobs and pods known.
func (s *seen) put(list ...object) {
	if s.jobs == nil {
		s.jobs, s.pods = map[string]job{}, map[string]*pod{}
	}
	for _, j := range s.jobs {
		list = append(list, j.object)
	}
	for _, p := range s.pods {
		list = append(list, p.object)
	}
	s.take(slices.Concat(list[len(list)-len(s.jobs)-len(s.pods):], list[:len(list)-len(s.jobs)-len(s.pods)]))
}

// printedRun is what a pod prints that measured two points.
func printedRun(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	(claim{dir}).put(t, "", 0)
	var out bytes.Buffer
	out.WriteString("1 point measured\n")
	if err := (&transfer.Printer{To: &out, Dir: dir}).Print(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// follower follows a submission; step is called after each look.
func follower(s *engine.Submission, b *Backend, step func(round int)) *engine.Follower {
	round := 0
	return &engine.Follower{Submission: s, Backend: b, Poll: time.Millisecond, Show: func(engine.View) {},
		Sleep: func(ctx context.Context, _ time.Duration) error {
			round++
			step(round)
			return ctx.Err()
		}}
}

// within ends a test that would not end.
func within(t *testing.T) context.Context {
	ctx, done := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(done)
	return ctx
}

// journals are the run folders of an entry.
func journals(s *engine.Submission, entry int) []string {
	found, _ := filepath.Glob(filepath.Join(s.OutOf(entry), "*", "journal.jsonl"))
	return found
}

// names are those of a map, in order.
func names[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
