package kubernetes

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/plan"
)

// over is the entries of a plan whose load is made by four nodes.
func over(t *testing.T, server engine.Server) *engine.Submission {
	t.Helper()
	j := engine.Job{Limit: time.Hour, Server: server, Resources: plan.Resources{
		Nodes: "4", Results: "bench", Volumes: []string{"weights:/models:ro"}, Devices: []string{"nvidia.com/gpu=8"},
		NodeSelector: []string{"a=b"}, Secrets: []string{"OPENAI_API_KEY=hub/key"}, Tolerations: []string{"x"}, Queue: "q",
	}}
	return submission(t, j, j)
}

// A load of several nodes is one pod with the server and three with clients on nodes of their own, which find it by
// name, know a word, and have nothing of the server but its key. Its entries are measured one after the other.
func TestClientsOnNodes(t *testing.T) {
	s := over(t, engine.Server{Image: "vllm:1", Port: 8000})
	o := made(t, s, 0, engine.Order{})
	name, pod, measuring := o.Job.Name, o.Clients.Spec.Template.Spec, o.Job.Spec.Template.Spec
	client := pod.Containers[0]
	var items []string
	for _, v := range append(slices.Clone(pod.Volumes), measuring.Volumes...) {
		if v.ConfigMap != nil {
			for _, i := range v.ConfigMap.Items {
				items = append(items, i.Path)
			}
		}
	}
	apart := pod.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
	address := name + ":7431"
	for what, ok := range map[string]bool{
		"count":     *o.Clients.Spec.Completions == 3 && *o.Clients.Spec.Parallelism == 3 && *o.Job.Spec.Parallelism == 1,
		"arguments": strings.Join(client.Args, " ") == "load-client "+address+" /ttreport/plan/word 2",
		"service": o.Service.Name == name && o.Service.Spec.ClusterIP == "None" &&
			o.Service.Spec.Selector["batch.kubernetes.io/job-name"] == name && o.Service.Spec.Ports[0].Port == 7431,
		"word":     slices.Equal(items, []string{"word", "0.yaml", "1.yaml", "word"}) && len(o.Plan.Data["word"]) > 20,
		"server":   len(pod.InitContainers) == 0 && len(measuring.InitContainers) == 1,
		"claims":   len(pod.Volumes) == 2 && len(client.VolumeMounts) == 2,
		"devices":  len(client.Resources.Limits) == 2 && client.Resources.Limits.Cpu().Value() == 1,
		"nodes":    pod.NodeSelector == nil && len(pod.Tolerations) == 1 && measuring.NodeSelector["a"] == "b",
		"apart":    apart.TopologyKey == core.LabelHostname && apart.LabelSelector.MatchLabels[submissionLabel] != "",
		"key":      slices.ContainsFunc(client.Env, func(v core.EnvVar) bool { return v.Name == "OPENAI_API_KEY" }),
		"no place": !slices.ContainsFunc(client.Env, func(v core.EnvVar) bool { return v.Name == "TTREPORT_CLIENTS" }),
		"queue":    o.Clients.Labels[queueLabel] == "q" && *o.Clients.Spec.Suspend,
		"waits": slices.Contains(measuring.Containers[0].Env, core.EnvVar{Name: "TTREPORT_CLIENTS", Value: "0.0.0.0:7431"}) &&
			slices.Contains(measuring.Containers[0].Env, core.EnvVar{Name: "TTREPORT_CLIENTS_N", Value: "3"}),
		"limit": pod.ActiveDeadlineSeconds == nil && *o.Clients.Spec.ActiveDeadlineSeconds == 2*2*3*3600, // two retries
	} {
		if !ok {
			text, _ := o.text()
			t.Errorf("%s: %s", what, text)
		}
	}
	again := made(t, s, 0, engine.Order{
		Name: s.JobName(s.Groups[0], 1) + "-2", Entries: []int{2}, Group: s.Groups[0], Limit: 2 * time.Hour, Retries: 1,
	})
	if d := *again.Clients.Spec.ActiveDeadlineSeconds; d != 2*2*2*3600 {
		t.Errorf("a retry of twice the time has clients for %d s", d)
	}
	if n := again.Job.Name; again.Service.Name != n || again.Clients.Name != n+"-clients" ||
		strings.Join(again.Clients.Spec.Template.Spec.Containers[0].Args[1:], " ") !=
			n+":7431 /ttreport/plan/word 1" {
		t.Errorf("a retry: %+v", again.Clients.Spec.Template.Spec.Containers[0].Args)
	}
	elsewhere := made(t, over(t, engine.Server{URL: "http://svc"}), 0, engine.Order{})
	if elsewhere.Clients.Spec.Template.Spec.NodeSelector["a"] != "b" {
		t.Error("clients of a server that runs already are where the plan says")
	}
}

