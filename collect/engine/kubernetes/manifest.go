package kubernetes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/engine/transfer"
	"github.com/ttreport/ttreport/collect/plan"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
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
}

// Manifest returns the YAML of a group: a ConfigMap with its entries, and a Job.
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
	if g.OneByOne() {
		o.Job.Spec.Parallelism = pointer(int32(1))
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
		into := []any{&o.Plan, &o.Job}
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

// indexVariable is the index of a pod in its Job, which Kubernetes puts into the environment and replaces in arguments.
const indexVariable = "$(JOB_COMPLETION_INDEX)"

// grace is how long a pod has to print what it measured when it is ended, in seconds.
const grace = 60

// podSpec is the pod of each entry of a group: a client, and the server beside it where that is an image.
func podSpec(s *engine.Submission, g engine.Group) core.PodSpec {
	r := g.Resources
	pod := core.PodSpec{
		RestartPolicy:                 core.RestartPolicyNever,
		TerminationGracePeriodSeconds: pointer(int64(grace)),
		AutomountServiceAccountToken:  pointer(false),
		EnableServiceLinks:            pointer(false),
		ServiceAccountName:            r.ServiceAccount,
		PriorityClassName:             r.PriorityClass,
		NodeSelector:                  pairs(r.NodeSelector),
		ImagePullSecrets:              pullSecrets(r),
		Tolerations:                   tolerations(r),
		Affinity:                      affinity(g),
		Containers:                    []core.Container{client(s, g)},
		Volumes:                       volumes(s, r),
	}
	if g.Limit > 0 {
		pod.ActiveDeadlineSeconds = pointer(seconds(g.Limit))
	}
	if g.Server.Image != "" {
		pod.InitContainers = []core.Container{server(g)}
	}
	return pod
}

func pullSecrets(r plan.Resources) (out []core.LocalObjectReference) {
	for _, name := range r.PullSecrets {
		out = append(out, core.LocalObjectReference{Name: name})
	}
	return out
}

func tolerations(r plan.Resources) (out []core.Toleration) {
	for _, t := range r.Tolerations {
		out = append(out, toleration(t))
	}
	return out
}

// client is the container that measures.
func client(s *engine.Submission, g engine.Group) core.Container {
	args := append([]string{"collect"}, s.Args...)
	stated := func(a string) bool { return strings.HasPrefix(a, "--startup-timeout=") }
	if g.Server.Image != "" && !slices.ContainsFunc(s.Args, stated) {
		args = append(args, "--startup-timeout=1h") // a minute is for a server that runs already
	}
	// the pod has its devices for itself
	args = append(args, "--once", "--allocated", "--out="+resultsPath+"/"+indexVariable,
		"--plan="+planPath+"/"+indexVariable+".yaml")
	if g.Resources.Results == "" { // else they stay on the claim
		args = append(args, "--print-results")
	}
	if g.Server.Image == "" && len(s.After) > 0 {
		args = append(append(args, "--"), s.After...)
	}
	for i, a := range args { // $$( is $( and $(X) the variable X
		if !strings.Contains(a, indexVariable) {
			args[i] = strings.ReplaceAll(a, "$(", "$$(")
		}
	}
	c := core.Container{
		Name: clientName, Image: g.Resources.Image, Command: []string{appName}, Args: args, WorkingDir: workPath,
		Env: []core.EnvVar{
			{Name: "HOME", Value: workPath}, {Name: "TMPDIR", Value: workPath}, // an image may have no /tmp
			field("TTREPORT_NODE", "spec.nodeName"), field("TTREPORT_POD", "metadata.name"),
		},
		VolumeMounts: append([]core.VolumeMount{
			{Name: "plan", MountPath: planPath, ReadOnly: true}, {Name: "results", MountPath: resultsPath},
			{Name: "work", MountPath: workPath},
		}, mounts(g.Resources)...),
	}
	if g.Resources.Results != "" { // a folder of its own on the claim, by group and index
		c.VolumeMounts[1].SubPath = onClaim(s, g)
	}
	c.Env = append(c.Env, secrets(g.Resources)...)
	if g.Server.Image == "" && g.Server.URL == "" {
		c.Resources = requirements(g.Resources)
	} else {
		c.Resources = loadAlone()
	}
	return c
}

// loadAlone is what a client asks for: a processor for itself, or it would measure its neighbours.
func loadAlone() core.ResourceRequirements { return requirements(plan.Resources{CPUs: "1", Mem: "1G"}) }

// field is a variable with a field of the pod.
func field(name, path string) core.EnvVar {
	at := &core.ObjectFieldSelector{FieldPath: path}
	return core.EnvVar{Name: name, ValueFrom: &core.EnvVarSource{FieldRef: at}}
}

// server is the container of the server, which runs as long as the client does.
func server(g engine.Group) core.Container {
	always := core.ContainerRestartPolicyAlways
	return core.Container{
		Name: serverName, Image: g.Server.Image, Args: slices.Clone(g.Server.Args), RestartPolicy: &always,
		Ports: []core.ContainerPort{{ContainerPort: int32(g.Server.Port)}},
		Env:   secrets(g.Resources), Resources: requirements(g.Resources), VolumeMounts: mounts(g.Resources),
	}
}

// requirements asks for all that is stated, no more and no less, so that a pod's processors are its own where nodes
// give them out (class Guaranteed).
func requirements(r plan.Resources) core.ResourceRequirements {
	list := core.ResourceList{}
	add := func(name, amount string) {
		if q, err := resource.ParseQuantity(amount); err == nil { // its form was checked
			list[core.ResourceName(name)] = q
		}
	}
	if r.CPUs != "" {
		add("cpu", r.CPUs)
	}
	if r.Mem != "" {
		add("memory", memory(r.Mem))
	}
	for name, n := range pairs(r.Devices) {
		add(name, n)
	}
	if len(list) == 0 {
		return core.ResourceRequirements{}
	}
	return core.ResourceRequirements{Requests: list, Limits: list.DeepCopy()}
}

// memory writes sbatch's --mem as a quantity: its units are binary, and without one it is megabytes.
func memory(text string) string {
	unit := strings.ToUpper(text[len(text)-1:])
	if strings.ContainsAny(unit, "KMGT") {
		return text[:len(text)-1] + unit + "i"
	}
	return text + "Mi"
}

// pairs reads a list of name=value.
func pairs(list []string) map[string]string {
	if len(list) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, p := range list {
		name, value, _ := strings.Cut(p, "=")
		out[name] = value
	}
	return out
}

// toleration reads key=value:effect; without a value every value is tolerated, without an effect each of them.
func toleration(text string) core.Toleration {
	taint, effect, _ := strings.Cut(text, ":")
	key, value, hasValue := strings.Cut(taint, "=")
	t := core.Toleration{Key: key, Operator: core.TolerationOpExists, Effect: core.TaintEffect(effect)}
	if hasValue {
		t.Operator, t.Value = core.TolerationOpEqual, value
	}
	return t
}

// affinity keeps pods to nodes and off nodes, and off the nodes of other pods of ours where no device plugin tells
// them apart.
func affinity(g engine.Group) *core.Affinity {
	a := &core.Affinity{}
	var rules []core.NodeSelectorRequirement
	for op, text := range map[core.NodeSelectorOperator]string{
		core.NodeSelectorOpIn: g.Resources.Nodelist, core.NodeSelectorOpNotIn: g.Resources.Exclude,
	} {
		if text != "" {
			rules = append(rules, core.NodeSelectorRequirement{
				Key: core.LabelHostname, Operator: op, Values: strings.Split(text, ","),
			})
		}
	}
	if len(rules) > 0 {
		slices.SortFunc(rules, func(a, b core.NodeSelectorRequirement) int {
			return strings.Compare(string(a.Operator), string(b.Operator))
		})
		a.NodeAffinity = &core.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &core.NodeSelector{
			NodeSelectorTerms: []core.NodeSelectorTerm{{MatchExpressions: rules}},
		}}
	}
	alone := len(g.Resources.Devices) == 0 && g.Server.URL == ""
	if g.Resources.Exclusive == "true" || alone && g.Resources.Exclusive != "false" {
		a.PodAntiAffinity = &core.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []core.PodAffinityTerm{{
			TopologyKey:   core.LabelHostname,
			LabelSelector: &meta.LabelSelector{MatchLabels: map[string]string{appLabel: appName}},
		}}}
	}
	if a.NodeAffinity == nil && a.PodAntiAffinity == nil {
		return nil
	}
	return a
}

