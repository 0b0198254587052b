package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/engine/transfer"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// Cluster is a Kubernetes cluster, behind its API server.
type Cluster struct {
	Target Target // as it was found

	config      *rest.Config
	core, batch rest.Interface
	seen        *cache
	submission  string // label of what is followed
	of          *engine.Submission
	heard       int // running pods that were asked for their logs
}

// Target names a cluster: "" takes the current context of the kubeconfig, and its namespace; without a kubeconfig the
// cluster is the one that this program runs in.
type Target engine.Target

// New returns the cluster that a target names. It does not ask it anything; [engine.ErrMissing] where none is known.
func New(t Target) (*Cluster, error) {
	overrides := &clientcmd.ConfigOverrides{CurrentContext: t.Context}
	overrides.Context.Namespace = t.Namespace
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), overrides)
	namespace, _, err := loader.Namespace()
	if err != nil {
		return &Cluster{}, fmt.Errorf("%w: %w", engine.ErrMissing, err)
	}
	c := &Cluster{Target: Target{t.Context, namespace}}
	if raw, err := loader.RawConfig(); err == nil && t.Context == "" {
		c.Target.Context = raw.CurrentContext
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return c, fmt.Errorf("%w: %w", engine.ErrMissing, err)
	}
	c.config = config
	// The usual five requests a second are for controllers; a plan is up to two thousand objects.
	config.QPS, config.Burst = 100, 200
	config.UserAgent, config.WarningHandler = appName, rest.NoWarnings{}
	if c.core, err = groupClient(config, core.SchemeGroupVersion, "/api"); err == nil {
		c.batch, err = groupClient(config, batch.SchemeGroupVersion, "/apis")
	}
	if err != nil {
		return c, fmt.Errorf("%w: %w", engine.ErrMissing, err)
	}
	return c, nil
}

// groupClient returns a client of one API group. client-go's own set of clients is not used: it has every type of every
// group, which is 20 MB of program for two of them.
func groupClient(config *rest.Config, version schema.GroupVersion, path string) (rest.Interface, error) {
	kinds := runtime.NewScheme()
	if err := errors.Join(batch.AddToScheme(kinds), core.AddToScheme(kinds)); err != nil {
		return nil, err
	}
	one := rest.CopyConfig(config)
	one.GroupVersion, one.APIPath = &version, path
	one.NegotiatedSerializer = serializer.NewCodecFactory(kinds).WithoutConversion()
	one.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return rest.RESTClientFor(one)
}

// answerWithin is how long an answer may take.
const answerWithin = 30 * time.Second

// failure is an error of the API server: [engine.ErrAway] where it does not answer, [engine.ErrRefused] where it does
// not allow or accept something.
func failure(err error) error {
	var status apierrors.APIStatus
	var sent *url.Error // it repeats the whole address
	if errors.As(err, &sent) {
		err = sent.Err
	}
	if !errors.As(err, &status) {
		return fmt.Errorf("%w: %w", engine.ErrAway, err)
	}
	switch code := status.Status().Code; {
	case code >= http.StatusInternalServerError, code == http.StatusTooManyRequests:
		return fmt.Errorf("%w: %w", engine.ErrAway, err)
	}
	return fmt.Errorf("%w: %w", engine.ErrRefused, err)
}

// Words implements [engine.Scheduler].
func (c *Cluster) Words() engine.Words {
	return engine.Words{Name: "kubernetes", Server: "the API server", Succeeded: string(core.PodSucceeded)}
}

// Follow begins to watch the Jobs and pods of a submission, until the context ends.
func (c *Cluster) Follow(ctx context.Context, s *engine.Submission) {
	c.submission, c.of = strings.ToLower(s.ID), s
	c.watch(ctx)
}