// All objects are checked by the API server first, made before the Job that needs them, and belong to it.
func TestClientsAreMade(t *testing.T) {
	a := newAPI()
	c := a.cluster(t)
	j := engine.Job{Resources: plan.Resources{Nodes: "2"}}
	s := submission(t, j)
	if _, err := c.Accepted(t.Context(), s); err != nil || len(a.services) != 1 || len(a.jobs) != 0 {
		t.Fatalf("%v, %d services, %d jobs", err, len(a.services), len(a.jobs))
	}
	c.Follow(t.Context(), s)
	g := s.Groups[0]
	id, err := c.Submit(t.Context(), engine.Order{File: s.FileOf(g), Name: s.JobName(g, 0), Group: g, Entries: g.Entries})
	if err != nil || len(a.services) != 2 || a.job(id) == nil || a.job(id+"-clients") == nil {
		t.Errorf("%v %v", err, a.jobs)
	}
	if want := []string{"configmaps/" + id, "services/" + id, "jobs/" + id + "-clients"}; !slices.Equal(a.owned, want) {
		t.Errorf("%v belong to the Job", a.owned)
	}
	other := j
	other.Resources.CPUs = "2"
	other.Resources.Image, j.Resources.Image = "i", "i"
	var refused *engine.RefusedError
	if err := Check([]engine.Job{j, other}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "several nodes") {
		t.Error(err)
	}
}

// Jobs that are cancelled, or end, leave no clients behind that nobody owns.
func TestClientsEnd(t *testing.T) {
	for what, end := range map[string]func(a *api, c *Cluster, s *engine.Submission, r engine.Record){
		"cancelled": func(_ *api, c *Cluster, s *engine.Submission, r engine.Record) {
			to := func(engine.Record) (string, string) { return s.OutOf(1), s.LogOf(1) }
			if err := c.Cancel(t.Context(), []engine.Record{r}, to); err != nil {
				t.Error(err)
			}
		},
		"deleted": func(a *api, c *Cluster, s *engine.Submission, r engine.Record) {
			a.change(func() { delete(a.jobs, r.Array) })
			until(t, func() bool {
				a.change(func() {}) // the watch is cut, and everything listed again
				c.seen.mu.Lock()
				defer c.seen.mu.Unlock()
				return c.seen.jobs[r.Array].deleted
			})
			_ = c.Fetch(t.Context(), r, s.OutOf(1), s.LogOf(1)) // it has no pod
		},
	} {
		a := newAPI()
		c := a.cluster(t)
		s := submission(t, engine.Job{Resources: plan.Resources{Nodes: "2"}})
		c.Follow(t.Context(), s)
		g := s.Groups[0]
		id, err := c.Submit(t.Context(), engine.Order{File: s.FileOf(g), Name: s.JobName(g, 0), Group: g, Entries: g.Entries})
		if err != nil || a.job(id+"-clients") == nil {
			t.Fatal(err)
		}
		end(a, c, s, engine.Record{Array: id, Entry: 1, Phase: engine.Failed})
		if a.job(id+"-clients") != nil {
			t.Errorf("%s: its clients go on", what)
		}
	}
}
