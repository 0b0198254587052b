package host

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// Facts describe a machine.
type Facts struct {
	Setting  map[string]string // host, kernel, cpu, governor, clocksource, driver, accelerators
	Chips    int               // accelerators; 0: unknown
	Firmware string            // of the accelerators, where all have the same
}

// Read reads the facts. A program that is not installed, or does not answer within ten seconds, is skipped.
func Read(ctx context.Context) Facts {
	f := Facts{Setting: map[string]string{"os": runtime.GOOS + "/" + runtime.GOARCH, "cpus": fmt.Sprint(runtime.NumCPU())}}
	if name, err := os.Hostname(); err == nil {
		f.set("host", name)
	}
	for name, file := range map[string]string{
		"kernel":      "/proc/sys/kernel/osrelease",
		"clocksource": "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		"governor":    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
	} {
		data, _ := os.ReadFile(file) // where there is none, nothing is set
		f.set(name, string(data))
	}
	cpus, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(cpus)) { // the first of a name counts
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" && f.Setting["cpu"] == "" {
			f.set("cpu", value)
		}
	}
	for _, q := range facts {
		out, err := ask(ctx, q.argv)
		if err != nil {
			continue
		}
		if devices, err := q.read(out); err != nil {
			f.set("accelerators", q.argv[0]+" printed something unexpected: "+err.Error())
		} else if len(devices) > 0 {
			f.accelerators(devices)
		}
	}
	return f
}

func (f *Facts) set(name, value string) {
	if value = strings.TrimSpace(value); value != "" {
		f.Setting[name] = value
	}
}

// accelerators sets the facts of accelerators: how many there are of each name ("4 x n150 L"), and the firmware and the
// driver that all have in common, else all of them.
func (f *Facts) accelerators(list []device) {
	f.Chips = len(list)
	counts, firmwares, drivers := map[string]int{}, []string{}, []string{}
	for _, d := range list {
		counts[d.name]++
		firmwares, drivers = append(firmwares, d.firmware), append(drivers, d.driver)
	}
	var names []string
	for name, n := range counts {
		names = append(names, fmt.Sprintf("%d x %s", n, name))
	}
	slices.Sort(names)
	f.Firmware = same(firmwares)
	f.set("accelerators", strings.Join(names, ", "))
	f.set("driver", same(drivers))
}

// same returns the text that all of a list have in common, else all of them, joined.
func same(list []string) string {
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	list = slices.DeleteFunc(list, func(s string) bool { return s == "" || s == "N/A" })
	return strings.Join(slices.Compact(list), ", ")
}

// Scheduler returns facts about the job that this process is part of, as Slurm states them in its environment, see
// sbatch(1), OUTPUT ENVIRONMENT VARIABLES, or as our pods do. It is empty outside of a job.
func Scheduler() map[string]string {
	out := map[string]string{}
	if pod := os.Getenv("TTREPORT_POD"); pod != "" {
		out["kubernetes_job_id"], out["kubernetes_node"] = pod, os.Getenv("TTREPORT_NODE")
	}
	id := os.Getenv("SLURM_JOB_ID")
	if id == "" {
		return out
	}
	if array := os.Getenv("SLURM_ARRAY_JOB_ID"); array != "" {
		id = array + "_" + os.Getenv("SLURM_ARRAY_TASK_ID")
	}
	out["slurm_job_id"] = id
	for name, variable := range map[string]string{
		"slurm_node": "SLURMD_NODENAME", "slurm_partition": "SLURM_JOB_PARTITION", "slurm_restarts": "SLURM_RESTART_COUNT",
	} {
		if v := os.Getenv(variable); v != "" {
			out[name] = v
		}
	}
	return out
}
