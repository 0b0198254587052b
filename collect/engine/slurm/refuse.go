package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
)

// Fit gives jobs without a stated time limit the one of their partition where the derived one is above it, and refuses
// a partition that does not exist and a stated limit that its partition does not allow: Slurm itself would let such a
// job wait for ever.
func Fit(jobs []engine.Job, have []Partition) error {
	for i := range jobs {
		j := &jobs[i]
		most, err := limitOf(*j, have)
		if err != nil {
			return err
		}
		limit, stated := j.TimeLimit()
		switch {
		case most == 0 || limit <= most:
		case stated:
			why := fmt.Sprintf("%s is more than the partition allows, %s", j.Resources.Time, engine.TimeText(most))
			return &engine.RefusedError{Job: j.Name, Field: "time", Why: why, Have: describe(have)}
		default:
			j.Limit = most
		}
	}
	return nil
}

// limitOf returns the longest time limit of a job's partitions; 0 for none.
func limitOf(j engine.Job, have []Partition) (most time.Duration, err error) {
	at := func(is func(Partition) bool) (Partition, bool) {
		i := slices.IndexFunc(have, is)
		if i < 0 {
			return Partition{}, false
		}
		return have[i], true
	}
	if j.Resources.Partition == "" {
		p, _ := at(func(p Partition) bool { return p.Default })
		return p.Limit, nil
	}
	for name := range strings.SplitSeq(j.Resources.Partition, ",") {
		p, ok := at(func(p Partition) bool { return p.Name == name })
		if !ok {
			why := fmt.Sprintf("there is no partition %q", name)
			return 0, &engine.RefusedError{Job: j.Name, Field: "partition", Why: why, Have: describe(have)}
		}
		if p.Limit == 0 {
			return 0, nil
		}
		most = max(most, p.Limit)
	}
	return most, nil
}

// describe lists partitions: "bench (4 nodes of 64 CPUs, gpu:h100:8, at most 0-01:00:00)".
func describe(have []Partition) string {
	var list []string
	for _, p := range have {
		parts := []string{fmt.Sprintf("%d nodes of %s CPUs", p.Nodes, p.CPUs)}
		if p.GRES != "" {
			parts = append(parts, p.GRES)
		}
		if p.Limit > 0 {
			parts = append(parts, "at most "+engine.TimeText(p.Limit))
		}
		list = append(list, fmt.Sprintf("%s (%s)", p.Name, strings.Join(parts, ", ")))
	}
	return strings.Join(list, ", ")
}

// faults are parts of Slurm's messages, and the fields of resources that they are about.
func faults() [][2]string {
	return [][2]string{
		{"generic resource", "gres"}, {"account", "account"}, {"partition", "partition"}, {"feature", "constraint"},
		{"qos", "qos"}, {"reservation", "reservation"}, {"time limit", "time"}, {"node name", "nodelist"},
		{"Memory", "mem"}, {"CPU count", "cpus"}, {"Requested node configuration is not available", "gres, cpus, mem"},
	}
}

// Accepted returns the submission with time limits that the partitions allow, when Slurm would take all of it; a
// [engine.RefusedError] otherwise.
func Accepted(ctx context.Context, s *engine.Submission, c Cluster) (*engine.Submission, error) {
	have, err := c.Partitions(ctx)
	if err != nil {
		return nil, err
	}
	fitted := *s
	fitted.Jobs = slices.Clone(s.Jobs)
	if err := Fit(fitted.Jobs, have); err != nil {
		return nil, err
	}
	fitted.Groups = engine.GroupsOf(fitted.Jobs)
	return &fitted, check(ctx, &fitted, c, have)
}

// check asks Slurm whether it would take every script, before one is submitted.
func check(ctx context.Context, s *engine.Submission, c Cluster, have []Partition) error {
	for _, g := range s.Groups {
		err := c.Test(ctx, Script(s, g))
		if err == nil {
			continue
		}
		if !errors.Is(err, engine.ErrRefused) {
			return err
		}
		why := strings.TrimPrefix(strings.TrimPrefix(err.Error(), engine.ErrRefused.Error()+": "), "sbatch: error: ")
		refused := &engine.RefusedError{Job: s.NameOf(g.Entries[0]), Why: why, Have: describe(have)}
		for _, f := range faults() {
			if strings.Contains(why, f[0]) {
				refused.Field = f[1]
				break
			}
		}
		return refused
	}
	return nil
}
