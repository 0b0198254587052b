package plan

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// File is a plan file, as check --recheck-plan writes it.
type File struct {
	Plans []Entry `yaml:"plans"`
}

// Entry is what is measured on one server. A field that is left out has the value of the flag of the same name.
type Entry struct {
	Model   string     `yaml:"model"`
	Device  string     `yaml:"device,omitempty"`
	Impl    string     `yaml:"impl,omitempty"`
	Release string     `yaml:"release,omitempty"`
	Channel string     `yaml:"channel,omitempty"`
	Server  ServerName `yaml:"server,omitempty"`
	Image   string     `yaml:"image,omitempty"`
	// ServerParams are flags of the server with the values that are tried, as max-num-seqs=64,128.
	ServerParams []string     `yaml:"server_params,omitempty"`
	Tokenizer    string       `yaml:"tokenizer,omitempty"`
	Only         Only         `yaml:"only,omitempty"`
	Tools        []string     `yaml:"tools,omitempty"`
	Sweep        string       `yaml:"sweep,omitempty"`
	Workloads    WorkloadList `yaml:"workloads,omitempty"`
	Evals        []string     `yaml:"evals,omitempty"`
	EvalLimit    int          `yaml:"eval_limit,omitempty"`
	Repeat       int          `yaml:"repeat,omitempty"`
	Chat         bool         `yaml:"chat,omitempty"`
	Why          string       `yaml:"why,omitempty"` // for people
	Resources    Resources    `yaml:"resources,omitempty"`
}

// Read reads a plan file, strictly.
func Read(name string, data []byte) (f File, err error) {
	if p := decode.YAML(name, data, &f); p != nil {
		_, picture, _ := strings.Cut(p.Hint, "\n") // the source line with a caret
		return f, fmt.Errorf("%s:%d:%d: %s\n%s", name, p.Line, p.Column, p.Found, picture)
	}
	return f, Check(name, f.Plans)
}

// Check refuses entries without a model; name is the file that holds them.
func Check(name string, list []Entry) error {
	for i, e := range list {
		if e.Model == "" {
			return fmt.Errorf("%s: plans[%d]: no model", name, i)
		}
	}
	return nil
}

// Marshal returns the plan's file content.
func (f File) Marshal() ([]byte, error) { return decode.EncodeYAML(f) }

// planHelp is the advice for a plan that cannot be read.
const planHelp = "ttreport help plans lists every field"

// ReadFile reads the plan file of --plan.
func ReadFile(name string) ([]Entry, error) {
	data, err := readNamed(name, "--plan plan.yaml")
	if err != nil {
		return nil, err
	}
	f, err := Read(name, data)
	if err != nil {
		return nil, UsageError{err, planHelp}
	}
	return f.Plans, nil
}

// OfConfiguration returns the entries of a workspace's configuration for a device; "" selects all.
func OfConfiguration(name string, list []Entry, device string) ([]Entry, error) {
	if err := Check(name, list); err != nil {
		return nil, UsageError{err, planHelp}
	}
	var out []Entry
	for _, e := range list {
		if device == "" || strings.EqualFold(device, e.Device) {
			out = append(out, e)
		}
	}
	return out, nil
}

// ReadNM reads an nm-vllm configuration, or all that a .txt file lists. Names in a list are relative to the list, else
// to a folder above it, as nm-vllm's lists in .github/data are to its root. Servers listen on a port, 0 for their own
// default. longest is that of [nm].
func ReadNM(name string, port int, longest func(model string) int) ([]Entry, error) {
	names := []string{name}
	if strings.HasSuffix(name, ".txt") {
		data, err := readNamed(name, "--input nightly.txt")
		if err != nil {
			return nil, err
		}
		names = nil
		for line := range strings.Lines(string(data)) { // one path each
			line, _, _ = strings.Cut(line, "#") // a comment
			if line = strings.TrimSpace(line); line != "" {
				names = append(names, listed(name, line))
			}
		}
	}
	gpus := 0 // in CUDA_VISIBLE_DEVICES, else those that nvidia-smi lists
	if v, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES"); ok {
		gpus = len(strings.FieldsFunc(v, func(r rune) bool { return r == ',' }))
	} else if out, err := exec.Command("nvidia-smi", "-L").Output(); err == nil {
		gpus = strings.Count(string(out), "GPU ")
	}
	var out []Entry
	for _, n := range names {
		data, err := readNamed(n, "--input benchmark.json")
		if err != nil {
			return nil, err
		}
		list, err := nm(n, data, gpus, longest)
		if err != nil {
			return nil, Usage("", "collect: %w", err)
		}
		for _, e := range list {
			if port > 0 && e.Server.Kind == ServerCommand {
				e.Server.Argv = append(e.Server.Argv, "--port", strconv.Itoa(port))
			}
			out = append(out, e)
		}
	}
	return out, nil
}

// listed is the path of a file that a list names.
func listed(list, name string) string {
	if _, err := os.Stat(name); err == nil || filepath.IsAbs(name) {
		return name
	}
	dir, err := filepath.Abs(filepath.Dir(list))
	for ; err == nil; dir = filepath.Dir(dir) {
		at := filepath.Join(dir, name)
		if _, err := os.Stat(at); err == nil || dir == filepath.Dir(dir) {
			return at
		}
	}
	return name
}

// readNamed reads a file that a flag or a list names; the flag is stated with an example.
func readNamed(name, flag string) ([]byte, error) {
	data, err := rootfs.ReadFile(name, 4<<20)
	if err != nil {
		return nil, Usage("as in "+flag, "collect: %s: %w", strings.Fields(flag)[0], err)
	}
	return data, nil
}

// WorkloadList reads workloads from text: those of a plan file, or one at a time those of a flag that may be repeated.
type WorkloadList []Workload

// MarshalYAML returns the texts of the workloads.
func (l WorkloadList) MarshalYAML() (any, error) {
	for _, w := range l {
		if len(w.Dims)+len(w.Extra) > 0 {
			return nil, fmt.Errorf("workload %s has arguments of its tool, which a plan file cannot state", w)
		}
	}
	return l.texts(), nil
}

// UnmarshalYAML reads the texts of workloads.
func (l *WorkloadList) UnmarshalYAML(read func(any) error) error {
	var list []workloadText
	err := read(&list)
	for _, w := range list {
		*l = append(*l, Workload(w))
	}
	return err
}

type workloadText Workload

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *workloadText) UnmarshalText(text []byte) error { return (*Workload)(w).Parse(string(text)) }

// Set adds a workload.
func (l *WorkloadList) Set(text string) error {
	var w Workload
	err := w.Parse(text)
	if err == nil {
		*l = append(*l, w)
	}
	return err
}

// Type names the value for a command's help.
func (l *WorkloadList) Type() string { return "workload" }

// String is the list as it was given.
func (l *WorkloadList) String() string { return strings.Join(l.texts(), " ") }

// GetSlice returns the workloads as they are given one at a time.
func (l *WorkloadList) GetSlice() []string { return l.texts() }

func (l WorkloadList) texts() []string {
	var out []string
	for _, w := range l {
		out = append(out, w.Text())
	}
	return out
}
