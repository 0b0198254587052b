package ttis

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Named holds what a path in a workflow_logs tree states.
type Named struct {
	// "id_tt-transformers_Llama-3.1-8B-Instruct_n150", as the runtime spec has it; "" when not in the path
	ModelID    string
	Facts      schema.Facts
	Workload   manifest.Workload
	Conditions map[string]string
}

// devices are the names that tt-inference-server gives devices in names of files.
const devices = `n150|n300|n150x4|t3k|tg|galaxy|galaxy_t3k|p100|p150|p150x4|p150x8|p300|p300x2|e150|cpu|gpu`

var (
	benchFile = regexp.MustCompile(`^(?:stress_test_|(?:aiperf_|genai_|guidellm_)?benchmark_(?:structured_)?)(.+?)` +
		`_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_(.*)\.json(?:\.gz)?$`)
	v2Dir     = regexp.MustCompile(`(?:^|/)([^/]+)_([a-z0-9]+)_[a-z]+/llm/`)
	benchDir  = regexp.MustCompile(`(?:^|/)bench_(\d+)_(\d+)_(\d+)(?:_n(\d+))?/[^/]+$`)
	artifacts = regexp.MustCompile(`(?:^|/)artifacts/(id_[^/]+)/`) // of AIPerf, until v0.18
	// of media, with the seconds since 1970
	mediaFile = regexp.MustCompile(`^benchmark_(id_.+)_\d{9,}(?:\.\d+)?\.json(?:\.gz)?$`)
	evalDir   = regexp.MustCompile(`(?:^|/)eval_(id_[^/]+)/`)
	oldEval   = regexp.MustCompile(`(?i)(?:^|/)evals_output/eval_([^/]+)/|(?:^|/)eval_([^/]+_(?:` + devices + `))/`)
	oldPair   = regexp.MustCompile(`^(.+)_(` + devices + `)$`) // before ids, as in 2025
	modelID   = regexp.MustCompile(`^id_([^_]+)_(.+)_([a-z0-9]+)$`)
	shapePart = regexp.MustCompile(
		`(?:^|_)(isl|osl|maxcon|n|images|height|width|so|dataset)-([^_]+(?:_bench)?)|(?:^|_)(no-so)(?:_|$)`)
)

// NameFacts reads the identity and workload that tt-inference-server writes into file and folder names. ok is false
// for any other name.
func NameFacts(name string) (n Named, ok bool) {
	if m := find(evalDir, "eval_id_", name); m != nil {
		n.ModelID, ok = m[1], true
	}
	if m := find(mediaFile, "benchmark_id_", path.Base(name)); m != nil {
		n.ModelID, ok = m[1], true
	}
	if m := benchName(path.Base(name)); m != nil {
		ok = true
		if strings.HasPrefix(m[1], "id_") {
			n.ModelID = m[1]
		} else {
			n.readPair(m[1])
		}
		n.readShape(m[2], strings.Contains(path.Base(name), "benchmark_structured_"))
	}
	if !ok && strings.Contains(strings.ToLower(name), "eval_") {
		if m := oldEval.FindStringSubmatch(name); m != nil {
			ok = n.readPair(m[1] + m[2])
		}
	}
	if m := find(artifacts, "artifacts/id_", name); m != nil {
		n.ModelID, ok = m[1], true
	}
	if m := find(benchDir, "bench_", name); m != nil && (m[4] != "" || ok) {
		ok = true
		n.readShape("isl-"+m[1]+"_osl-"+m[2]+"_maxcon-"+m[3]+"_n-"+m[4], false)
	}
	if m := find(v2Dir, "/llm/", name); m != nil && ok {
		n.Facts.Model.Name, n.Facts.Device.Name = m[1], m[2]
	}
	if m := modelID.FindStringSubmatch(n.ModelID); m != nil {
		n.Facts.Impl, n.Facts.Model.Name, n.Facts.Device.Name = m[1], m[2], m[3]
	}
	return n, ok
}

// benchName matches the name of a benchmark or a stress test.
func benchName(base string) []string {
	if m := find(benchFile, "benchmark_", base); m != nil {
		return m
	}
	return find(benchFile, "stress_test_", base)
}

// find matches a name that has a text which each match has: nearly all names of a tree have not, and looking for a
// text costs a hundredth of matching.
func find(re *regexp.Regexp, text, name string) []string {
	if !strings.Contains(name, text) {
		return nil
	}
	return re.FindStringSubmatch(name)
}

// readPair reads "Llama-3.1-8B-Instruct_n150", or "tt-metal-Llama…" with the implementation before it.
func (n *Named) readPair(pair string) bool {
	m := oldPair.FindStringSubmatch(strings.ToLower(pair))
	if m == nil {
		return false
	}
	model := pair[:len(m[1])]
	if i := strings.LastIndex(model, "__"); i >= 0 { // meta-llama__Llama-3.1-8B
		model = model[i+2:]
	}
	n.Facts.Model.Name, n.Facts.Device.Name = model, m[2]
	return true
}

func (n *Named) readShape(tail string, structured bool) {
	dims := map[string]string{}
	for _, m := range shapePart.FindAllStringSubmatch(tail, -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		switch {
		case m[3] == "no-so":
			dims["structured"] = "off"
		case m[1] == "dataset":
			n.Workload.Dataset = m[2]
		case m[1] == "so":
			dims["structured"] = m[2]
		case err != nil:
		case m[1] == "isl":
			n.Workload.ISL = &v
		case m[1] == "osl":
			n.Workload.OSL = &v
		case m[1] == "maxcon":
			n.Workload.Concurrency = &v
		case m[1] == "n":
			n.Conditions = map[string]string{"num_prompts": m[2]}
		default:
			dims[m[1]] = m[2]
			n.Workload.Task = "vlm"
		}
	}
	if structured {
		dims[schema.DimLabel] = "structured output"
	}
	if len(dims) > 0 {
		n.Workload.Dims = dims
	}
}
