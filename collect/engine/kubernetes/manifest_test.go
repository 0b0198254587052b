package kubernetes

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"

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
	if err := s.Write(func(g engine.Group) (string, error) { return Manifest(s, g, "bench") }); err != nil {
		t.Fatal(err)
	}
	return s
}

// made is what the order of a group creates.
func made(t *testing.T, s *engine.Submission, group int, ordered engine.Order) *order {
	t.Helper()
	ordered.File = s.FileOf(s.Groups[group])
	if ordered.Name == "" {
		ordered.Name = s.JobName(s.Groups[group], 0)
	}
	o, err := read(ordered)
	if err != nil {
		t.Fatal(err)
	}
	return o
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
	o := made(t, s, 0, engine.Order{})
	job, pod := o.Job, o.Job.Spec.Template.Spec
	server, client := pod.InitContainers[0], pod.Containers[0]
	nodes := pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	gpu, mem := server.Resources.Limits["nvidia.com/gpu"], server.Resources.Requests["memory"]
	for what, ok := range map[string]bool{
		"devices": gpu.Value() == 8 && mem.String() == "64Gi",
		"sidecar": *server.RestartPolicy == core.ContainerRestartPolicyAlways && server.Ports[0].ContainerPort == 8001,
		"arguments": strings.Join(server.Args, " ") == "--tp 8" &&
			strings.Contains(strings.Join(client.Args, " "), "--startup-timeout=1h"),
		"selector":    pod.NodeSelector["a.b/c"] == "d" && len(pod.NodeSelector) == 2,
		"tolerations": pod.Tolerations[0].Value == "v" && pod.Tolerations[1].Operator == core.TolerationOpExists,
		"claims": pod.Volumes[1].PersistentVolumeClaim.ClaimName == "bench" &&
			pod.Volumes[3].PersistentVolumeClaim.ClaimName == "weights",
		"mounts": server.VolumeMounts[0].MountPath == "/models" && server.VolumeMounts[0].ReadOnly,
		"secret": server.Env[0].ValueFrom.SecretKeyRef.Key == "token" && server.Env[0].Value == "",
		"accounts": pod.ServiceAccountName == "sa" && pod.PriorityClassName == "low" &&
			pod.ImagePullSecrets[0].Name == "reg",
		"nodes": len(nodes.NodeSelectorTerms[0].MatchExpressions) == 2,
		"queue": job.Labels["kueue.x-k8s.io/queue-name"] == "q" && *job.Spec.Suspend,
		"job": *job.Spec.TTLSecondsAfterFinished == 60 && *job.Spec.BackoffLimitPerIndex == 4 &&
			*pod.ActiveDeadlineSeconds == 3600,
		"a variable": client.Args[2] == "--tool-arg=x=$$(HOME)",
		"no token":   !*pod.AutomountServiceAccountToken,
		"alone":      pod.Affinity.PodAntiAffinity == nil, // the device plugin tells pods apart
	} {
		if !ok {
			text, _ := o.text()
			t.Errorf("%s: %s", what, text)
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
	alike, service := made(t, s, 0, engine.Order{}).Job, made(t, s, 1, engine.Order{}).Job
	if alike.Spec.Template.Spec.Affinity.PodAntiAffinity == nil || *alike.Spec.Parallelism != 2 {
		t.Error("two pods without devices may share a node")
	}
	if *service.Spec.Parallelism != 1 || *service.Spec.Completions != 2 || service.Spec.Template.Spec.Affinity != nil {
		t.Errorf("%+v", service.Spec)
	}
}

// A retry is a Job of one entry, with the limit and the retries that it is given, and writes where the entry wrote.
func TestRetry(t *testing.T) {
	s := submission(t, engine.Job{Limit: time.Hour}, engine.Job{Limit: time.Hour}, engine.Job{Limit: time.Hour})
	g := s.Groups[0]
	o := made(t, s, 0, engine.Order{
		Name: s.JobName(g, 1) + "-2", Entries: []int{2}, Retries: 1, Limit: 2 * time.Hour, Group: g,
	})
	job := o.Job
	plan := job.Spec.Template.Spec.Volumes[0].ConfigMap
	args := strings.Join(job.Spec.Template.Spec.Containers[0].Args, " ")
	if job.Name != strings.ToLower("ttreport-"+s.ID+"-1-r1-2") || *job.Spec.Completions != 1 ||
		*job.Spec.Parallelism != 1 ||
		*job.Spec.BackoffLimitPerIndex != 1 || *job.Spec.Template.Spec.ActiveDeadlineSeconds != 7200 ||
		plan.Name != job.Name || o.Plan.Name != job.Name || plan.Items[0].Key != "entry-002.yaml" ||
		plan.Items[0].Path != "0.yaml" ||
		!strings.Contains(args, "--out=/ttreport/results/1 ") || job.Annotations[entriesNote] != "2" {
		text, _ := o.text()
		t.Error(text)
	}
}

func TestCheck(t *testing.T) {
	image, url := plan.Resources{Image: "i"}, engine.Server{URL: "u"}
	for want, jobs := range map[string][]engine.Job{
		"":         {{Resources: image}, {Resources: image, Server: url}},
		"image":    {{}},
		"nodelist": {{Resources: plan.Resources{Image: "i", Nodelist: "n[1-4]"}}},
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
		err := Check(jobs)
		if (err == nil) != (want == "") ||
			err != nil && (!strings.Contains(err.Error(), want) || !errors.Is(err, engine.ErrRefused)) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Without a kubeconfig manifests can be made, and nothing can be asked.
func TestNoCluster(t *testing.T) {
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	c, err := New(Target{})
	if !errors.Is(err, engine.ErrMissing) || c.Target.Namespace != "" {
		t.Errorf("%v %+v", err, c)
	}
	name := t.TempDir() + "/config"
	if err := os.WriteFile(name, []byte("nonsense: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", name)
	if _, err := New(Target{}); !errors.Is(err, engine.ErrMissing) {
		t.Error(err)
	}
}
