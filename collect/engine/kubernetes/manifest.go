package kubernetes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/ttreport/ttreport/collect/engine"
)

// Labels and annotations of what is made.
const (
	appLabel        = "app.kubernetes.io/name"
	appName         = "ttreport"
	submissionLabel = "ttreport/submission"
	entriesNote     = "ttreport/entries" // by index: "1,3,4"
	queueLabel      = "kueue.x-k8s.io/queue-name"
	indexNote       = "batch.kubernetes.io/job-completion-index"
	failuresNote    = "batch.kubernetes.io/job-index-failure-count"
)

// Paths in a pod.
const (
	planPath    = "/ttreport/plan"
	resultsPath = "/ttreport/results"
	workPath    = "/ttreport/work"
)

// Names of containers.
const (
	clientName = "collect"
	serverName = "server"
)

// usualTTL is how long an ended Job is kept, in seconds, where nothing is stated: its log has the results.
const usualTTL = 7 * 24 * 3600

// between is between two objects of a file.
const between = "\n---\n"

// order is what is created for an array.
type order struct {
	Plan core.ConfigMap
	Job  batch.Job

	// Of a load that several nodes make; nil otherwise.
	Service *core.Service
	Clients *batch.Job
}

// Manifest returns the YAML of a group: a ConfigMap with its entries, and a Job; with clients on other nodes a Service
// and their Job as well.
func Manifest(s *engine.Submission, g engine.Group, namespace string) (string, error) {
	name := strings.ToLower(s.JobName(g, 0))
	about := meta.ObjectMeta{Name: name, Namespace: namespace, Labels: labels(s.ID)}
	o := order{
		Plan: core.ConfigMap{
			TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: about, Data: map[string]string{},
		},
		Job: batch.Job{
			TypeMeta: meta.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: *about.DeepCopy(), Spec: jobSpec(s, g),
		},
	}
	for _, j := range s.Jobs {
		for _, entry := range g.Entries {
			if j.Entry == entry {
				o.Plan.Data[entryKey(entry)] = string(j.Plan)
			}
		}
	}
	if g.Resources.Queue != "" {
		o.Job.Labels[queueLabel] = g.Resources.Queue
	}
	if s.OneByOne(g) {
		o.Job.Spec.Parallelism = pointer(int32(1))
	}
	if clientPods(g) > 0 {
		o.Plan.Data[wordKey] = word()
		o.Service, o.Clients = service(s), clientsJob(s, g, o.Job.Spec)
		o.Service.Namespace, o.Clients.Namespace = namespace, namespace
	}
	o.narrow(name, g.Entries)
	return o.text()
}

func labels(id string) map[string]string {
	return map[string]string{appLabel: appName, submissionLabel: strings.ToLower(id)}
}

func entryKey(entry int) string { return fmt.Sprintf("entry-%03d.yaml", entry) }

func pointer[T any](v T) *T { return &v }

// jobSpec is the Job of a group without its entries.
func jobSpec(s *engine.Submission, g engine.Group) batch.JobSpec {
	ttl, _ := strconv.Atoi(cmp.Or(g.Resources.TTL, strconv.Itoa(usualTTL))) // its form was checked
	mode, replace := batch.IndexedCompletion, batch.Failed
	spec := batch.JobSpec{
		CompletionMode:          &mode,
		BackoffLimitPerIndex:    pointer(int32(g.Resources.MostRetries())),
		PodReplacementPolicy:    &replace,
		TTLSecondsAfterFinished: pointer(int32(ttl)),
		PodFailurePolicy: &batch.PodFailurePolicy{Rules: []batch.PodFailurePolicyRule{
			{ // evicted, preempted, or its node is gone
				Action: batch.PodFailurePolicyActionCount,
				OnPodConditions: []batch.PodFailurePolicyOnPodConditionsPattern{
					{Type: core.DisruptionTarget, Status: core.ConditionTrue},
				},
			},
			{
				Action: batch.PodFailurePolicyActionFailIndex,
				OnExitCodes: &batch.PodFailurePolicyOnExitCodesRequirement{
					ContainerName: pointer(clientName), Operator: batch.PodFailurePolicyOnExitCodesOpNotIn, Values: []int32{0},
				},
			},
		}},
		Template: core.PodTemplateSpec{ObjectMeta: meta.ObjectMeta{Labels: labels(s.ID)}, Spec: podSpec(s, g)},
	}
	if g.Resources.Queue != "" { // Kueue lets it begin
		spec.Suspend = pointer(true)
	}
	return spec
}

