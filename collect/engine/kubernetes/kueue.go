package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mostAsked is how many Jobs that wait for Kueue are asked for at one look: their reasons are mostly the same.
const mostAsked = 20

// workloads is what is read of Kueue's Workloads, kueue.x-k8s.io/v1beta1.
type workloads struct {
	Items []struct {
		Status struct {
			Conditions []meta.Condition `json:"conditions"`
		} `json:"status"`
	} `json:"items"`
}

// admissions notes why Kueue does not admit Jobs: the message of their Workloads. Where that cannot be read, as without
// Kueue or a permission, the name of the queue is all that is known.
func (c *Cluster) admissions(ctx context.Context) {
	for _, j := range c.seen.queued() {
		why := "queue " + j.queue
		path := fmt.Sprintf("/apis/kueue.x-k8s.io/v1beta1/namespaces/%s/workloads", c.Target.Namespace)
		data, err := c.batch.Get().AbsPath(path).Param("labelSelector", "kueue.x-k8s.io/job-uid="+j.uid).
			SetHeader("Accept", "application/json").Do(ctx).Raw()
		var found workloads
		if err == nil && json.Unmarshal(data, &found) == nil {
			for _, w := range found.Items {
				for _, is := range w.Status.Conditions {
					if is.Type == "QuotaReserved" && is.Status == meta.ConditionFalse && is.Message != "" {
						why = fmt.Sprintf("queue %s: %s", j.queue, is.Message)
					}
				}
			}
		}
		c.seen.waits(j.name, why)
	}
}

// queued are Jobs that wait for Kueue.
func (c *cache) queued() (out []jobState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, j := range c.jobs {
		if j.suspended && j.queue != "" && !j.deleted && len(out) < mostAsked {
			out = append(out, j)
		}
	}
	return out
}

// waits notes why a Job waits.
func (c *cache) waits(name, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queues[name] = why
}
