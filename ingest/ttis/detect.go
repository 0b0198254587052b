package ttis

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Names of the formats that this package distinguishes.
const (
	Spec       = "ttis-runtime-spec"
	Harmonised = "ttis-harmonised"
	Report     = "ttis-report"
	ReportData = "ttis-report-data"
	TargetFile = "ttis-targets"
	Statistics = "ttis-statistics" // the table of a report's results
)

// Reader recognises tt-inference-server's files by content.
var Reader = draft.Format{
	Name: Harmonised, Sniff: sniff, All: readHarmonised,
	Others: []draft.Format{
		{
			Name: Statistics, Detail: "a table of results: counts where the results themselves are not there",
			All: readStatistics, Text: func(f *decode.File) bool {
				has, begins := head(f)
				return strings.HasSuffix(f.Path, ".csv") && (begins("timestamp,model_name,model_id,") ||
					begins("timestamp,model,model_name,model_id,backend,") ||
					has("mean_ttft_ms") && (has("input_sequence_length") || begins("source,")))
			},
		},
		{
			Name: Report, Detail: "not a result: a report of results that are read from their own files", Aside: true,
			Text: func(f *decode.File) bool {
				has, _ := head(f)
				return strings.HasSuffix(f.Path, ".md") && (has("Tenstorrent") ||
					has("Performance Benchmark Sweeps") || has("Performance Benchmark Targets") ||
					has("Benchmark Performance Results") || has("Accuracy Evaluations") ||
					strings.Contains(f.Path, "reports_output/"))
			},
		},
		{
			Name: Spec, Detail: "runtime spec: identity and targets in force", Wants: draft.Wants("runtime_model_spec{}"),
			All: readSpec,
		},
		{
			Name: Report, Detail: "not a result: a report or a copy that ttreport wrote of results that it had read",
			Wants: draft.Wants("metadata.written_by|written_by&output_token_throughput"),
		},
		{
			Name: ReportData, Detail: "data of a report: counts where the results themselves are not there", All: readReport,
			Wants: draft.Wants("metadata.report_id|benchmarks_summary[]"),
		},
		{Name: Media, All: readMedia, Sniff: func(f *decode.File, m *draft.Check) {
			b := mediaNumbers(f.First)
			m.Want(b.HasAny("latency", "ttft", "e2el") && b.Has("num_requests") && f.First.Has("model", "device"),
				"benchmarks.num_requests, model, device")
			m.Detail = "benchmark of " + mediaTask(f.First.Get("task_type").Str())
		}},
		{Name: MediaEval, Detail: "eval of media", All: readMediaEval, Sniff: func(f *decode.File, m *draft.Check) {
			isData := strings.Contains(path.Base(f.Path), "eval_data_")
			m.Want(isMediaScore(f.First.Index(0)) && !isData, "accuracy_check, task_name")
		}},
		draft.Aside(Report, "a report of evals that are read from their own files", "0.accuracy_check"),
		{
			Name: TargetFile, Detail: "not a result: targets; put it into the targets folder",
			Sniff: func(f *decode.File, m *draft.Check) { m.Want(isTargets(f.First), "model, device, targets") },
		},
		{Name: TargetFile, Detail: "not a result: reference scores", Sniff: func(f *decode.File, m *draft.Check) {
			isOther := func(model decode.Member) bool { return model.Val.Get("accuracy").Kind() != decode.Object }
			models := f.First.Members()
			m.Want(len(models) > 0 && !slices.ContainsFunc(models, isOther), "model, accuracy")
		}},
	},
}

// sniff recognises a copy of another tool's result.
func sniff(f *decode.File, m *draft.Check) {
	v := f.First
	for _, key := range []string{"completed", "mean_ttft_ms", "output_token_throughput"} {
		m.Want(v.Get(key).Kind() == decode.Number, key)
	}
	m.Not(v.Has("output_throughput"), "the harmonised form (output_throughput is vLLM's)")
	m.Detail = "harmonised copy of " + toolOf(v, f.Path)
}

// head says what a text has near its beginning, and what it begins with.
func head(f *decode.File) (has, begins func(text string) bool) {
	head := f.Data[:min(len(f.Data), 4096)]
	return func(text string) bool { return bytes.Contains(head, []byte(text)) },
		func(text string) bool { return bytes.HasPrefix(head, []byte(text)) }
}

