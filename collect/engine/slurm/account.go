package slurm

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Account is what Slurm recorded of one execution of a job. What it did not record is "".
type Account struct {
	Name     string
	Entry    int
	Job      string // as "12_3"
	State    string
	ExitCode string // as "0:0": exit code and signal
	Elapsed  string // s
	MaxRSS   string // bytes
	Energy   string // J
	Node     string
	Reason   string
}

const accountFormat = "JobID,State,ExitCode,ElapsedRaw,MaxRSS,ConsumedEnergyRaw,NodeList,Reason,JobName"

// Accounts implements [Cluster] with sacct.
func (Programs) Accounts(ctx context.Context, names []string, since time.Time) ([]Account, error) {
	out, stderr, err := run(ctx, "sacct", "--noheader", "--parsable2", "--duplicates", "--noconvert",
		"--name="+strings.Join(names, ","), "--starttime="+since.Format("2006-01-02T15:04:05"), "--format="+accountFormat)
	if err != nil || strings.Contains(stderr, "accounting storage is disabled") {
		return nil, fmt.Errorf("%w: %s", ErrNoAccounting, stderr)
	}
	return parseAccounts(out), nil
}

// parseAccounts reads what sacct prints in [accountFormat]. The steps of a job follow it; the largest MaxRSS of them
// counts.
func parseAccounts(out string) []Account {
	var list []Account
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), "|", 9)
		if len(f) != 9 {
			continue
		}
		id, step, isStep := strings.Cut(f[0], ".")
		if isStep && step != "" {
			if n := len(list); n > 0 && list[n-1].Job == id {
				list[n-1].MaxRSS = larger(list[n-1].MaxRSS, f[4])
				list[n-1].Energy = larger(list[n-1].Energy, f[5])
			}
			continue
		}
		_, index, _ := strings.Cut(id, "_")
		entry, err := strconv.Atoi(index)
		if err != nil {
			continue
		}
		state, _, _ := strings.Cut(f[1], " ") // "CANCELLED by 1000"
		list = append(list, Account{Name: f[8], Entry: entry, Job: id, State: state, ExitCode: f[2], Elapsed: f[3],
			MaxRSS: f[4], Energy: f[5], Node: f[6], Reason: f[7]})
	}
	return list
}

// larger returns the larger of two whole numbers; "" and 0 are not recorded.
func larger(a, b string) string {
	x, _ := strconv.ParseInt(a, 10, 64) // 0 for what is not recorded
	y, _ := strconv.ParseInt(b, 10, 64)
	if y > x {
		return b
	}
	return a
}

// Partitions implements [Cluster] with sinfo.
func (Programs) Partitions(ctx context.Context) ([]Partition, error) {
	out, stderr, err := run(ctx, "sinfo", "--noheader", "--format=%P|%l|%G|%D|%c")
	if err != nil {
		return nil, failure(ErrAway, "sinfo", stderr, err)
	}
	return parsePartitions(out), nil
}

func parsePartitions(out string) []Partition {
	var list []Partition
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 5 {
			continue
		}
		name, isDefault := strings.CutSuffix(f[0], "*")
		limit, _ := plan.SlurmTime(f[1]) // 0 for "infinite"
		n, _ := strconv.Atoi(f[3])
		if f[2] == "(null)" {
			f[2] = ""
		}
		list = append(list, Partition{Name: name, Default: isDefault, Limit: limit, GRES: f[2], Nodes: n, CPUs: f[4]})
	}
	return list
}

// settings returns the facts of the executions of one entry for the provenance of its run: several are listed in
// order.
func settings(list []Account) map[string]string {
	out := map[string]string{}
	add := func(name string, of func(Account) string) {
		var values []string
		for _, a := range list {
			if v := of(a); v != "" && v != "0" && v != "None" && v != "None assigned" {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			out["slurm_"+name] = strings.Join(slices.Compact(values), ", ")
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
	return out
}

// annotate adds facts to the manifest of a run folder.
func annotate(run string, facts map[string]string) error {
	name := filepath.Join(run, manifest.FileName)
	data, err := rootfs.ReadFile(name, mostFile)
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

// account adds what Slurm accounted for to the provenance of every run: from sacct, which knows it a few seconds
// later, else what the queue had.
func (f *Follower) account(ctx context.Context) {
	var list []Account
	since := f.Now().Add(-30 * 24 * time.Hour)
	for range 5 {
		var err error
		if list, err = f.Cluster.Accounts(ctx, f.names(), since); err != nil || f.complete(list) {
			break
		}
		if f.Sleep(ctx, 2*time.Second) != nil {
			break
		}
	}
	for _, t := range f.tasks {
		if t.Run == "" {
			continue
		}
		mine := slices.DeleteFunc(slices.Clone(list), func(a Account) bool { return a.Entry != t.Entry })
		if len(mine) == 0 {
			mine = []Account{{Job: t.ID, State: t.State, Node: t.Node}}
		}
		if err := annotate(t.Run, settings(mine)); err != nil {
			f.why = fmt.Sprintf("%s: %v", filepath.Base(t.Run), err)
		}
	}
}

// complete reports whether the accounts have an end for every task.
func (f *Follower) complete(list []Account) bool {
	for _, t := range f.tasks {
		if t.State == NotSubmitted {
			continue
		}
		mine := func(a Account) bool { return a.Entry == t.Entry && !active(a.State) }
		if !slices.ContainsFunc(list, mine) {
			return false
		}
	}
	return true
}
