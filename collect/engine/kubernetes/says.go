package kubernetes

import (
	"context"

	core "k8s.io/api/core/v1"

	"golang.org/x/sync/errgroup"

	"github.com/ttreport/ttreport/collect/engine"
)

// Bounds of asking for logs: of a thousand pods, each is asked at every thirtieth look.
const (
	mostHeard   = 32
	askedAtOnce = 8
)

// hear adds what running pods printed last to their records: their run folders cannot be looked into.
func (c *Cluster) hear(ctx context.Context, list []engine.Record) {
	var running []*engine.Record
	for i := range list {
		if r := &list[i]; r.Phase == engine.Active && r.State == string(core.PodRunning) && r.Job != "" {
			running = append(running, r)
		}
	}
	var asking errgroup.Group
	asking.SetLimit(askedAtOnce)
	for i := range min(mostHeard, len(running)) {
		r := running[(c.heard+i)%len(running)]
		asking.Go(func() error {
			r.Says, _ = c.tail(ctx, r.Job, 1) // nothing is shown without it
			return nil
		})
	}
	_ = asking.Wait() // none of them fails
	c.heard += mostHeard
}