// Submit implements [engine.Scheduler]: the ConfigMap first, because pods wait for it. A Job of the name exists when an
// earlier attempt arrived.
func (c *Cluster) Submit(ctx context.Context, ordered engine.Order) (string, error) {
	o, err := read(ordered)
	if err != nil {
		return "", err
	}
	ctx, done := context.WithTimeout(ctx, answerWithin)
	defer done()
	if err := c.prepare(ctx, o); err != nil {
		return "", err
	}
	var made batch.Job
	err = c.batch.Post().Namespace(c.Target.Namespace).Resource("jobs").Body(&o.Job).Do(ctx).Into(&made)
	if apierrors.IsAlreadyExists(err) {
		err = c.batch.Get().Namespace(c.Target.Namespace).Resource("jobs").Name(o.Job.Name).Do(ctx).Into(&made)
	}
	if err != nil {
		return "", failure(err)
	}
	c.seen.put(&made)
	c.own(ctx, &made, o)
	return made.Name, nil
}

// prepare makes what the Job of an order needs, before the Job.
func (c *Cluster) prepare(ctx context.Context, o *order) error {
	make := func(client rest.Interface, kind string, object runtime.Object) error {
		err := client.Post().Namespace(c.Target.Namespace).Resource(kind).Body(object).Do(ctx).Error()
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return failure(err)
		}
		return nil
	}
	return make(c.core, "configmaps", &o.Plan)
}

// own gives the other objects of an order to its Job, so that all are removed together. Without that they stay:
// the clients until [Cluster.Cancel], the end of the Job or their time limit, the others for ever, which harms nothing.
func (c *Cluster) own(ctx context.Context, j *batch.Job, o *order) {
	patch := fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":%q,"uid":%q}]}}`,
		j.Name, j.UID)
	give := func(client rest.Interface, kind, name string) {
		_ = client.Patch("application/merge-patch+json").Namespace(c.Target.Namespace).Resource(kind).Name(name).
			Body([]byte(patch)).Do(ctx).Error()
	}
	give(c.core, "configmaps", j.Name)
}

// Queue implements [engine.Scheduler]. The watch has what is new; one small question tells whether the API server
// answers at all.
func (c *Cluster) Queue(ctx context.Context, names []string) ([]engine.Record, error) {
	ask, done := context.WithTimeout(ctx, answerWithin)
	defer done()
	err := c.batch.Get().Namespace(c.Target.Namespace).Resource("jobs").
		Param("limit", "1").Param("resourceVersion", "0").Param("labelSelector", submissionLabel+"="+c.submission).
		Do(ask).Error()
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, failure(err)
	}
	if err := c.seen.wait(ctx); err != nil {
		return nil, err
	}
	c.admissions(ask)
	list := c.seen.records(names, time.Now())
	c.hear(ask, list)
	return list, nil
}

// Accounts implements [engine.Scheduler] with what was seen of each pod.
func (c *Cluster) Accounts(_ context.Context, names []string, _ time.Time) ([]engine.Account, error) {
	var out []engine.Account
	now := time.Now()
	for _, r := range c.seen.records(names, now) {
		for _, p := range c.seen.podsOf(r.Array) {
			c.seen.mu.Lock()
			j := c.seen.jobs[r.Array]
			c.seen.mu.Unlock()
			if p.index >= len(j.entries) || j.entries[p.index] != r.Entry {
				continue
			}
			a := engine.Account{
				Name: r.Name, Entry: r.Entry, Job: p.name, Node: p.node, ExitCode: p.exit, Reason: p.reason, Image: digest(p.image),
			}
			if p.restarts > 0 {
				a.Restarts = strconv.Itoa(p.restarts)
			}
			if p.phase == core.PodSucceeded {
				a.State, a.Phase = string(p.phase), engine.Succeeded
			} else {
				a.State, a.Phase = ending(p)
			}
			if !p.started.IsZero() && p.finished.After(p.started) {
				a.Elapsed = strconv.FormatFloat(p.finished.Sub(p.started).Seconds(), 'f', 0, 64)
			}
			out = append(out, a)
		}
	}
	return out, nil
}

// digest leaves the form of an image id that older container runtimes have: docker-pullable://name@sha256:….
func digest(id string) string {
	if _, rest, found := strings.Cut(id, "://"); found {
		return rest
	}
	return id
}

var errGone = errors.New("its pod was deleted, and its log with it")

