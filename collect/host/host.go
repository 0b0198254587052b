package host

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
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
		if data, err := os.ReadFile(file); err == nil {
			f.set(name, string(data))
		}
	}
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		f.set("cpu", processor(string(data)))
	}
	for _, tool := range []struct {
		argv  []string
		parse func(*Facts, []byte) error
	}{
		{[]string{"tt-smi", "-s"}, (*Facts).tenstorrent},
		{[]string{"nvidia-smi", "--query-gpu=name,driver_version,vbios_version,memory.total,power.limit",
			"--format=csv,noheader"}, (*Facts).nvidia},
		{[]string{"rocm-smi", "--showproductname", "--showdriverversion", "--showvbios", "--json"}, (*Facts).rocm},
	} {
		if out, err := Ask(ctx, tool.argv); err == nil {
			if err := tool.parse(&f, out); err != nil {
				f.set("accelerators", tool.argv[0]+" printed what is not understood: "+err.Error())
			}
		}
	}
	return f
}

// Ask returns what a program prints, without warnings before a JSON object. It has ten seconds; a child of it that
// keeps its output open is not waited for.
func Ask(ctx context.Context, argv []string) ([]byte, error) {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrWaitDelay) { // it ended well, its child has not
		err = nil
	}
	if i := bytes.Index(out, []byte("\n{")); i >= 0 && out[0] != '{' {
		out = out[i+1:]
	}
	return out, err
}

func (f *Facts) set(name, value string) {
	if value = strings.TrimSpace(value); value != "" {
		if f.Setting == nil {
			f.Setting = map[string]string{}
		}
		f.Setting[name] = value
	}
}

func processor(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// counted joins texts with the number of times that each occurs: "4 x n150 L".
func counted(list []string) string {
	n := map[string]int{}
	for _, s := range list {
		n[s]++
	}
	var out []string
	for s, k := range n {
		out = append(out, fmt.Sprintf("%d x %s", k, s))
	}
	sort.Strings(out)
	return strings.Join(out, ", ")
}

// same returns the text that all of a list have in common, else all of them, joined.
func same(list []string) string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" && s != "N/A" && (len(out) == 0 || out[len(out)-1] != s) {
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}

