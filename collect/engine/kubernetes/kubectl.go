package kubernetes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Backend is Kubernetes behind kubectl.
type Backend struct {
	target engine.Target // of the flags
	seen   seen
	heard  int // running pods that were asked for their logs
}

// About implements [engine.Backend], as the methods below do.
func (*Backend) About() engine.About {
	return engine.About{
		Name: "kubernetes", Title: "Kubernetes", Server: "the API server", Succeeded: "Succeeded",
		Suffix: ".yaml", Between: "---\n", File: "the manifest of the job", StartsImages: true, Fetches: true,
		FixSecret:      "state the key of a Secret in secrets: of resources:, as HF_TOKEN=hub/token",
		FixMissing:     "name a kubeconfig in KUBECONFIG, and a --context; --dry-run prints the manifests anywhere",
		FixUnavailable: "kubectl get jobs must answer; submitted jobs continue",
	}
}

// Flags declares those that name a cluster.
func (b *Backend) Flags(fs *pflag.FlagSet) {
	fs.StringVar(&b.target.Context, "context", "",
		"`context` of the kubeconfig, for --on kubernetes (default the current)")
	fs.StringVar(&b.target.Namespace, "namespace", "",
		"`namespace` of the jobs, for --on kubernetes (default the context's)")
}

// Find returns the context and the namespace of the flags, else those of the kubeconfig. In a pod without a kubeconfig
// kubectl knows both.
func (b *Backend) Find(ctx context.Context) (engine.Target, error) {
	t := b.target
	if _, err := exec.LookPath("kubectl"); err != nil {
		return t, fmt.Errorf("%w: there is no kubectl on the PATH: install it (the package kubernetes-client of Debian, "+
			"or https://kubernetes.io/docs/tasks/tools/)", engine.ErrMissing)
	}
	out, stderr, err := engine.Output(ctx, nil, "", argv(t, "config", "view", "--minify", "--output=json")...)
	if err != nil && t.Context == "" && os.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		return t, nil
	}
	if err != nil {
		return t, fmt.Errorf("%w: %s", engine.ErrMissing, cmp.Or(lastLine(stderr), err.Error()))
	}
	config := decode.Parse([]byte(out), 32)
	if config.Get("contexts").Len() == 0 {
		return t, fmt.Errorf("%w: kubectl config view states no context", engine.ErrMissing)
	}
	t.Context = cmp.Or(t.Context, config.Get("current-context").Str())
	t.Namespace = cmp.Or(t.Namespace, config.At("contexts", "0", "context", "namespace").Str(), "default")
	return t, nil
}

// argv is a command line of kubectl.
func argv(t engine.Target, args ...string) []string {
	out := []string{"kubectl"}
	if t.Context != "" {
		out = append(out, "--context="+t.Context)
	}
	if t.Namespace != "" {
		out = append(out, "--namespace="+t.Namespace)
	}
	return append(out, args...)
}

// kubectl returns what a command prints. Its error is that of the API server: see [failure].
func kubectl(ctx context.Context, t engine.Target, input string, args ...string) (string, error) {
	args = append([]string{"--request-timeout=30s"}, args...)
	out, stderr, err := engine.Output(ctx, nil, input, argv(t, args...)...)
	if err != nil {
		err = failure(stderr, err)
	}
	return out, err
}

// objects are the Jobs and pods that a command prints.
func objects(ctx context.Context, t engine.Target, args ...string) ([]object, error) {
	out, err := kubectl(ctx, t, "", append(args, "--output=json")...)
	if err != nil {
		return nil, err
	}
	var list struct{ Items []object }
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return nil, fmt.Errorf("%w: %w", engine.ErrUnavailable, err)
	}
	return list.Items, nil
}

// answerError is what the API server did not allow or accept.
type answerError struct{ Reason, Text string } // as NotFound

func (e *answerError) Error() string { return e.Text }
func (*answerError) Unwrap() error   { return engine.ErrRefused }

// reasonIs reports why the API server refused.
func reasonIs(err error, reasons ...string) bool {
	var answer *answerError
	return errors.As(err, &answer) && slices.Contains(reasons, answer.Reason)
}

