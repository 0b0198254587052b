package kubernetes

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/plan"
)

// submission is one of these jobs, with a folder that can be written.
func submission(t *testing.T, jobs ...engine.Job) *engine.Submission {
	t.Helper()
	for i := range jobs {
		jobs[i].Entry, jobs[i].Plan = i+1, []byte("plans: []\n")
		if jobs[i].Resources.Image == "" {
			jobs[i].Resources.Image = "example/ttreport:1"
		}
	}
	dir := t.TempDir()
	s := engine.Prepare(engine.Submission{
		Engine: "kubernetes", Suffix: ".yaml", Jobs: jobs, Args: []string{"--seed=3", "--tool-arg=x=$(HOME)"},
	}, dir, dir, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	if err := s.Write((&Backend{}).Render); err != nil {
		t.Fatal(err)
	}
	return s
}

// made is what a manifest has of its Job, by a path: "spec/template/0/name", with ~ for a slash of a name.
func made(t *testing.T, text string, err error) func(path string) any {
	t.Helper()
	_, manifest, ok := strings.Cut(text, "\n---\n")
	var job any
	if err != nil || !ok || yaml.Unmarshal([]byte(manifest), &job) != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return func(path string) any {
		at := job
		for step := range strings.SplitSeq(path, "/") {
			step = strings.ReplaceAll(step, "~", "/")
			switch v := at.(type) {
			case map[string]any:
				at = v[step]
			case []any:
				i := int(step[0] - '0')
				if i >= len(v) {
					return nil
				}
				at = v[i]
			default:
				return nil
			}
		}
		if n, ok := at.(uint64); ok {
			return int(n)
		}
		return at
	}
}

// Everything that resources: can state is in the pod, secrets as references only.
func TestPod(t *testing.T) {
	s := submission(t, engine.Job{Limit: time.Hour,
		Server: engine.Server{Image: "vllm:1", Args: []string{"--tp", "8"}, Port: 8001},
		Resources: plan.Resources{
			CPUs: "16", Mem: "64g", Devices: []string{"nvidia.com/gpu=8"}, NodeSelector: []string{"a.b/c=d", "e="},
			Tolerations: []string{"k=v:NoExecute", "x"}, Volumes: []string{"weights:/models:ro"}, Results: "bench",
			Secrets: []string{"HF_TOKEN=hub/token"}, PullSecrets: []string{"reg"}, ServiceAccount: "sa", PriorityClass: "low",
			Nodelist: "n1,n2", Exclude: "n3", Queue: "q", TTL: "60", Retries: "4",
		}})
	text, err := (&Backend{}).Render(s, s.Groups[0])
	at := made(t, text, err)
	const (
		pod    = "spec/template/spec/"
		server = pod + "initContainers/0/"
		client = pod + "containers/0/"
		nodes  = pod + "affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/"
	)
	for path, want := range map[string]any{
		server + "resources/limits/nvidia.com~gpu": "8", server + "resources/requests/memory": "64Gi",
		server + "restartPolicy": "Always", server + "ports/0/containerPort": 8001, server + "args": []any{"--tp", "8"},
		pod + "nodeSelector": map[string]any{"a.b/c": "d", "e": ""},
		pod + "tolerations/0": map[string]any{
			"key": "k", "operator": "Equal", "value": "v", "effect": "NoExecute",
		},
		pod + "tolerations/1":                             map[string]any{"key": "x", "operator": "Exists"},
		pod + "volumes/1/persistentVolumeClaim/claimName": "bench",
		pod + "volumes/3/persistentVolumeClaim/claimName": "weights",
		server + "volumeMounts/0": map[string]any{
			"name": "volume-0", "mountPath": "/models", "readOnly": true,
		},
		server + "env/0": map[string]any{"name": "HF_TOKEN", "valueFrom": map[string]any{
			"secretKeyRef": map[string]any{"name": "hub", "key": "token"}}},
		client + "env/4/valueFrom/secretKeyRef/key": "token", client + "volumeMounts/3/name": "volume-0",
		client + "volumeMounts/1/subPath": "kubernetes-" + s.ID + "/1",
		pod + "serviceAccountName":        "sa", pod + "priorityClassName": "low", pod + "imagePullSecrets/0/name": "reg",
		"metadata/labels/kueue.x-k8s.io~queue-name": "q", "spec/suspend": true, "spec/ttlSecondsAfterFinished": 60,
		"spec/backoffLimitPerIndex": 4, pod + "activeDeadlineSeconds": 3600, pod + "automountServiceAccountToken": false,
		client + "args/2": "--tool-arg=x=$$(HOME)", client + "args/3": "--startup-timeout=1h",
		pod + "affinity/podAntiAffinity": nil, // the device plugin tells pods apart
		nodes + "matchExpressions": []any{
			map[string]any{"key": "kubernetes.io/hostname", "operator": "In", "values": []any{"n1", "n2"}},
			map[string]any{"key": "kubernetes.io/hostname", "operator": "NotIn", "values": []any{"n3"}},
		},
	} {
		if got := at(path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, want %#v in %s", path, got, want, text)
		}
	}
}

// Two pods do not measure on one device, nor one server that runs already.
func TestPodsDoNotMeasureEachOther(t *testing.T) {
	s := submission(t, engine.Job{}, engine.Job{}, engine.Job{Server: engine.Server{URL: "http://svc"}},
		engine.Job{Server: engine.Server{URL: "http://svc"}})
	if len(s.Groups) != 2 {
		t.Fatalf("%+v", s.Groups)
	}
	text, err := (&Backend{}).Render(s, s.Groups[0])
	alike := made(t, text, err)
	text, err = (&Backend{}).Render(s, s.Groups[1])
	service := made(t, text, err)
	if alike("spec/template/spec/affinity/podAntiAffinity") == nil || alike("spec/parallelism") != 2 {
		t.Error("two pods without devices may share a node")
	}
	if service("spec/parallelism") != 1 || service("spec/completions") != 2 ||
		service("spec/template/spec/affinity") != nil {
		t.Error(text)
	}
}

// A retry is a Job of one entry, with the limit and the retries that it is given, and writes where the entry wrote.
func TestRetry(t *testing.T) {
	s := submission(t, engine.Job{Limit: time.Hour}, engine.Job{Limit: time.Hour}, engine.Job{Limit: time.Hour})
	g := s.Groups[0]
	opened, err := engine.Open(s.Dir) // the plan is in files then
	if err != nil {
		t.Fatal(err)
	}
	text, err := render(opened, engine.Array{
		Name: s.JobName(g, 1) + "-2", Entries: []int{2}, Retries: 1, Limit: 2 * time.Hour, Group: g,
	})
	at := made(t, text, err)
	name := strings.ToLower("ttreport-" + s.ID + "-1-r1-2")
	for path, want := range map[string]any{
		"metadata/name": name, "spec/completions": 1, "spec/parallelism": 1, "spec/backoffLimitPerIndex": 1,
		"spec/template/spec/activeDeadlineSeconds": 7200, "spec/template/spec/volumes/0/configMap/name": name,
		"spec/template/spec/volumes/0/configMap/items/0": map[string]any{"key": "entry-002.yaml", "path": "0.yaml"},
		"metadata/annotations/ttreport~entries":          "2",
		"spec/template/spec/containers/0/args/5":         "--out=/ttreport/results/1",
	} {
		if got := at(path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, want %#v in %s", path, got, want, text)
		}
	}
	if !strings.Contains(text, "  entry-002.yaml: |\n    plans: []\n") {
		t.Error(text)
	}
}

func TestCheck(t *testing.T) {
	image, url := plan.Resources{Image: "i"}, engine.Server{URL: "u"}
	for want, jobs := range map[string][]engine.Job{
		"":           {{Resources: image}, {Resources: image, Server: url}},
		"image":      {{}},
		"results_at": {{Resources: plan.Resources{Image: "i", ResultsAt: "/x"}}},
		"nodelist":   {{Resources: plan.Resources{Image: "i", Nodelist: "n[1-4]"}}},
		"in one array": {
			{Resources: image, Server: engine.Server{URL: "u", Port: 1}}, {Resources: image, Server: url},
		},
		"time limits differ": {
			{Resources: image, Server: url, Limit: time.Hour}, {Resources: image},
			{Resources: image, Server: url, Limit: 2 * time.Hour},
		},
		"their resources, servers": {
			{Resources: image, Server: engine.Server{URL: "u"}},
			{Resources: plan.Resources{Image: "i", CPUs: "2"}, Server: engine.Server{URL: "u"}},
		},
	} {
		for i := range jobs {
			jobs[i].Entry, jobs[i].Plan = i+1, []byte("plans: []\n")
		}
		sub := engine.Prepare(engine.Submission{Jobs: jobs}, "/s", "/r", time.Unix(0, 0))
		var err error
		for _, g := range sub.Groups {
			_, wrong := (&Backend{}).Render(sub, g)
			err = errors.Join(err, wrong)
		}
		if (err == nil) != (want == "") ||
			err != nil && (!strings.Contains(err.Error(), want) || !errors.Is(err, engine.ErrRefused)) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Without kubectl or a kubeconfig manifests can be made, and nothing can be asked; otherwise the context and its
// namespace are those of the kubeconfig, or of the flags.
func TestFind(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	target, err := (&Backend{}).Find(t.Context())
	if !errors.Is(err, engine.ErrMissing) || !strings.Contains(err.Error(), "install it") ||
		target != (engine.Target{}) {
		t.Errorf("%v %+v", err, target)
	}
	t.Setenv("PATH", path)
	a, b := cluster(t)
	if target, err := b.Find(t.Context()); err != nil || target != (engine.Target{Context: "x", Namespace: "bench"}) {
		t.Errorf("%v %+v", err, target)
	}
	b.target = engine.Target{Context: "lab", Namespace: "other"}
	if target, err := b.Find(t.Context()); err != nil || target != b.target {
		t.Errorf("%v %+v", err, target)
	}
	a.change(func() { a.away = true }) // as without a kubeconfig, of which it says something else
	if _, err := b.Find(t.Context()); !errors.Is(err, engine.ErrMissing) {
		t.Error(err)
	}
}

// What keeps people waiting is told apart from what they must change, in the words of kubectl 1.32 to 1.36.
func TestFailures(t *testing.T) {
	for want, texts := range map[error][]string{
		engine.ErrUnavailable: {
			"Unable to connect to the server: dial tcp 10.0.0.1:6443: i/o timeout",
			"E1124 memcache.go:265] x\nThe connection to the server 127.0.0.1:1 was refused - did you specify the right host",
			"Error from server (ServiceUnavailable): apiserver is shutting down",
			"Error from server (InternalError): an error on the server has prevented the request from succeeding",
			"Error from server: etcdserver: request timed out",
		},
		engine.ErrRefused: {
			"Error from server (Forbidden): jobs.batch is forbidden: User \"u\" cannot create",
			"error: You must be logged in to the server (Unauthorized)",
			"The Job \"x\" is invalid: spec.completions: Required value",
		},
		engine.ErrMissing: {
			"error: context \"lab\" does not exist",
			"error: no configuration has been provided, try setting KUBERNETES_MASTER",
		},
	} {
		for _, text := range texts {
			if err := failure(text, errors.New("exit status 1")); !errors.Is(err, want) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}
