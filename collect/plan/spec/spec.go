// Package spec reads what is stated about a model on a device before a server runs: its limits, its image, its
// commits.
//
// In: tt-inference-server's runtime specifications, models.yaml, and a server's command line. Out: a [Model]. Nothing
// is guessed here: a limit that is not stated is zero. A caller that assumes a value instead must report it.
package spec

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Model describes how a model is served on a device.
type Model struct {
	Model       string            `yaml:"model"` // name without its owner
	ID          string            `yaml:"id,omitempty"`
	Device      string            `yaml:"device"`
	Impl        string            `yaml:"impl,omitempty"`
	Default     bool              `yaml:"default,omitempty"` // of several implementations
	Engine      string            `yaml:"engine,omitempty"`
	Type        string            `yaml:"type,omitempty"` // where it writes no text: audio, image, embedding …
	Image       string            `yaml:"image,omitempty"`
	Status      string            `yaml:"status,omitempty"`
	Release     string            `yaml:"release,omitempty"` // of tt-inference-server, that specifies it
	Context     int               `yaml:"max_context,omitempty"`
	Concurrency int               `yaml:"max_concurrency,omitempty"`
	AllUsers    int               `yaml:"max_tokens_all_users,omitempty"`
	Warm        bool              `yaml:"builtin_warmup,omitempty"` // the server captures its traces itself
	Wait        float64           `yaml:"ready_within_s,omitempty"` // how long weights may take to be converted
	Commits     map[string]string `yaml:"commits,omitempty"`
}

// FileName is the name of the catalogue in a workspace.
const FileName = "models.yaml"

// File is a catalogue.
type File struct {
	Models []Model `yaml:"models"`
}

// mostSpec is how long a file of specifications may be, in bytes; tt-inference-server's has 2 MB.
const mostSpec = 64 << 20

// ReadCatalogue reads models.yaml, strictly; a file that does not exist is an empty catalogue.
func ReadCatalogue(name string) (f File, err error) {
	data, err := rootfs.ReadFile(name, mostSpec)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return f, fmt.Errorf("models: %w", err)
	}
	if p := decode.YAML(name, data, &f); p != nil {
		return f, fmt.Errorf("%s:%d: %s", name, p.Line, p.Found)
	}
	for i, m := range f.Models {
		if m.Model == "" || m.Device == "" {
			return f, fmt.Errorf("%s: models[%d]: model and device are both needed", name, i)
		}
	}
	return f, nil
}

// MisspeltError is a model or a device that the catalogue lacks, and whose name is nearly that of one that it has.
type MisspeltError struct{ Given, Known string }

func (e MisspeltError) Error() string {
	return fmt.Sprintf("%s has no %s: did you mean %s?", FileName, e.Given, e.Known)
}

// misspelt returns a [MisspeltError] where the catalogue has no entry of a model, or none of a device, and one of
// nearly that name.
func (f File) misspelt(model, device string) error {
	first := func(is func(m Model) bool) int { return slices.IndexFunc(f.Models, is) }
	if first(func(m Model) bool { return m.named(model) }) < 0 {
		if i := first(func(m Model) bool { return schema.NearlyNamed(m.Model, path.Base(model)) }); i >= 0 {
			return MisspeltError{"model " + model, f.Models[i].Model}
		}
	}
	if first(func(m Model) bool { return schema.SameDevice(m.Device, device) }) < 0 {
		d := strings.ToLower(device)
		if i := first(func(m Model) bool { return oneMore(m.Device, d) || oneMore(d, m.Device) }); i >= 0 {
			return MisspeltError{"device " + device, f.Models[i].Device}
		}
	}
	return nil
}

// named reports whether a name, with an organisation or without, is that of the model.
func (m Model) named(name string) bool {
	return strings.EqualFold(m.Model, path.Base(name)) || strings.EqualFold(m.ID, name)
}

// oneMore reports whether a is b with one character more.
func oneMore(a, b string) bool {
	for i := range a {
		if a[:i]+a[i+1:] == b {
			return true
		}
	}
	return false
}

// Lookup finds a model on a device in a specification, or in the catalogue of a folder if no specification is named.
// A catalogue may lack the model, unless it is misspelt; a named specification must have it.
func Lookup(dir, specification, model, device, impl string) (Model, error) {
	if specification == "" {
		f, err := ReadCatalogue(filepath.Join(dir, FileName))
		if err != nil {
			return Model{}, err
		}
		m, _ := f.Find(model, device, impl)
		return m, f.misspelt(model, device)
	}
	list, err := readFile(specification)
	if err != nil {
		return Model{}, err
	}
	m, ok := File{Models: list}.Find(model, device, impl)
	if !ok {
		return m, fmt.Errorf("%s does not specify %s on %s, but %s on %s",
			specification, model, device, list[0].Model, list[0].Device)
	}
	return m, nil
}

// readFile reads the specifications in a file.
func readFile(name string) ([]Model, error) {
	data, err := rootfs.ReadFile(name, mostSpec)
	if err != nil {
		return nil, err
	}
	return Read(name, data)
}

// Marshal returns the catalogue's file content.
func (f File) Marshal() ([]byte, error) { return decode.EncodeYAML(f) }

// Find returns the entry of a model on a device: of the requested implementation, else of the default one.
func (f File) Find(model, device, impl string) (found Model, ok bool) {
	for _, m := range f.Models {
		if !m.named(model) || !strings.EqualFold(m.Device, device) || impl != "" && !strings.EqualFold(m.Impl, impl) {
			continue
		}
		if !ok || m.Default && !found.Default {
			found, ok = m, true
		}
	}
	return found, ok
}