// volumes are the plan, a folder to work in, one for results, and the claims of the plan.
func volumes(s *engine.Submission, r plan.Resources) []core.Volume {
	empty := func() core.VolumeSource { return core.VolumeSource{EmptyDir: &core.EmptyDirVolumeSource{}} }
	claim := func(name string) core.VolumeSource {
		return core.VolumeSource{PersistentVolumeClaim: &core.PersistentVolumeClaimVolumeSource{ClaimName: name}}
	}
	out := []core.Volume{
		{Name: "plan", VolumeSource: core.VolumeSource{ConfigMap: &core.ConfigMapVolumeSource{}}},
		{Name: "results", VolumeSource: empty()}, {Name: "work", VolumeSource: empty()},
	}
	if r.Results != "" {
		out[1].VolumeSource = claim(r.Results)
	}
	for i, v := range r.Volumes {
		name, _, _ := strings.Cut(v, ":")
		out = append(out, core.Volume{Name: fmt.Sprintf("volume-%d", i), VolumeSource: claim(name)})
	}
	return out
}

func mounts(r plan.Resources) []core.VolumeMount {
	var out []core.VolumeMount
	for i, v := range r.Volumes {
		f := strings.Split(v, ":")
		out = append(out, core.VolumeMount{Name: fmt.Sprintf("volume-%d", i), MountPath: f[1], ReadOnly: len(f) > 2})
	}
	return out
}

