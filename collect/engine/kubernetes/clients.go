package kubernetes

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/meeting"
)

// clientsPort is where the pod that measures waits for the clients of other pods.
const clientsPort = 7431

// wordKey is the word by which the pods of an array know each other, in its ConfigMap.
const wordKey = "word"

// clientPods returns how many pods of clients a group has beside the one that measures.
func clientPods(g engine.Group) int { return g.Nodes() - 1 }

// meets adds to the pod that measures where it waits for clients.
func meets(c *core.Container, n int) {
	c.Ports = append(c.Ports, core.ContainerPort{ContainerPort: clientsPort})
	for _, v := range [][2]string{
		{meeting.AddressVariable, fmt.Sprintf("0.0.0.0:%d", clientsPort)}, {meeting.WordVariable, planPath + "/" + wordKey},
		{meeting.CountVariable, strconv.Itoa(n)},
	} {
		c.Env = append(c.Env, core.EnvVar{Name: v[0], Value: v[1]})
	}
}

// service is how clients find the pod of an array that measures. It has no address of its own.
func service(s *engine.Submission) *core.Service {
	return &core.Service{
		TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: meta.ObjectMeta{Labels: labels(s.ID)},
		Spec: core.ServiceSpec{
			ClusterIP: core.ClusterIPNone, PublishNotReadyAddresses: true,
			Ports: []core.ServicePort{{Port: clientsPort, TargetPort: intstr.FromInt32(clientsPort)}},
		},
	}
}

// clientsJob is the clients of an array, each on a node where nothing else of the submission runs. They make the load
// of one entry after the other, with the pod that measures it.
func clientsJob(s *engine.Submission, g engine.Group, measuring batch.JobSpec) *batch.Job {
	n, mode := int32(clientPods(g)), batch.IndexedCompletion
	pod := measuring.Template.Spec.DeepCopy()
	pod.InitContainers = nil
	pod.Volumes = slices.DeleteFunc(pod.Volumes, func(v core.Volume) bool { return !ofClients(v.Name) })
	c := &pod.Containers[0]
	c.Ports, c.Resources = nil, loadAlone()
	c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m core.VolumeMount) bool { return !ofClients(m.Name) })
	c.Env = slices.DeleteFunc(c.Env, func(v core.EnvVar) bool {
		return slices.Contains([]string{meeting.AddressVariable, meeting.WordVariable, meeting.CountVariable}, v.Name)
	})
	if g.Server.URL == "" { // where to measure is stated of the server
		pod.NodeSelector, pod.Affinity = nil, nil
	}
	if pod.Affinity == nil {
		pod.Affinity = &core.Affinity{}
	}
	pod.Affinity.PodAntiAffinity = &core.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []core.PodAffinityTerm{{
			TopologyKey: core.LabelHostname, LabelSelector: &meta.LabelSelector{MatchLabels: labels(s.ID)},
		}},
	}
	spec := batch.JobSpec{
		CompletionMode: &mode, Completions: &n, Parallelism: &n, BackoffLimitPerIndex: pointer(int32(10)),
		PodReplacementPolicy: measuring.PodReplacementPolicy, TTLSecondsAfterFinished: measuring.TTLSecondsAfterFinished,
		Suspend:  measuring.Suspend,
		Template: core.PodTemplateSpec{ObjectMeta: *measuring.Template.ObjectMeta.DeepCopy(), Spec: *pod},
	}
	about := meta.ObjectMeta{Labels: labels(s.ID)}
	if g.Resources.Queue != "" {
		about.Labels[queueLabel] = g.Resources.Queue
	}
	return &batch.Job{TypeMeta: meta.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: about, Spec: spec}
}

// ofClients reports whether clients need a volume: results and weights are of the pod that measures.
func ofClients(volume string) bool { return volume == "plan" || volume == "work" }

// meet makes what the clients of an order need one for some entries under another name.
func (o *order) meet(name string, entries int) {
	if o.Service == nil {
		return
	}
	o.Service.Name, o.Clients.Name = name, name+"-clients"
	o.Service.Spec.Selector = map[string]string{batch.JobNameLabel: name}
	at := fmt.Sprintf("%s:%d", name, clientsPort) // in its namespace, whatever that is
	pod := &o.Clients.Spec.Template.Spec
	pod.ActiveDeadlineSeconds = nil // another pod would take its place
	if d := o.Job.Spec.Template.Spec.ActiveDeadlineSeconds; d != nil {
		// all entries with their retries, one after the other, and waiting for each other
		o.Clients.Spec.ActiveDeadlineSeconds = pointer(2 * *d * int64(entries) * int64(1+*o.Job.Spec.BackoffLimitPerIndex))
	}
	pod.Containers[0].Args = []string{meeting.ClientCommand, at, planPath + "/" + wordKey, strconv.Itoa(entries)}
	for i := range pod.Volumes {
		if v := &pod.Volumes[i]; v.Name == "plan" {
			v.ConfigMap.Name, v.ConfigMap.Items = name, []core.KeyToPath{{Key: wordKey, Path: wordKey}}
		}
	}
}

// word is one that nobody guesses. It is no credential: it tells the pods of an array from others while they measure.
func word() string { return rand.Text() }

// clientsOf returns the Jobs of the clients of arrays; none where these have none.
func (c *Cluster) clientsOf(jobs []engine.Record) []string {
	var out []string
	for _, r := range jobs {
		name := r.Array + "-clients"
		if c.of != nil && !slices.Contains(out, name) && slices.ContainsFunc(c.of.Groups, func(g engine.Group) bool {
			return clientPods(g) > 0 && slices.Contains(g.Entries, r.Entry)
		}) {
			out = append(out, name)
		}
	}
	return out
}

// endClients ends the clients of an array that has ended: those of a pod that was killed do not know it.
func (c *Cluster) endClients(ctx context.Context, r engine.Record) {
	clients := c.clientsOf([]engine.Record{r})
	if len(clients) == 0 {
		return
	}
	c.seen.mu.Lock()
	j := c.seen.jobs[r.Array]
	c.seen.mu.Unlock()
	for i := range j.entries {
		if j.why == "" && !j.deleted && !contains(j.completed, i) && !contains(j.failed, i) {
			return
		}
	}
	_, _ = c.deleteJobs(ctx, clients) // else its time limit ends it
}
