package slurm

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/plan"
)

const accountFormat = "JobID,State,ExitCode,ElapsedRaw,MaxRSS,ConsumedEnergyRaw,NodeList,Reason,JobName"

// Accounts implements [engine.Scheduler] with sacct.
func (Programs) Accounts(ctx context.Context, names []string, since time.Time) ([]engine.Account, error) {
	out, stderr, err := run(ctx, "sacct", "--noheader", "--parsable2", "--duplicates", "--noconvert",
		"--name="+strings.Join(names, ","), "--starttime="+since.Format("2006-01-02T15:04:05"), "--format="+accountFormat)
	if err != nil || strings.Contains(stderr, "accounting storage is disabled") {
		return nil, fmt.Errorf("%w: %s", engine.ErrNoAccounting, stderr)
	}
	return parseAccounts(out), nil
}

// parseAccounts reads what sacct prints in [accountFormat]. The steps of a job follow it; the largest MaxRSS of them
// counts.
func parseAccounts(out string) []engine.Account {
	var list []engine.Account
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
		list = append(list, engine.Account{
			Name: f[8], Entry: entry, Job: id, State: state, Phase: phaseOf(state), ExitCode: f[2], Elapsed: f[3], MaxRSS: f[4],
			Energy: f[5], Node: f[6], Reason: f[7],
		})
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
		return nil, failure(engine.ErrAway, "sinfo", stderr, err)
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
