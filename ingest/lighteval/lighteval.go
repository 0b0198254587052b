package lighteval

import (
	"encoding/json"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Format is the name of the format.
const Format = "lighteval"

// Detect asks for the general configuration that lighteval writes beside the results.
func Detect(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Format, Detail: "results of evals"}}
	v := f.First
	m.Want(v.Get("config_general").Kind() == decode.Object, "config_general")
	m.Want(v.Get("results").Kind() == decode.Object, "results")
	return m.Match
}

var stamp = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d`)

// Read returns a score for each metric of each task.
func Read(f *decode.File) schema.Reading {
	v := f.First
	r := schema.Reading{Format: Format, Detail: "results of evals"}
	general := v.Get("config_general")
	for _, id := range []string{
		general.Get("model_name").Str(), general.At("model_config", "model_name").Str(),
		general.At("model_config", "model").Str(),
	} {
		if r.Facts.Model.ID == "" {
			r.Facts.Model.ID = id
		}
	}
	if t, err := time.Parse("2006-01-02T15-04-05", stamp.FindString(path.Base(f.Path))); err == nil {
		r.Facts.Start, r.Facts.End, r.Facts.StartNote = t, t, "by the file's name, zone not stated"
	}
	stated := configuration(general)
	for _, task := range v.Get("results").Members() {
		name, shots := split(task.Key)
		if name == "all" || strings.HasSuffix(name, ":_average") {
			continue
		}
		for _, metric := range task.Val.Members() {
			x, ok := metric.Val.Float()
			if !ok || strings.HasSuffix(metric.Key, "_stderr") {
				continue
			}
			s := schema.Score{
				Task: name, Metric: metric.Key, Value: schema.Num(x), Fewshot: shots, Source: f.Source(r.Format),
				Stderr: schema.Missing("not in the file"), Version: v.At("versions", task.Key).Text(),
			}
			if se, ok := task.Val.Get(metric.Key + "_stderr").Float(); ok {
				s.Stderr = schema.Num(se)
			}
			s.N, s.Total = questions(v.Get("config_tasks"), task.Key, name)
			s.Limit, s.Unknown = general.Get("max_samples").Ptr(), stated
			r.Scores = append(r.Scores, s)
		}
	}
	return r
}

// questions returns how many of a task's questions were asked, and how many it has; 0 where config_tasks does not say.
// The harness writes -1 before it has loaded the questions.
func questions(tasks decode.Value, key, name string) (n, total int) {
	for _, k := range []string{key, name} {
		if x, ok := tasks.At(k, "effective_num_docs").Int(); ok && x > 0 && n == 0 {
			n = x
		}
		if x, ok := tasks.At(k, "original_num_docs").Int(); ok && x > 0 && total == 0 {
			total = x
		}
	}
	return n, total
}

// configuration returns what a file states of the model's numbers: {"dtype": "bfloat16", "quantization": "fp8"}. Early
// versions write model_dtype, later ones the model's whole configuration.
func configuration(general decode.Value) schema.Unknown {
	out := schema.Unknown{}
	model := general.Get("model_config")
	for _, field := range []struct {
		name  string
		value decode.Value
	}{
		{"dtype", general.Get("model_dtype")}, {"dtype", model.Get("dtype")}, {"quantization", model.Get("quantization")},
		{"load_in_4bit", model.At("quantization_config", "load_in_4bit")},
		{"load_in_8bit", model.At("quantization_config", "load_in_8bit")},
	} {
		text := strings.TrimPrefix(field.value.Text(), "torch.")
		if text == "" || out[field.name] != nil || len(text) > 60 {
			continue
		}
		if raw, err := json.Marshal(text); err == nil {
			out[field.name] = raw
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// split takes the shots out of a task's name: "leaderboard|arc:challenge|25", in later versions with "|0" after it.
func split(key string) (name string, shots *int) {
	parts := strings.Split(key, "|")
	if len(parts) < 3 {
		return key, nil
	}
	if n, err := strconv.Atoi(parts[2]); err == nil {
		shots = &n
	}
	return parts[0] + "|" + parts[1], shots
}
