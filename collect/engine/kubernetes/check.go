package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/ttreport/ttreport/collect/engine"
)

// Check refuses jobs that no manifest can be made of: an [engine.RefusedError].
func Check(jobs []engine.Job) error {
	together := map[string][]engine.Job{} // those that run one after the other: pods that wait for others hold nodes
	for _, j := range jobs {
		r := j.Resources
		if r.Image == "" {
			return &engine.RefusedError{Job: j.Name, Field: "image",
				Why: "it is not stated: the image that ttreport runs from, as image: registry.example/ttreport:v1"}
		}
		if r.ResultsAt != "" && r.Results == "" {
			return &engine.RefusedError{Job: j.Name, Field: "results_at",
				Why: "it is where a claim is mounted here, and results: names no claim"}
		}
		for field, list := range map[string]string{"nodelist": r.Nodelist, "exclude": r.Exclude} {
			if strings.ContainsAny(list, "[]") {
				return &engine.RefusedError{Job: j.Name, Field: field,
					Why: fmt.Sprintf("%q: Kubernetes has no ranges of nodes; list them, as n1,n2", list)}
			}
		}
		for what, at := range map[string]bool{
			j.Server.URL: j.Server.URL != "", "with several nodes": clientPods(engine.Group{Resources: r}) > 0,
		} {
			if at {
				together[what] = append(together[what], j)
			}
			if len(engine.GroupsOf(together[what])) > 1 {
				return &engine.RefusedError{Job: j.Name, Why: fmt.Sprintf("jobs that measure %s run one after the other, in one "+
					"array, and their resources, servers or time limits differ; state the same, time: as well, or make each of "+
					"them a plan of its own", what)}
			}
		}
	}
	return nil
}

// Accepted returns the submission when the API server would take all of it; an [engine.RefusedError] otherwise.
func (c *Cluster) Accepted(ctx context.Context, s *engine.Submission) (*engine.Submission, error) {
	for _, g := range s.Groups {
		text, err := Manifest(s, g, c.Target.Namespace)
		if err != nil {
			return nil, err
		}
		parts := strings.Split(text, between)
		if r := g.Resources; r.Results != "" && r.ResultsAt == "" {
			name := strings.ToLower(s.JobName(g, 0)) + "-read-1"
			read, err := yaml.Marshal(readerJob(name, g, onClaim(s, g), 0, 1))
			if err != nil {
				return nil, err
			}
			parts = append(parts, string(read))
		}
		if err := c.wouldTake(ctx, parts, s.NameOf(g.Entries[0])); err != nil {
			return nil, err
		}
		if err := c.there(ctx, g, s.NameOf(g.Entries[0])); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// wouldTake lets the API server check manifests strictly, without making anything.
func (c *Cluster) wouldTake(ctx context.Context, manifests []string, name string) error {
	for _, text := range manifests {
		var about meta.TypeMeta
		if err := yaml.Unmarshal([]byte(text), &about); err != nil {
			return err
		}
		client := c.core
		if about.Kind == "Job" {
			client = c.batch
		}
		kind := strings.ToLower(about.Kind) + "s"
		err := client.Post().Namespace(c.Target.Namespace).Resource(kind).
			Param("dryRun", "All").Param("fieldValidation", "Strict").
			SetHeader("Content-Type", "application/yaml").Body([]byte(text)).Do(ctx).Error()
		if err == nil {
			continue
		}
		if err = failure(err); !errors.Is(err, engine.ErrRefused) {
			return err
		}
		why := strings.TrimPrefix(err.Error(), engine.ErrRefused.Error()+": ")
		return &engine.RefusedError{Job: name, Field: fieldOf(why), Why: why}
	}
	return nil
}

// fieldOf returns the field of resources: that a refusal is about; "" where it is none of them.
func fieldOf(why string) string {
	for _, f := range [][2]string{
		{"nodeSelector", "node_selector"}, {"tolerations", "tolerations"}, {"resources.", "devices, cpus, mem"},
		{"ttlSecondsAfterFinished", "ttl"}, {"priorityClassName", "priority_class"}, {"PriorityClass", "priority_class"},
		{"service account", "service_account"}, {"persistentVolumeClaim", "volumes"}, {"volumeMounts", "volumes"},
		{"nodeAffinity", "nodelist, exclude"}, {"].image", "image"}, {"kueue", "queue"}, {"secretKeyRef", "secrets"},
		{"exceeded quota", "devices, cpus, mem"},
	} {
		if strings.Contains(why, f[0]) {
			return f[1]
		}
	}
	return ""
}

// there refuses claims and secrets that do not exist: a pod would wait for them for ever. Who may not look at them is
// not refused.
func (c *Cluster) there(ctx context.Context, g engine.Group, name string) error {
	type need struct{ kind, name, field string }
	var needs []need
	for _, v := range slices.Concat(g.Resources.Volumes, []string{g.Resources.Results}) {
		claim, _, _ := strings.Cut(v, ":")
		field := "volumes"
		if v == g.Resources.Results {
			field = "results"
		}
		needs = append(needs, need{"persistentvolumeclaims", claim, field})
	}
	for _, text := range g.Resources.Secrets {
		_, at, _ := strings.Cut(text, "=")
		secret, _, _ := strings.Cut(at, "/")
		needs = append(needs, need{"secrets", secret, "secrets"})
	}
	for _, n := range needs {
		if n.name == "" {
			continue
		}
		err := c.core.Get().Namespace(c.Target.Namespace).Resource(n.kind).Name(n.name).
			SetHeader("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1").Do(ctx).Error()
		if apierrors.IsNotFound(err) {
			why := fmt.Sprintf("there is no %q among the %s of namespace %s", n.name, n.kind, c.Target.Namespace)
			return &engine.RefusedError{Job: name, Field: n.field, Why: why}
		}
	}
	return nil
}