// answered is how kubectl begins an error of the API server; it writes those that are Invalid without a reason.
var answered = lazyregexp.New(
	`(?m)^(?:Error from server \((\w+)\): |(The \S+ ".*" is invalid: |error: You must be ))`)

// failure is an error of kubectl: an [answerError] where the API server does not allow or accept something, else
// [engine.ErrUnavailable], or [engine.ErrMissing] where kubectl knows no cluster.
func failure(stderr string, err error) error {
	last, first := lastLine(stderr), answered.FindStringSubmatch(stderr)
	switch {
	case errors.Is(err, engine.ErrUnavailable), errors.Is(err, engine.ErrMissing), errors.Is(err, context.Canceled):
		return err
	case strings.HasPrefix(last, "error: context ") || strings.Contains(last, "no configuration has been provided"):
		return fmt.Errorf("%w: %s", engine.ErrMissing, last)
	case first == nil:
		return fmt.Errorf("%w: %s", engine.ErrUnavailable, cmp.Or(last, err.Error()))
	}
	_, text, _ := strings.Cut(stderr, first[0])
	if next := answered.FindString(text); next != "" { // of several errors the first one
		text, _, _ = strings.Cut(text, next)
	}
	text = strings.ReplaceAll(strings.TrimSpace(text), "\n", " ") // several fields are a line each
	reason, text := first[1], first[2]+strings.TrimPrefix(text, `error when creating "STDIN": `)
	switch reason {
	case "InternalError", "ServiceUnavailable", "ServerTimeout", "Timeout", "TooManyRequests":
		return fmt.Errorf("%w: %s", engine.ErrUnavailable, text)
	}
	return &answerError{reason, text}
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// errGone is returned for the log of a pod that is gone.
var errGone = errors.New("its pod was deleted, and its log with it")

// logs returns what a pod has printed. It is nothing where one that did not succeed has no log: the pod is gone, or
// never ran. Anything else, such as an API server that is away, may pass.
func logs(ctx context.Context, t engine.Target, j engine.JobStatus) (string, error) {
	const patience = "--request-timeout=100s" // for 10 MB
	text, err := kubectl(ctx, t, "", "logs", j.Job, "--container="+clientName, patience)
	switch gone := reasonIs(err, "NotFound"); {
	case err == nil, j.Phase != engine.Succeeded && reasonIs(err, "BadRequest"):
		return text, nil
	case gone && j.Phase != engine.Succeeded && j.Phase != engine.Active:
		return "", nil
	case gone:
		return "", fmt.Errorf("%s: %w", j.Job, errGone)
	}
	return "", fmt.Errorf("the log of %s: %w", j.Job, err)
}

// tail returns the last lines of a pod's log.
func tail(ctx context.Context, t engine.Target, pod string, lines int) (string, error) {
	return kubectl(ctx, t, "", "logs", pod, "--container="+clientName, fmt.Sprintf("--tail=%d", lines))
}

// deleteJobs deletes Jobs, and their pods with them.
func deleteJobs(ctx context.Context, t engine.Target, names ...string) error {
	_, err := kubectl(ctx, t, "", append([]string{"delete", "jobs.batch", "--cascade=background", "--wait=false",
		"--ignore-not-found", "--output=name"}, names...)...)
	return err
}

// Submit creates the ConfigMap first, because pods wait for it. A Job of the name exists when an earlier attempt
// arrived. The ConfigMap is given to the Job, so that both are removed together; without that it stays, which harms
// nothing.
func (b *Backend) Submit(ctx context.Context, s *engine.Submission, a engine.Array) (string, error) {
	text, err := render(s, a)
	if err != nil {
		return "", err
	}
	const uidOnly = "--output=jsonpath={.metadata.uid}"
	name := strings.ToLower(a.Name)
	entries, job, _ := strings.Cut(text, "\n---\n")
	if _, err := kubectl(ctx, s.Target, entries, "create", "--filename=-"); err != nil && !reasonIs(err, "AlreadyExists") {
		return "", err
	}
	uid, err := kubectl(ctx, s.Target, job, "create", "--filename=-", uidOnly)
	if reasonIs(err, "AlreadyExists") {
		uid, err = kubectl(ctx, s.Target, "", "get", "jobs.batch", name, uidOnly)
	}
	if err != nil {
		return "", err
	}
	owner := fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":%q,"uid":%q}]}}`,
		name, uid)
	_, _ = kubectl(ctx, s.Target, "", "patch", "configmaps", name, "--type=merge", "--patch="+owner)
	return name, nil
}

