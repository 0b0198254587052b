package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Account is what a scheduler recorded of one execution of a job. What it did not record is "".
type Account struct {
	Name     string
	Entry    int
	Job      string // as "12_3"
	State    string
	Phase    Phase
	ExitCode string // as "0:0": exit code and signal
	Elapsed  string // s
	MaxRSS   string // bytes
	Energy   string // J
	Node     string
	Reason   string
	Image    string // by digest
	Restarts string // of a server beside the client
}

// Settings returns the facts of the executions of one entry for the provenance of its run: several are listed in
// order.
func Settings(engine string, list []Account) map[string]string {
	out := map[string]string{}
	add := func(name string, of func(Account) string) {
		var values []string
		for _, a := range list {
			if v := of(a); v != "" && v != "0" && v != "None" && v != "None assigned" {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			out[engine+"_"+name] = strings.Join(slices.Compact(values), ", ")
		}
	}
	add("job_id", func(a Account) string { return a.Job })
	add("state", func(a Account) string { return a.State })
	add("exit_code", func(a Account) string { return a.ExitCode })
	add("elapsed_s", func(a Account) string { return a.Elapsed })
	add("max_rss_bytes", func(a Account) string { return a.MaxRSS })
	add("energy_j", func(a Account) string { return a.Energy })
	add("node", func(a Account) string { return a.Node })
	add("reason", func(a Account) string { return a.Reason })
	add("image", func(a Account) string { return a.Image })
	add("server_restarts", func(a Account) string { return a.Restarts })
	return out
}

// annotate adds facts to the manifest of a run folder.
func annotate(run string, facts map[string]string) error {
	name := filepath.Join(run, manifest.FileName)
	data, err := rootfs.ReadFile(name, mostFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its server never started
	}
	if err != nil {
		return err
	}
	m, problem := manifest.Read(name, data)
	if problem != nil {
		return fmt.Errorf("%s: %s", name, problem.Found)
	}
	if m.Setting == nil {
		m.Setting = map[string]string{}
	}
	maps.Copy(m.Setting, facts)
	text, err := m.Marshal()
	if err != nil {
		return err
	}
	return durable.WriteFile(name, text)
}

// account adds what the scheduler recorded to the provenance of every run: from its accounts, which may have it a few
// seconds later, else what the queue had. The error names the runs that could not be written.
func (f *Follower) account(ctx context.Context) error {
	var list []Account
	since := f.Now().Add(-30 * 24 * time.Hour)
	for range 5 {
		var err error
		if list, err = f.Scheduler.Accounts(ctx, f.names(), since); err != nil || f.complete(list) {
			break
		}
		if f.Sleep(ctx, 2*time.Second) != nil {
			break
		}
	}
	engine := f.Scheduler.Words().Name
	var errs []error
	for _, t := range f.tasks {
		if t.Run == "" {
			continue
		}
		mine := slices.DeleteFunc(slices.Clone(list), func(a Account) bool { return a.Entry != t.Entry })
		if len(mine) == 0 {
			mine = []Account{{Job: t.ID, State: t.State, Node: t.Node}}
		}
		if err := annotate(t.Run, Settings(engine, mine)); err != nil {
			errs = append(errs, fmt.Errorf("%s: what the scheduler recorded is not in its manifest: %w", t.Run, err))
		}
	}
	return errors.Join(errs...)
}

// complete reports whether the accounts have an end for every task.
func (f *Follower) complete(list []Account) bool {
	for _, t := range f.tasks {
		if t.State == NotSubmitted {
			continue
		}
		mine := func(a Account) bool { return a.Entry == t.Entry && a.Phase != Active }
		if !slices.ContainsFunc(list, mine) {
			return false
		}
	}
	return true
}

// accounted reports whether the scheduler's accounts have an array that the queue does not list any more.
func (f *Follower) accounted(ctx context.Context, o *order) bool {
	list, err := f.Scheduler.Accounts(ctx, []string{o.Name}, o.since.Add(-24*time.Hour))
	at := slices.IndexFunc(list, func(a Account) bool { return a.Name == o.Name })
	if err != nil || at < 0 {
		return false
	}
	o.id, _, _ = strings.Cut(list[at].Job, "_")
	return true
}
