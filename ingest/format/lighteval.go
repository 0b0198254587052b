// This file reads the results of Hugging Face's lighteval (0.3 to 0.13): results/<model>/results_<time>.json.
//
// A task is named "suite|task|shots"; the shots are taken out of the name. The mean over all tasks is no score.

package format

import (
	"cmp"
	"path"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// LightEval is the format: the general configuration that lighteval writes beside the results.
var LightEval = draft.Format{
	Name: "lighteval", Detail: "results of evals", Wants: draft.Wants("config_general{}", "results{}"), All: readLightEval,
}

var lightEvalStamp = lazyregexp.New(`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d`)

func readLightEval(f *decode.File, r *schema.Reading) {
	v, general := f.First, f.First.Get("config_general")
	r.Facts.Model.ID = cmp.Or(general.Get("model_name").Str(), general.At("model_config", "model_name").Str(),
		general.At("model_config", "model").Str())
	draft.Dated(&r.Facts, draft.Time(lightEvalStamp.FindString(path.Base(f.Path))),
		"by the file's name, zone not stated")
	stated := lightEvalConfiguration(general)
	for _, task := range v.Get("results").Members() {
		name, shots := task.Key, (*int)(nil)
		if parts := strings.Split(task.Key, "|"); len(parts) > 2 { // in later versions with "|0" behind the shots
			name = parts[0] + "|" + parts[1]
			if n, err := strconv.Atoi(parts[2]); err == nil {
				shots = &n
			}
		}
		if name == "all" || strings.HasSuffix(name, ":_average") {
			continue
		}
		asked := []decode.Value{v.At("config_tasks", task.Key), v.At("config_tasks", name)}
		for _, metric := range task.Val.Members() {
			x, ok := metric.Val.Float()
			if !ok || strings.HasSuffix(metric.Key, "_stderr") {
				continue
			}
			s := draft.Score(f, r, name, metric.Key, x)
			s.Fewshot, s.Version = shots, v.At("versions", task.Key).Text()
			s.Stderr = draft.NumberOf(task.Val.Get(metric.Key+"_stderr"), draft.NoError)
			s.N, s.Total = lightEvalCount(asked, "effective_num_docs"), lightEvalCount(asked, "original_num_docs")
			s.Limit, s.Unknown = general.Get("max_samples").Ptr(), stated
		}
	}
}

// lightEvalCount returns the first number of questions; 0 where none is stated. The harness writes -1 before it
// has loaded them.
func lightEvalCount(tasks []decode.Value, name string) int {
	for _, task := range tasks {
		if n, ok := task.Get(name).Int(); ok && n > 0 {
			return n
		}
	}
	return 0
}

// lightEvalConfiguration returns what a file states of the model's numbers: {"dtype": "bfloat16",
// "quantization": "fp8"}. Early versions write model_dtype, later ones the model's whole configuration.
func lightEvalConfiguration(general decode.Value) (out schema.Unknown) {
	for _, field := range [][2]string{
		{"dtype", "model_dtype"}, {"dtype", "model_config.dtype"}, {"quantization", "model_config.quantization"},
		{"load_in_4bit", "model_config.quantization_config.load_in_4bit"},
		{"load_in_8bit", "model_config.quantization_config.load_in_8bit"},
	} {
		text := strings.TrimPrefix(general.Path(field[1]).Text(), "torch.")
		if text != "" && out[field[0]] == nil && len(text) <= 60 {
			out.Set(field[0], text)
		}
	}
	return out
}