// tenstorrent reads the snapshot that "tt-smi -s" prints.
func (f *Facts) tenstorrent(data []byte) error {
	var s struct {
		Host struct {
			Driver string `json:"Driver"`
		} `json:"host_info"`
		Devices []struct {
			Board struct {
				Type string `json:"board_type"`
			} `json:"board_info"`
			Firmware struct {
				Bundle string `json:"fw_bundle_version"`
			} `json:"firmwares"`
		} `json:"device_info"`
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	var boards, firmwares []string
	for _, d := range s.Devices {
		boards, firmwares = append(boards, d.Board.Type), append(firmwares, d.Firmware.Bundle)
	}
	f.accelerators(boards, same(firmwares), s.Host.Driver)
	return nil
}

// nvidia reads the lines that nvidia-smi prints for the query in Read.
func (f *Facts) nvidia(data []byte) error {
	r := csv.NewReader(strings.NewReader(string(data)))
	r.TrimLeadingSpace, r.FieldsPerRecord = true, -1
	rows, err := r.ReadAll()
	if err != nil {
		return err
	}
	var names, drivers, bios []string
	for _, row := range rows {
		if len(row) < 5 {
			return fmt.Errorf("%d fields in a line, expected 5", len(row))
		}
		names, drivers, bios = append(names, row[0]+" "+row[3]+" "+row[4]), append(drivers, row[1]), append(bios, row[2])
	}
	f.accelerators(names, same(bios), same(drivers))
	return nil
}

// rocm reads the object that rocm-smi prints: members card0, card1 … and system.
func (f *Facts) rocm(data []byte) error {
	var all map[string]map[string]string
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	var names, bios []string
	for card, facts := range all {
		if strings.HasPrefix(card, "card") {
			names = append(names, first(facts, "Card Series", "Card series", "Card SKU"))
			bios = append(bios, facts["VBIOS version"])
		}
	}
	sort.Strings(bios)
	f.accelerators(names, same(bios), all["system"]["Driver version"])
	return nil
}

func first(facts map[string]string, names ...string) string {
	for _, n := range names {
		if facts[n] != "" {
			return facts[n]
		}
	}
	return ""
}

func (f *Facts) accelerators(names []string, firmware, driver string) {
	if len(names) == 0 {
		return
	}
	f.Chips, f.Firmware = len(names), firmware
	f.set("accelerators", counted(names))
	f.set("driver", driver)
}

// Memory is that of one accelerator, or of the machine, in bytes.
type Memory struct {
	Name        string // "GPU 0", "the machine"
	Used, Total float64
}

// Memories reads what nvidia-smi, rocm-smi and Linux state. Other accelerators are not in the list: tt-smi states no
// memory.
func Memories(ctx context.Context) []Memory {
	var out []Memory
	for _, tool := range []struct {
		argv  []string
		parse func([]byte) []Memory
	}{
		{[]string{"nvidia-smi", "--query-gpu=index,memory.used,memory.total", "--format=csv,noheader,nounits"}, nvidiaMemory},
		{[]string{"rocm-smi", "--showmeminfo", "vram", "--json"}, rocmMemory},
	} {
		if text, err := Ask(ctx, tool.argv); err == nil {
			out = append(out, tool.parse(text)...)
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		out = append(out, machineMemory(string(text))...)
	}
	return out
}

// nvidiaMemory reads lines such as "0, 71203, 81559", in MiB.
func nvidiaMemory(text []byte) (out []Memory) {
	rows := csv.NewReader(strings.NewReader(string(text)))
	rows.TrimLeadingSpace, rows.FieldsPerRecord = true, 3
	list, err := rows.ReadAll()
	if err != nil {
		return nil
	}
	for _, row := range list {
		out = known(out, "GPU "+row[0], row[1], row[2], 1<<20)
	}
	return out
}

// rocmMemory reads {"card0": {"VRAM Total Memory (B)": "…", "VRAM Total Used Memory (B)": "…"}}.
func rocmMemory(text []byte) (out []Memory) {
	var cards map[string]map[string]string
	if json.Unmarshal(text, &cards) != nil {
		return nil
	}
	for name, c := range cards {
		out = known(out, name, c["VRAM Total Used Memory (B)"], c["VRAM Total Memory (B)"], 1)
	}
	slices.SortFunc(out, func(a, b Memory) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// machineMemory reads /proc/meminfo; what can be reclaimed is not used.
func machineMemory(text string) (out []Memory) {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		fields[name] = strings.TrimSuffix(strings.TrimSpace(value), " kB")
	}
	free, err := strconv.ParseFloat(fields["MemAvailable"], 64)
	total, err2 := strconv.ParseFloat(fields["MemTotal"], 64)
	if err != nil || err2 != nil || free > total {
		return nil
	}
	return []Memory{{Name: "the machine", Used: (total - free) * 1024, Total: total * 1024}}
}

// known appends a memory whose numbers are stated.
func known(list []Memory, name, used, total string, unit float64) []Memory {
	u, err := strconv.ParseFloat(used, 64)
	t, err2 := strconv.ParseFloat(total, 64)
	if err != nil || err2 != nil || !(u >= 0 && t > 0 && u <= t) {
		return list
	}
	return append(list, Memory{Name: name, Used: u * unit, Total: t * unit})
}

// Another says why another program like the one that was started between two readings would not fit beside it; "" where
// it does, or where that is not known.
func Another(before, after []Memory) string {
	const noise = .02 // of a memory: what other programs take and give back meanwhile
	for _, b := range before {
		for _, a := range after {
			grown, free := a.Used-b.Used, a.Total-a.Used
			if a.Name == b.Name && grown > noise*a.Total && grown > free {
				return fmt.Sprintf("it took %.1f of %.1f GB of %s, and %.1f GB are left", grown/1e9, a.Total/1e9, a.Name, free/1e9)
			}
		}
	}
	return ""
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
