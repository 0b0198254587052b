package lighteval

import (
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
			r.Scores = append(r.Scores, s)
		}
	}
	return r
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
