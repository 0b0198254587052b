package kubernetes

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ttreport/ttreport/collect/engine"
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