// secrets refers to keys of secrets; their values never pass through here.
func secrets(r plan.Resources) []core.EnvVar {
	var out []core.EnvVar
	for _, text := range r.Secrets {
		variable, at, _ := strings.Cut(text, "=")
		name, key, _ := strings.Cut(at, "/")
		out = append(out, core.EnvVar{Name: variable, ValueFrom: &core.EnvVarSource{
			SecretKeyRef: &core.SecretKeySelector{LocalObjectReference: core.LocalObjectReference{Name: name}, Key: key},
		}})
	}
	return out
}

// PrintCommand is the command of this program that prints a part of what is in a folder; see [transfer.WritePart].
const PrintCommand = "print-results"

// readerNote labels what reads a claim. It has no label of what measures, which would keep measurements off its node.
const readerNote = "ttreport/reads"

// Bounds of what reads a claim.
const (
	readerTTL     = 3600             // s that it is kept when it has ended, for a follower that was killed
	readersAtOnce = 4                // parts of one result
	startsWithin  = 10 * time.Minute // that none of its pods runs
	readsWithin   = 24 * time.Hour   // all of its parts
)

// onClaim is the folder of a group on the claim of results; each index has its own in it.
func onClaim(s *engine.Submission, g engine.Group) string {
	return fmt.Sprintf("%s-%s/%d", s.Engine, s.ID, g.Number)
}

// claimOf returns the group of a record whose results are on a claim, and their folder there.
func (c *Cluster) claimOf(r engine.Record) (g engine.Group, folder string, ok bool) {
	if c.of == nil {
		return g, "", false
	}
	for _, g := range c.of.Groups {
		if i := slices.Index(g.Entries, r.Entry); i >= 0 && g.Resources.Results != "" {
			return g, path.Join(onClaim(c.of, g), strconv.Itoa(i)), true
		}
	}
	return g, "", false
}

// fromClaim brings what an entry has on its claim to dir: from the claim itself where it is mounted here, else through
// the log of a pod that mounts it and measures nothing. [engine.ErrLater] while that is on its way.
func (c *Cluster) fromClaim(ctx context.Context, r engine.Record, dir string) error {
	g, folder, _ := c.claimOf(r)
	if at := g.Resources.ResultsAt; at != "" {
		from := filepath.Join(at, filepath.FromSlash(folder))
		err := transfer.Copy(from, dir)
		if errors.Is(err, transfer.ErrNone) {
			err = fmt.Errorf("%w: nothing is in %s; is results_at where %s is mounted?", err, from, g.Resources.Results)
		}
		return nothingOf(r, err)
	}
	if !c.began(r) {
		return nothingOf(r, transfer.ErrNone)
	}
	read := reader{c, g, folder, fmt.Sprintf("%s-read-%d", r.Array, r.Entry)} // a retry has one of its own
	logs, err := read.all(ctx)
	if err != nil {
		return nothingOf(r, err)
	}
	defer logs.Close()
	err = transfer.Read(logs, io.Discard, dir)
	if err == nil || errors.Is(err, transfer.ErrCut) { // what is cut is read again
		_, _ = c.deleteJobs(ctx, []string{read.name, read.rest()}) // else its TTL ends it
	}
	return err
}