// isTargets recognises {model: {device: [{isl, osl, max_concurrency …}]}}.
func isTargets(v decode.Value) bool {
	entries := 0
	for _, model := range v.Members() {
		for _, device := range model.Val.Members() {
			if device.Val.Kind() != decode.Array {
				return false
			}
			for e := range device.Val.Items() {
				if !e.Has("max_concurrency") || !e.HasAny("targets", "isl") {
					return false
				}
				entries++
			}
		}
	}
	return entries > 0
}

// toolOf returns the tool whose result a harmonised file copies: by its backend, else by the prefix of its name.
func toolOf(v decode.Value, name string) string {
	switch backend := v.Get("backend").Str(); {
	case backend == "aiperf" || strings.HasPrefix(path.Base(name), "aiperf_"):
		return "aiperf"
	case strings.HasPrefix(backend, "genai") || strings.HasPrefix(path.Base(name), "genai_"):
		return "genai-perf"
	case backend != "":
		return backend
	}
	return "unknown tool"
}

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
	benchFile = lazyregexp.New(`^(?:stress_test_|(?:aiperf_|genai_|guidellm_)?benchmark_(?:structured_)?)(.+?)` +
		`_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_(.*)\.json(?:\.gz)?$`)
	v2Dir     = lazyregexp.New(`(?:^|/)([^/]+)_([a-z0-9]+)_[a-z]+/llm/`)
	benchDir  = lazyregexp.New(`(?:^|/)bench_(\d+)_(\d+)_(\d+)(?:_n(\d+))?/[^/]+$`)
	artifacts = lazyregexp.New(`(?:^|/)artifacts/(id_[^/]+)/`) // of AIPerf, until v0.18
	// of media, with the seconds since 1970
	mediaFile = lazyregexp.New(`^benchmark_(id_.+)_\d{9,}(?:\.\d+)?\.json(?:\.gz)?$`)
	evalDir   = lazyregexp.New(`(?:^|/)eval_(id_[^/]+)/`)
	oldEval   = lazyregexp.New(`(?i)(?:^|/)evals_output/eval_([^/]+)/|(?:^|/)eval_([^/]+_(?:` + devices + `))/`)
	oldPair   = lazyregexp.New(`^(.+)_(` + devices + `)$`) // before ids, as in 2025
	modelID   = lazyregexp.New(`^id_([^_]+)_(.+)_([a-z0-9]+)$`)
	shapePart = lazyregexp.New(
		`(?:^|_)(isl|osl|maxcon|n|images|height|width|so|dataset)-([^_]+(?:_bench)?)|(?:^|_)(no-so)(?:_|$)`)
)

// NameFacts reads the identity and workload that tt-inference-server writes into file and folder names. ok is false
// for any other name.
func NameFacts(name string) (n Named, ok bool) {
	if m := evalDir.FindStringSubmatch(name); m != nil {
		n.ModelID, ok = m[1], true
	}
	if m := mediaFile.FindStringSubmatch(path.Base(name)); m != nil {
		n.ModelID, ok = m[1], true
	}
	base := path.Base(name)
	if m := benchFile.FindStringSubmatch(base); m != nil {
		if ok = true; strings.HasPrefix(m[1], "id_") {
			n.ModelID = m[1]
		} else {
			n.readPair(m[1])
		}
		n.readShape(m[2], strings.Contains(base, "benchmark_structured_"))
	}
	if !ok && strings.Contains(strings.ToLower(name), "eval_") {
		if m := oldEval.FindStringSubmatch(name); m != nil {
			ok = n.readPair(m[1] + m[2])
		}
	}
	if m := artifacts.FindStringSubmatch(name); m != nil {
		n.ModelID, ok = m[1], true
	}
	if m := benchDir.FindStringSubmatch(name); m != nil && (m[4] != "" || ok) {
		ok = true
		n.readShape("isl-"+m[1]+"_osl-"+m[2]+"_maxcon-"+m[3]+"_n-"+m[4], false)
	}
	if m := v2Dir.FindStringSubmatch(name); m != nil && ok {
		n.Facts.Model.Name, n.Facts.Device.Name = m[1], m[2]
	}
	if m := modelID.FindStringSubmatch(n.ModelID); m != nil {
		n.Facts.Impl, n.Facts.Model.Name, n.Facts.Device.Name = m[1], m[2], m[3]
	}
	return n, ok
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
