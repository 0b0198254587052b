package kubernetes

import (
	"fmt"
	"slices"
	"strings"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/plan"
)

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
	if n := clientPods(g); n > 0 {
		meets(&c, n)
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
