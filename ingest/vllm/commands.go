package vllm

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// CommandsFile is the content of a .commands file of vLLM's continuous benchmarks, about the result of the same name.
type CommandsFile struct {
	Facts    schema.Facts
	Workload manifest.Workload
	Client   []string // the client's command line
}

// CommandsSuffix replaces ".json" in the result's name.
const CommandsSuffix = ".commands"

// isCommands reports whether a file describes the result of the same name.
func isCommands(f *decode.File) bool {
	return strings.HasSuffix(f.Path, CommandsSuffix) && f.First.Kind() == decode.Object &&
		(f.First.Has("gpu_type") || f.First.Has("client_command") || f.First.Has("latency_command") ||
			f.First.Has("throughput_command"))
}

// ReadCommands reads a .commands file.
func ReadCommands(f *decode.File) CommandsFile {
	v := f.First
	var b CommandsFile
	if names := strings.Split(strings.TrimSpace(v.Get("gpu_type").Str()), "\n"); names[0] != "" {
		b.Facts.Device = schema.Device{Name: strings.TrimSpace(names[0]), Chips: len(names)}
	}
	for _, name := range []string{"client_command", "latency_command", "throughput_command"} {
		if text := v.Get(name).Str(); text != "" {
			b.Client = strings.Fields(text)
		}
	}
	server := v.Get("server_command").Str()
	if server == "" {
		server = strings.Join(b.Client, " ")
	}
	if m := model.FindStringSubmatch(server + " " + strings.Join(b.Client, " ")); m != nil {
		b.Facts.Model.ID = m[1]
	}
	b.Workload.Concurrency = flag(b.Client, "--batch-size")
	b.Workload.ISL, b.Workload.OSL = flag(b.Client, "--random-input-len", "--input-len"),
		flag(b.Client, "--random-output-len", "--output-len")
	if m := dataset.FindStringSubmatch(strings.Join(b.Client, " ")); m != nil {
		b.Workload.Dataset = m[1]
	}
	if n := flag(strings.Fields(server), "--tensor-parallel-size", "-tp"); n != nil && *n > 1 {
		b.Workload.Dims = map[string]string{"tp": strconv.FormatFloat(*n, 'f', -1, 64)}
	}
	if strings.Contains(server, "vllm") {
		b.Facts.Stack.Engine = "vllm"
	}
	return b
}

var model = regexp.MustCompile(`--model[ =](\S+)`)

var dataset = regexp.MustCompile(`--dataset-name[ =](\S+)`)

func flag(argv []string, names ...string) *float64 {
	for i, a := range argv {
		for _, name := range names {
			text, ok := strings.CutPrefix(a, name+"=")
			if a == name && i+1 < len(argv) {
				text, ok = argv[i+1], true
			}
			if x, err := strconv.ParseFloat(text, 64); ok && err == nil && x > 0 && x < 1e12 {
				return &x
			}
		}
	}
	return nil
}
