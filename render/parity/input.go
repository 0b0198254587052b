package parity

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
)

// Input is one model on one device in one release.
type Input struct {
	Model, Device string
	Runs          []schema.Run // oldest first
	Review        gate.Review  // of this model and device in the release
	Version       string       // of the program, with its name
	Public        bool         // leave out commands, and folders and registries before names

	graded []*graded
	rows   []*row
	stress []*row // of the stress tests
	media  []*row // of models that do not write text
	apart  bool   // another device of the release has the same model
}

// File is one file below reports_output/.
type File struct {
	Path string
	Data []byte
}

// Mark is the member of a report's metadata that names the program which wrote it: such a report repeats results that
// were read already, and is no input.
const Mark = "written_by"

// Files are the files of a release, of every model on a device in it.
func Files(list []Input) ([]File, error) {
	var out output
	repos := map[string]int{}
	for i := range list {
		repos[list[i].repo()]++
	}
	for i := range list {
		in := &list[i]
		in.graded = gradedOf(in.Review.Targets)
		in.rows = in.rowsOf(func(p *schema.Point) bool { return !isStress(p) && !isMedia(p) })
		in.stress, in.media = in.rowsOf(isStress), in.rowsOf(isMedia)
		in.apart = repos[in.repo()] > 1
		evals := evalsOf(in.Runs, in.Review.Targets)
		a := in.acceptance(evals)
		in.layout17(&out, evals, a)
		in.layout20(&out, evals, a)
		in.copies17(&out)
	}
	return out.files, out.err
}

// newest is the run that states the identity.
func (in *Input) newest() *schema.Run { return &in.Runs[len(in.Runs)-1] }

// fact returns the first that states something, the newest run first.
func (in *Input) fact(of func(*schema.Run) string) string {
	for i := len(in.Runs) - 1; i >= 0; i-- {
		if s := of(&in.Runs[i]); s != "" {
			return s
		}
	}
	return ""
}

func (in *Input) repo() string {
	return cmp.Or(in.fact(func(r *schema.Run) string { return r.Model.ID }), in.Model)
}

// device is the device as v0.17 writes it; v0.19 has capitals.
func (in *Input) device() string { return strings.ToLower(in.Device) }

func implOf(r *schema.Run) string { return r.Impl }

// modelID is "id_tt-transformers_Llama-3.1-8B-Instruct_n150".
func (in *Input) modelID() string {
	parts := []string{"id"}
	for _, s := range []string{in.fact(implOf), words.OrUnknown(in.Model), in.device()} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return fileName(strings.Join(parts, "_"))
}

// fileName keeps a name in its folder.
func fileName(s string) string {
	s = strings.NewReplacer("/", "__", `\`, "__", " ", "_").Replace(s)
	return strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`:*?"<>|`, r) {
			return '_'
		}
		return r
	}, s)
}

// time is when the newest run began: the same results give the same names.
func (in *Input) time() time.Time { return cmp.Or(in.newest().Start, in.newest().End) }

// id17 names a report of v0.17.
func (in *Input) id17() string {
	return in.modelID() + "_" + cmp.Or(timeText(in.time(), fileTime), "undated")
}

// extra is a foreign fact of the runs that is a text.
func (in *Input) extra(name string) string {
	return in.fact(func(r *schema.Run) string {
		var s string
		if json.Unmarshal(r.Extra[name], &s) != nil {
			return ""
		}
		return s
	})
}

// facts are the values of the metadata by key; both generations have them in orders of their own.
func (in *Input) facts() map[string]any {
	command := in.extra("run_command")
	spec := in.fact(func(r *schema.Run) string { // the runtime spec that stated the identity, without folders of a machine
		for _, o := range r.Provenance {
			if o.From == schema.FromSpec && strings.HasSuffix(o.Where, ".json") {
				return path.Join(path.Base(path.Dir(o.Where)), path.Base(o.Where))
			}
		}
		return ""
	})
	image := in.fact(func(r *schema.Run) string { return r.Stack.Image })
	engine := in.fact(func(r *schema.Run) string { return r.Stack.Engine })
	commit := func(name string) any {
		return text(in.fact(func(r *schema.Run) string { return r.Stack.Commits[name] }))
	}
	if engine == "vllm" {
		engine = "vLLM" // as tt-inference-server spells it
	}
	if in.Public { // names without their folders
		command, spec, image = "", spec[strings.LastIndexByte(spec, '/')+1:], image[strings.LastIndexByte(image, '/')+1:]
	}
	return map[string]any{
		"model_id": in.modelID(), "runtime_model_spec_json": text(spec), "model_repo": in.repo(),
		"model_impl": text(in.fact(implOf)), "inference_engine": text(engine), "server_mode": text(in.extra("server_mode")),
		"tt_metal_commit": commit("tt_metal"), "vllm_commit": commit("vllm"), "run_command": text(command),
		"workflow": cmp.Or(in.extra("workflow"), "release"), "docker_image": text(image),
		"release": in.Review.Release, Mark: cmp.Or(in.Version, "ttreport"),
	}
}

// tool is a load generator as reports name it.
type tool struct{ name, label, file string }

// tools lists those that have a place in the reports, in their order.
func tools() []tool {
	return []tool{
		{"vllm", "vLLM", ""}, {"aiperf", "AIPerf", "aiperf"}, {"genai-perf", "GenAI-Perf", "genai_perf"},
		{"guidellm", "GuideLLM", "guidellm"},
	}
}

// toolsOf are the tools of the rows: those of the reports first, then any other under its own name.
func (in *Input) toolsOf() []tool {
	list := tools()
	for _, r := range in.rows {
		if name := r.point.Key.Tool; !slices.ContainsFunc(list, func(t tool) bool { return t.name == name }) {
			list = append(list, tool{name, name, ""})
		}
	}
	return slices.DeleteFunc(list, func(t tool) bool { return len(in.of(t.name, "")) == 0 })
}

// of are the rows of a tool and a task; "" is any task.
func (in *Input) of(tool, task string) []*row {
	var out []*row
	for _, r := range in.rows {
		if r.point.Key.Tool == tool && (task == "" || r.task() == task) {
			out = append(out, r)
		}
	}
	return out
}