// Check lets the API server check all manifests strictly, without making anything, and refuses claims and secrets that
// do not exist: a pod would wait for them for ever.
func (b *Backend) Check(ctx context.Context, s *engine.Submission) (*engine.Submission, error) {
	var all []string
	for _, g := range s.Groups {
		text, err := b.Render(s, g)
		if err != nil {
			return nil, err
		}
		all = append(all, text)
		if r := g.Resources; r.Results == "" || r.ResultsAt != "" {
			continue
		}
		if text, err = readerJob(s, g, strings.ToLower(s.JobName(g, 0))+"-read-1", "x", 0, 1); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	_, err := kubectl(ctx, s.Target, strings.Join(all, "---\n"), "create", "--filename=-", "--dry-run=server",
		"--validate=strict", "--output=name")
	if !errors.Is(err, engine.ErrRefused) {
		return s, cmp.Or(err, there(ctx, s))
	}
	job := s.Jobs[0].Name // where the error names none
	for _, g := range s.Groups {
		name := `"` + strings.ToLower(s.JobName(g, 0))
		if strings.Contains(err.Error(), name+`"`) || strings.Contains(err.Error(), name+"-read") {
			job = s.NameOf(g.Entries[0])
		}
	}
	return nil, engine.Refusal(job, err.Error(), faults)
}

// faults are parts of messages of the API server, and the fields of resources that they are about.
var faults = [][2]string{
	{"nodeSelector", "node_selector"}, {"tolerations", "tolerations"}, {"resources.", "devices, cpus, mem"},
	{"ttlSecondsAfterFinished", "ttl"}, {"priorityClassName", "priority_class"}, {"PriorityClass", "priority_class"},
	{"service account", "service_account"}, {"persistentVolumeClaim", "volumes"}, {"volumeMounts", "volumes"},
	{"nodeAffinity", "nodelist, exclude"}, {"].image", "image"}, {"kueue", "queue"}, {"secretKeyRef", "secrets"},
	{"exceeded quota", "devices, cpus, mem"},
}

// there refuses claims and secrets that do not exist. Who may not look at them is not refused.
func there(ctx context.Context, s *engine.Submission) error {
	needs := map[string]engine.RefusedError{} // by kind/name
	for _, g := range s.Groups {
		r, job := g.Resources, s.NameOf(g.Entries[0])
		if r.Results != "" {
			needs["persistentvolumeclaims/"+r.Results] = engine.RefusedError{Job: job, Field: "results"}
		}
		for _, v := range r.Volumes {
			claim, _, _ := strings.Cut(v, ":")
			needs["persistentvolumeclaims/"+claim] = engine.RefusedError{Job: job, Field: "volumes"}
		}
		for _, text := range r.Secrets {
			_, at, _ := strings.Cut(text, "=")
			secret, _, _ := strings.Cut(at, "/")
			needs["secrets/"+secret] = engine.RefusedError{Job: job, Field: "secrets"}
		}
	}
	if len(needs) == 0 {
		return nil
	}
	// In a table, and not as JSON: the API server does not send what is in secrets then.
	_, err := kubectl(ctx, s.Target, "", append([]string{"get", "--no-headers"}, slices.Sorted(maps.Keys(needs))...)...)
	if !errors.Is(err, engine.ErrRefused) {
		return err
	}
	for at, refused := range needs {
		kind, name, _ := strings.Cut(at, "/")
		if strings.Contains(err.Error(), fmt.Sprintf("%s %q not found", kind, name)) {
			refused.Why = fmt.Sprintf("there is no %q among the %s of namespace %s", name, kind, s.Target.Namespace)
			return &refused
		}
	}
	return nil
}