// Add adds models to a catalogue; they replace those of the same model, device and implementation.
func (f *File) Add(list ...Model) {
	for _, m := range list {
		f.Models = slices.DeleteFunc(f.Models, func(o Model) bool {
			return strings.EqualFold(o.Model, m.Model) && strings.EqualFold(o.Device, m.Device) && o.Impl == m.Impl
		})
		f.Models = append(f.Models, m)
	}
}

// Sort orders a catalogue by model, device and implementation.
func (f File) Sort() {
	slices.SortStableFunc(f.Models, func(a, b Model) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Device, b.Device), cmp.Compare(a.Impl, b.Impl))
	})
}

// ErrNoSpec is returned for a file that specifies no model.
var ErrNoSpec = errors.New("it specifies no model")

// Read reads every specification in a JSON file: a runtime specification of one run, or the catalogue of a release
// (release_model_spec.json, and model_specs_output.json before it), however deep they are nested.
func Read(name string, data []byte) ([]Model, error) {
	root, problem := decode.Document(name, data)
	if problem != nil {
		return nil, problem
	}
	var out []Model
	if err := collect(root, &out); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: %w: expected a member device_model_spec", name, ErrNoSpec)
	}
	return out, nil
}

// collect adds the specifications within a value, those of an object in the order of the names of its members.
func collect(node decode.Value, out *[]Model) error {
	if node.Get("device_model_spec").Kind() == decode.Object {
		m, err := modelOf(node)
		*out = append(*out, m)
		return err
	}
	byName := func(a, b decode.Member) int { return strings.Compare(a.Key, b.Key) }
	for _, m := range slices.SortedFunc(slices.Values(node.Members()), byName) {
		if err := collect(m.Val, out); err != nil {
			return err
		}
	}
	return nil
}

// modelOf reads a specification as tt-inference-server writes it, before and after it was called runtime_model_spec.
func modelOf(v decode.Value) (m Model, err error) {
	d := v.Get("device_model_spec")
	text := func(name string) string { return v.Get(name).Str() }
	whole := func(name string) int {
		n, ok := d.Get(name).Int()
		if !ok && d.Has(name) {
			err = fmt.Errorf("%s must be a whole number, got %.40s", name, d.Get(name).Raw())
		}
		return n
	}
	m = Model{
		Model: cmp.Or(text("model_name"), path.Base(text("hf_model_repo"))), ID: text("hf_model_repo"),
		Device: strings.ToLower(d.Get("device").Str()), Impl: v.At("impl", "impl_name").Str(),
		Engine: text("inference_engine"), Image: text("docker_image"), Status: text("status"), Release: text("version"),
		Context: whole("max_context"), Concurrency: whole("max_concurrency"), Wait: d.Get("tensor_cache_timeout").Float0(),
		AllUsers: whole("max_tokens_all_users_override"), Commits: map[string]string{},
	}
	m.Default, _ = d.Get("default_impl").Truth() // false where it is not stated
	m.Warm, _ = v.Get("has_builtin_warmup").Truth()
	if t := strings.ToLower(text("model_type")); t != "llm" && t != "vlm" {
		m.Type = t
	}
	copies, _ := d.At("vllm_args", "data_parallel_size").Int()
	if copies > 1 && !d.Has("max_tokens_all_users_override") {
		m.AllUsers = copies * m.Context // each has memory for one context
	}
	for name, commit := range map[string]string{"tt_metal": text("tt_metal_commit"), "vllm": text("vllm_commit")} {
		if commit != "" {
			m.Commits[name] = commit
		}
	}
	return m, err
}

// OfCommand reads limits from a server's command line, under the names of vLLM's and llama.cpp's flags.
func OfCommand(argv []string) Model {
	return Model{
		Context:     Number(argv, "--max-model-len", "--max_model_len", "--ctx-size"),
		Concurrency: Number(argv, "--max-num-seqs", "--max_num_seqs", "--parallel"),
	}
}

// Number is the number above zero that the last of some flags has in a command line; 0 where it states none.
func Number(argv []string, flags ...string) (n int) {
	for i, a := range argv {
		name, value, joined := strings.Cut(a, "=")
		if !joined && i+1 < len(argv) {
			value = argv[i+1]
		}
		if v, err := strconv.Atoi(value); slices.Contains(flags, name) && err == nil && v > 0 {
			n = v
		}
	}
	return n
}

// ErrNoSpecFile is returned for a folder that holds no file of model specifications.
var ErrNoSpecFile = errors.New("no file of model specifications")

// Import adds the specifications of a file, or of a checkout of tt-inference-server, and returns how many there were.
func (f *File) Import(name string) (int, error) {
	info, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	if info.IsDir() {
		names := []string{"release_model_spec.json", "model_specs_output.json", "model_spec.json"} // the newest first
		at := slices.IndexFunc(names, func(n string) bool { _, err := os.Stat(filepath.Join(name, n)); return err == nil })
		if at < 0 {
			return 0, fmt.Errorf("%w: %s has none of %s", ErrNoSpecFile, name, strings.Join(names, ", "))
		}
		name = filepath.Join(name, names[at])
	}
	list, err := readFile(name)
	f.Add(list...)
	return len(list), err
}

// Write writes the catalogue as a table.
func (f File) Write(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "MODEL\tDEVICE\tIMPL\tCONTEXT\tMAX CONCURRENCY\tSTATUS\tIMAGE")
	for _, m := range f.Models {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.Model, m.Device, m.Impl,
			plaintext.Dash(m.Context), plaintext.Dash(m.Concurrency), m.Status,
			plaintext.Middle(m.Image, plaintext.PathWidth))
	}
	return tw.Flush()
}