// narrow makes an order one for some entries of its group, under another name.
func (o *order) narrow(name string, entries []int) {
	o.Plan.Name, o.Job.Name = name, name
	list := make([]string, len(entries))
	var items []core.KeyToPath
	for i, entry := range entries {
		list[i] = strconv.Itoa(entry)
		items = append(items, core.KeyToPath{Key: entryKey(entry), Path: fmt.Sprintf("%d.yaml", i)})
	}
	if o.Job.Annotations == nil {
		o.Job.Annotations = map[string]string{}
	}
	o.Job.Annotations[entriesNote] = strings.Join(list, ",")
	n := int32(len(entries))
	o.Job.Spec.Completions = &n
	if p := o.Job.Spec.Parallelism; p == nil || *p > n {
		o.Job.Spec.Parallelism = &n
	}
	if o.Service != nil {
		items = append(items, core.KeyToPath{Key: wordKey, Path: wordKey})
	}
	o.meet(name, len(entries))
	for i := range o.Job.Spec.Template.Spec.Volumes {
		if v := &o.Job.Spec.Template.Spec.Volumes[i]; v.ConfigMap != nil && v.Name == "plan" {
			v.ConfigMap.Name, v.ConfigMap.Items = name, items
		}
	}
}

// read reads the file of a group, and makes it what is ordered: a retry has fewer entries, another limit, and writes
// to the same place.
func read(ordered engine.Order) (*order, error) {
	data, err := os.ReadFile(ordered.File)
	if err != nil {
		return nil, fmt.Errorf("submission: %w", err)
	}
	o := &order{}
	for i, text := range strings.Split(string(data), between) {
		into := []any{&o.Plan, &o.Job, &o.Service, &o.Clients}
		if i == len(into) {
			return nil, fmt.Errorf("submission: %s has more than %d objects", filepath.Base(ordered.File), len(into))
		}
		if err := yaml.UnmarshalStrict([]byte(text), into[i]); err != nil {
			return nil, fmt.Errorf("submission: %s: %w", filepath.Base(ordered.File), err)
		}
	}
	o.again(ordered)
	return o, nil
}

// again turns the order of a group into one of its retries.
func (o *order) again(ordered engine.Order) {
	name := strings.ToLower(ordered.Name)
	if o.Job.Name == name {
		return
	}
	o.Job.Spec.BackoffLimitPerIndex = pointer(int32(ordered.Retries))
	pod := &o.Job.Spec.Template.Spec
	if ordered.Limit > 0 {
		pod.ActiveDeadlineSeconds = pointer(seconds(ordered.Limit))
	}
	for i, entry := range strings.Split(o.Job.Annotations[entriesNote], ",") {
		if entry != strconv.Itoa(ordered.Entries[0]) { // a retry is of one entry
			continue
		}
		client := &pod.Containers[0]
		for j := range client.Args {
			own := fmt.Sprintf("%s/%d", resultsPath, i)
			client.Args[j] = strings.ReplaceAll(client.Args[j], resultsPath+"/"+indexVariable, own)
		}
	}
	o.narrow(name, ordered.Entries)
}

func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// text returns the YAML of an order, without the fields that only a server fills.
func (o *order) text() (string, error) {
	var parts []string
	list := []any{o.Plan, o.Job}
	if o.Service != nil {
		list = append(list, o.Service, o.Clients)
	}
	for _, v := range list {
		data, err := json.Marshal(v)
		if err != nil {
			return "", fmt.Errorf("manifest: %w", err)
		}
		var fields map[string]any
		if err := json.Unmarshal(data, &fields); err != nil {
			return "", fmt.Errorf("manifest: %w", err)
		}
		delete(fields, "status")
		if data, err = yaml.Marshal(fields); err != nil {
			return "", fmt.Errorf("manifest: %w", err)
		}
		parts = append(parts, string(data))
	}
	return strings.Join(parts, between[1:]), nil
}