// Fetch implements [engine.Scheduler]: a pod writes its run folder to a claim, or prints it, and its log can be read
// when it has ended. A pod that did not succeed may have none.
func (c *Cluster) Fetch(ctx context.Context, r engine.Record, dir, log string) error {
	err := c.fetchLog(ctx, r, dir, log)
	if _, _, kept := c.claimOf(r); !kept {
		return err
	}
	var here *fs.PathError
	if errors.As(err, &here) { // it cannot be written; a log that cannot be had leaves what is on the claim
		return err
	}
	return c.fromClaim(ctx, r, dir)
}

// fetchLog takes what a pod printed into a log, and the run folder in it, if it printed one, to dir.
func (c *Cluster) fetchLog(ctx context.Context, r engine.Record, dir, log string) error {
	if r.Job == "" {
		var err error
		if r, err = c.lookUp(ctx, r); err != nil {
			return err
		}
	}
	c.seen.mu.Lock()
	ends := c.seen.pods[r.Job].phase == core.PodRunning // it is being deleted, and prints its results now
	c.seen.mu.Unlock()
	if ends {
		within, done := context.WithTimeout(ctx, leaving)
		defer done()
		ctx = within
	}
	from, err := c.logOf(ctx, r, ends)
	if err != nil {
		return err
	}
	defer from.Close()
	return c.results(from, r, dir, log)
}

// lookUp returns the record of a Job whose pod the watch has not shown, with the pod: a watch that broke is begun again
// after a moment, and the Job may have ended meanwhile.
func (c *Cluster) lookUp(ctx context.Context, r engine.Record) (engine.Record, error) {
	ctx, done := context.WithTimeout(ctx, answerWithin)
	defer done()
	var found core.PodList
	err := c.core.Get().Namespace(c.Target.Namespace).Resource("pods").
		Param("labelSelector", batch.JobNameLabel+"="+r.Array).Do(ctx).Into(&found)
	if err != nil {
		return r, failure(err)
	}
	for i := range found.Items {
		c.seen.put(&found.Items[i])
	}
	for _, now := range c.seen.records([]string{r.Name}, time.Now()) {
		if now.Entry == r.Entry && now.Job != "" {
			return now, nil
		}
	}
	return r, errGone
}

// logOf opens the log of a pod, which is empty where one that did not succeed has none. Where it is followed, it ends
// with the pod.
func (c *Cluster) logOf(ctx context.Context, r engine.Record, follow bool) (io.ReadCloser, error) {
	from, err := c.core.Get().Namespace(c.Target.Namespace).Resource("pods").Name(r.Job).SubResource("log").
		Param("container", clientName).Param("follow", strconv.FormatBool(follow)).Stream(ctx)
	if err != nil && r.Phase != engine.Succeeded && (apierrors.IsNotFound(err) || apierrors.IsBadRequest(err)) {
		// it is gone, or never ran; anything else, such as an API server that is away, may pass
		return io.NopCloser(strings.NewReader("")), nil
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("%s: %w", r.Job, errGone)
	case err != nil:
		return nil, fmt.Errorf("the log of %s: %w", r.Job, failure(err))
	}
	return from, nil
}

// results takes what a pod printed into a folder and a log. One whose results are on a claim prints none.
func (c *Cluster) results(from io.Reader, r engine.Record, dir, log string) error {
	f, err := os.OpenFile(log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	err = transfer.Read(from, f, dir)
	if _, _, kept := c.claimOf(r); errors.Is(err, transfer.ErrNone) && (kept || r.Phase != engine.Succeeded) {
		return nil
	}
	if errors.Is(err, transfer.ErrCut) {
		err = fmt.Errorf("%w; a kubelet keeps the last 10 MB of one: state a claim in results: of resources", err)
	}
	if err != nil && !errors.Is(err, transfer.ErrCut) && !errors.Is(err, transfer.ErrNone) {
		_, _ = io.Copy(io.Discard, from) // so that the connection can be used again
	}
	return err
}

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
		if j.Server.URL == "" {
			continue
		}
		together[j.Server.URL] = append(together[j.Server.URL], j)
		if len(engine.GroupsOf(together[j.Server.URL])) > 1 {
			return &engine.RefusedError{Job: j.Name, Why: fmt.Sprintf("jobs that measure %s run one after the other, in one "+
				"array, and their resources, servers or time limits differ; state the same, time: as well, or make each of "+
				"them a plan of its own", j.Server.URL)}
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