// nothingOf takes it that a job that did not succeed has no results.
func nothingOf(r engine.Record, err error) error {
	if errors.Is(err, transfer.ErrNone) && r.Phase != engine.Succeeded {
		return nil
	}
	return err
}

// began reports whether a pod of an entry may have written results: nothing is known of one whose pods are gone.
func (c *Cluster) began(r engine.Record) bool {
	if r.Phase == engine.Succeeded { // whatever was seen of its pods
		return true
	}
	c.seen.mu.Lock()
	entries := c.seen.jobs[r.Array].entries
	c.seen.mu.Unlock()
	pods := slices.DeleteFunc(c.seen.podsOf(r.Array), func(p podState) bool {
		return p.index >= len(entries) || entries[p.index] != r.Entry
	})
	return len(pods) == 0 || slices.ContainsFunc(pods, func(p podState) bool { return p.ran })
}

// reader reads the results of one entry from its claim.
type reader struct {
	*Cluster
	group  engine.Group
	folder string
	name   string // of its Job
}

// rest is the name of the Job that reads all parts but the first.
func (r reader) rest() string { return r.name + "-rest" }

// all returns the logs of all parts. The first part states how many there are.
func (r reader) all(ctx context.Context) (io.ReadCloser, error) {
	pods, err := r.read(ctx, r.name, 0, 1)
	if err != nil {
		return nil, err
	}
	said, err := r.tail(ctx, pods[0], 1)
	if err != nil {
		return nil, err
	}
	n := transfer.PartsOf(said)
	switch {
	case n == 0:
		_, _ = r.deleteJobs(ctx, []string{r.name}) // else its TTL ends it
		return nil, transfer.ErrNone
	case n > 1:
		more, err := r.read(ctx, r.rest(), 1, n-1)
		if err != nil {
			return nil, err
		}
		pods = append(pods, more...)
	}
	in, out := io.Pipe()
	go func() { _ = out.CloseWithError(r.copy(ctx, out, pods)) }() // one log after the other
	return in, nil
}

