package host

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

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
