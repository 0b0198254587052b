package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	kube "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/ttreport/ttreport/collect/engine"
)

// cache has the Jobs and pods of a submission, as they were last seen.
type cache struct {
	mu     sync.Mutex
	jobs   map[string]jobState
	pods   map[string]podState
	queues map[string]string // why Jobs are not admitted, by name
	synced map[string]bool   // whether a kind was listed
	broken error             // of the last list or watch that failed since one succeeded
}

func newCache() *cache {
	return &cache{jobs: map[string]jobState{}, pods: map[string]podState{}, queues: map[string]string{},
		synced: map[string]bool{}}
}

// put keeps an object.
func (c *cache) put(object any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch o := object.(type) {
	case *batch.Job:
		c.jobs[o.Name] = jobOf(o)
	case *core.Pod:
		if p, ours := podOf(o); ours {
			c.pods[o.Name] = p
		}
	}
}

// gone notes that an object was deleted. It is kept as it was last seen: a Job that somebody deleted is not to be made
// again, and when a node fails, the end of its pod is all that is left of it.
func (c *cache) gone(object any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch o := object.(type) {
	case *batch.Job:
		s := jobOf(o)
		s.deleted = true
		c.jobs[o.Name] = s
	case *core.Pod:
		if p, ours := podOf(o); ours {
			p.deleted = true
			c.pods[o.Name] = p
		}
	}
}

// records returns how the entries of Jobs stand. names are of orders.
func (c *cache) records(names []string, now time.Time) []engine.Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	newest := map[string]map[int]podState{}
	for _, p := range c.pods {
		if newest[p.job] == nil {
			newest[p.job] = map[int]podState{}
		}
		old, known := newest[p.job][p.index]
		if !known || newer(p, old) {
			newest[p.job][p.index] = p
		}
	}
	var out []engine.Record
	for _, name := range names {
		j, known := c.jobs[strings.ToLower(name)]
		if !known {
			continue
		}
		if j.suspended {
			j.waits = cmp.Or(c.queues[j.name], j.waits)
		}
		for index := range j.entries {
			if p, some := newest[j.name][index]; some {
				out = append(out, record(name, j, index, &p, now))
			} else {
				out = append(out, record(name, j, index, nil, now))
			}
		}
	}
	return out
}

// newer orders the pods of an index: each has one more failure before it, and one that is not deleted follows one that
// is.
func newer(p, old podState) bool {
	switch {
	case p.failures != old.failures:
		return p.failures > old.failures
	case !p.created.Equal(old.created):
		return p.created.After(old.created)
	}
	return old.deleted && !p.deleted || p.deleted == old.deleted && p.name > old.name
}

// podsOf returns the pods of a Job, the oldest first.
func (c *cache) podsOf(job string) []podState {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.DeleteFunc(slices.Collect(maps.Values(c.pods)), func(p podState) bool { return p.job != job })
	slices.SortFunc(list, func(a, b podState) int {
		if newer(a, b) {
			return 1
		}
		return -1
	})
	return list
}

// store is the cache as one reflector of client-go fills it.
type store struct {
	*cache
	kind string
}

// Add implements kube.ReflectorStore, as the methods below do.
func (s store) Add(object any) error { s.put(object); return nil }

// Update replaces an object.
func (s store) Update(object any) error { s.put(object); return nil }

// Delete is called for an object that is gone.
func (s store) Delete(object any) error { s.gone(object); return nil }

// Replace is called with all objects, at the beginning and when a watch could not be resumed.
func (s store) Replace(list []any, _ string) error {
	there := map[string]bool{}
	for _, o := range list {
		s.put(o)
		if m, ok := o.(meta.Object); ok {
			there[m.GetName()] = true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, j := range s.jobs {
		if s.kind == "jobs" && !there[name] {
			j.deleted = true
			s.jobs[name] = j
		}
	}
	for name, p := range s.pods {
		if s.kind == "pods" && !there[name] {
			p.deleted = true
			s.pods[name] = p
		}
	}
	s.synced[s.kind], s.broken = true, nil
	return nil
}

// Resync does nothing: there is nothing that could differ.
func (s store) Resync() error { return nil }

// watch keeps the cache of a submission until the context ends. Lists and watches that break are begun again.
func (c *Cluster) watch(ctx context.Context) {
	c.seen = newCache()
	ctx = klog.NewContext(ctx, klog.Logger{}) // which is silent: what a person needs is in the view
	only := func(o *meta.ListOptions) { o.LabelSelector = submissionLabel + "=" + c.submission }
	for kind, of := range map[string]struct {
		client rest.Interface
		object runtime.Object
	}{"jobs": {c.batch, &batch.Job{}}, "pods": {c.core, &core.Pod{}}} {
		list := kube.NewFilteredListWatchFromClient(of.client, kind, c.Target.Namespace, only)
		options := kube.ReflectorOptions{Name: appName, Logger: &klog.Logger{}}
		r := kube.NewReflectorWithOptions(list, of.object, store{c.seen, kind}, options)
		go func() {
			for ctx.Err() == nil {
				pause := time.Second / 10
				if err := r.ListAndWatchWithContext(ctx); err != nil {
					c.seen.fail(err)
					pause = time.Second
				}
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		}()
	}
}

func (c *cache) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = err
}

// wait returns when Jobs and pods were listed once.
func (c *cache) wait(ctx context.Context) error {
	for deadline := time.Now().Add(answerWithin); ; {
		c.mu.Lock()
		ready, err := c.synced["jobs"] && c.synced["pods"], c.broken
		c.mu.Unlock()
		switch {
		case ready:
			return nil
		case time.Now().After(deadline):
			return failure(cmp.Or(err, errors.New("jobs and pods were not listed")))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