func (r reader) copy(ctx context.Context, to io.Writer, pods []string) error {
	for _, pod := range pods {
		from, err := r.logOf(ctx, engine.Record{Job: pod, Phase: engine.Succeeded}, false)
		if err != nil {
			return err
		}
		_, err = io.Copy(to, from)
		_ = from.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// tail returns the last lines of a pod's log.
func (c *Cluster) tail(ctx context.Context, pod string, lines int) (string, error) {
	text, err := c.core.Get().Namespace(c.Target.Namespace).Resource("pods").Name(pod).SubResource("log").
		Param("container", clientName).Param("tailLines", strconv.Itoa(lines)).Do(ctx).Raw()
	if err != nil {
		return "", failure(err)
	}
	return string(text), nil
}

// read returns the pods, by index, of a Job that prints n parts from one on. [engine.ErrLater] while they run: the Job
// is made when there is none.
func (r reader) read(ctx context.Context, name string, from, n int) ([]string, error) {
	var job batch.Job
	err := r.batch.Get().Namespace(r.Target.Namespace).Resource("jobs").Name(name).Do(ctx).Into(&job)
	if apierrors.IsNotFound(err) {
		err = r.batch.Post().Namespace(r.Target.Namespace).Resource("jobs").
			Body(readerJob(name, r.group, r.folder, from, n)).Do(ctx).Error()
		if err == nil {
			err = fmt.Errorf("%w: its results are being read from %s", engine.ErrLater, r.group.Resources.Results)
			return nil, err
		}
	}
	if err != nil {
		return nil, failure(err)
	}
	var found core.PodList
	err = r.core.Get().Namespace(r.Target.Namespace).Resource("pods").
		Param("labelSelector", batch.JobNameLabel+"="+name).Do(ctx).Into(&found)
	if err != nil {
		return nil, failure(err)
	}
	found.Items = slices.DeleteFunc(found.Items, func(p core.Pod) bool { // of one of that name that was deleted
		return !slices.ContainsFunc(p.OwnerReferences, func(o meta.OwnerReference) bool { return o.UID == job.UID })
	})
	return r.stands(ctx, &job, found.Items, n)
}

// stands returns the pods of a Job that has succeeded, or why there are none.
func (r reader) stands(ctx context.Context, job *batch.Job, found []core.Pod, n int) ([]string, error) {
	pods, why, failed := make([]string, n), "", ""
	for i := range found {
		p, ours := podOf(&found[i])
		if !ours || p.index >= n {
			continue
		}
		switch p.phase {
		case core.PodSucceeded:
			pods[p.index] = p.name
		case core.PodFailed:
			failed, why = p.name, p.reason
		default:
			why = cmp.Or(p.reason, why)
		}
	}
	if !slices.Contains(pods, "") {
		return pods, nil
	}
	broken := slices.ContainsFunc(job.Status.Conditions, func(c batch.JobCondition) bool {
		return c.Type == batch.JobFailed && c.Status == core.ConditionTrue
	})
	if !broken && goesOn(job, found, time.Now()) {
		if why != "" {
			why = ": " + why
		}
		return nil, fmt.Errorf("%w: its results are being read from %s%s", engine.ErrLater, r.group.Resources.Results, why)
	}
	if failed != "" {
		said, _ := r.tail(ctx, failed, 3) // without it the reason says enough
		why = cmp.Or(strings.TrimSpace(said), why)
	}
	_, _ = r.deleteJobs(ctx, []string{job.Name}) // so that the next attempt is another one
	return nil, fmt.Errorf("the pod that reads the claim %s did not succeed: %s", r.group.Resources.Results, why)
}

// goesOn reports whether a Job is to be waited for: while Kueue has not admitted it, while one of its pods runs, and a
// while for pods to begin.
func goesOn(job *batch.Job, found []core.Pod, now time.Time) bool {
	if job.Spec.Suspend != nil && *job.Spec.Suspend {
		return true
	}
	began := job.CreationTimestamp.Time
	if job.Status.StartTime != nil { // since it was not suspended any more
		began = job.Status.StartTime.Time
	}
	running, last := false, began
	for i := range found {
		p, _ := podOf(&found[i])
		running = running || p.phase == core.PodRunning && !p.deleted
		for _, at := range []time.Time{p.created, p.finished} {
			if at.After(last) {
				last = at
			}
		}
	}
	if running {
		return now.Sub(began) < readsWithin
	}
	return now.Sub(last) < startsWithin
}

// readerJob prints n parts of a folder of a claim, from one on, each in a pod: a kubelet keeps so much of a log.
func readerJob(name string, g engine.Group, folder string, from, n int) *batch.Job {
	mode, r := batch.IndexedCompletion, g.Resources
	about := meta.ObjectMeta{Name: name, Labels: map[string]string{readerNote: g.Resources.Results}}
	pod := core.PodSpec{
		RestartPolicy: core.RestartPolicyNever, AutomountServiceAccountToken: pointer(false),
		EnableServiceLinks: pointer(false), ServiceAccountName: r.ServiceAccount, PriorityClassName: r.PriorityClass,
		NodeSelector: pairs(r.NodeSelector), ImagePullSecrets: pullSecrets(r), Tolerations: tolerations(r),
		Volumes: []core.Volume{{Name: "results", VolumeSource: core.VolumeSource{
			PersistentVolumeClaim: &core.PersistentVolumeClaimVolumeSource{ClaimName: r.Results},
		}}},
		Containers: []core.Container{{
			Name: clientName, Image: r.Image, Command: []string{appName},
			Args:         []string{PrintCommand, resultsPath, strconv.Itoa(from), indexVariable},
			VolumeMounts: []core.VolumeMount{{Name: "results", MountPath: resultsPath, SubPath: folder, ReadOnly: true}},
			Resources:    requirements(plan.Resources{CPUs: "200m", Mem: "128M"}), // others may measure on its node
		}},
	}
	job := &batch.Job{
		TypeMeta: meta.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: about,
		Spec: batch.JobSpec{
			CompletionMode: &mode, Completions: pointer(int32(n)), Parallelism: pointer(int32(min(n, readersAtOnce))),
			BackoffLimit: pointer(int32(2)), TTLSecondsAfterFinished: pointer(int32(readerTTL)),
			Template: core.PodTemplateSpec{ObjectMeta: meta.ObjectMeta{Labels: about.Labels}, Spec: pod},
		},
	}
	if r.Queue != "" {
		job.Labels = map[string]string{readerNote: r.Results, queueLabel: r.Queue}
		job.Spec.Suspend = pointer(true)
	}
	return job
}
