// This file reads the JSON logs of Inspect, the evaluation framework of the UK AI Security Institute
// (inspect_ai, log version 2, as written by 0.3.285). Its .eval archives use a compression that is not read; "inspect
// log convert --to json" converts them.
//
// Where samples were scored right or wrong, their outcomes are kept for paired tests, by sample id and epoch.

package format

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

const inspectAside = "inspect-aside"

// Inspect is the format: the log's eval, plan and status. Within an .eval archive are also how a log began, which the
// log repeats, and single answers.
var Inspect = draft.Format{
	Name: "inspect", Detail: "log of an eval", Wants: draft.Wants("eval.task_id", "plan{}", "status"), All: readInspect,
	Sniff: func(f *decode.File, m *draft.Check) {
		m.Detail = cmp.Or(f.First.At("eval", "packages", "inspect_ai").Str(), m.Detail)
	},
	Others: []draft.Format{
		{
			Name: inspectAside, Detail: "not a result: how the log began", Wants: draft.Wants("eval.task_id", "plan"),
			Aside: true,
			Sniff: func(f *decode.File, m *draft.Check) {
				m.Not(f.First.Has("status") || path.Base(f.Path) != "start.json", "a log that ended")
			},
		},
		draft.Aside(inspectAside, "one answer", "id&epoch&target&scores"),
	},
}

// readInspect returns a score for every metric of every scorer. A log that does not end in success has none.
func readInspect(f *decode.File, r *schema.Reading) {
	v := f.First.Track()
	r.Facts.Model.ID = strings.TrimPrefix(v.At("eval", "model").Str(), "openai/")
	r.Facts.Start = draft.Time(v.At("stats", "started_at").Str())
	r.Facts.End = draft.Time(v.At("stats", "completed_at").Str())
	if status := v.Get("status").Str(); status != "success" || v.Get("results").Kind() != decode.Object {
		draft.Problem(f, r, schema.SevError, "eval-failed", v.Get("status"),
			"status "+status+": "+v.At("error", "message").Str(), "success", "no score",
			"run the eval again; with the server down inspect exits 0 as well")
		return
	}
	stated := schema.Unknown{schema.Settings: schema.JSONString(inspectSettings(v))}
	for s := range v.At("results", "scores").Items() {
		for _, metric := range s.Get("metrics").Members() {
			if !strings.Contains(metric.Key, "stderr") && metric.Key != "std" && metric.Key != "var" {
				inspectScore(f, r, v, s, metric).Unknown = stated
			}
		}
	}
	if len(r.Scores) == 0 {
		draft.Problem(f, r, schema.SevError, "no-scores", v.Get("results"), "no score in results", "a scorer with a metric")
	}
	done, all := v.At("results", "completed_samples").Float0(), v.At("results", "total_samples").Float0()
	if done < all {
		draft.Problem(f, r, schema.SevWarning, "samples-missing", v.At("results", "completed_samples"),
			fmt.Sprintf("%.0f of %.0f samples were completed", done, all), "all of them", "the scores of those")
	}
	r.Extra = draft.Foreign(nil, v, "version plan invalidated tags metadata reductions samples error log_updates")
}

// unset are settings that change how a server is asked, and not what.
var unset = draft.Names(`max_connections max_retries timeout attempt_timeout max_concurrency cache cache_prompt batch
	logprobs top_logprobs seed base_url model_base_url api_key port host device device_map gpu_memory_utilization
	tensor_parallel_size`)

const longestSetting = 60

// inspectSettings are what a log states of how the model was asked: the task's and the model's own arguments, those of
// generation, and who serves it ("openrouter" of "openrouter/openai/gpt-oss-20b"); "none" for none.
func inspectSettings(v decode.Value) string {
	set := map[string]string{}
	for _, from := range []decode.Value{v.At("eval", "task_args"), v.At("eval", "model_args"),
		v.At("eval", "model_generate_config"), v.At("plan", "config")} {
		for _, m := range from.Members() {
			if m.Val.Kind() == decode.Null || unset(m.Key) {
				continue
			}
			text := cmp.Or(m.Val.Text(), string(m.Val.Raw()))
			if len(text) > longestSetting {
				text = fmt.Sprintf("sha256:%.6x", sha256.Sum256([]byte(text)))
			}
			set[m.Key] = redact.Text(text)
		}
	}
	if parts := strings.Split(v.At("eval", "model").Str(), "/"); len(parts) > 2 && parts[0] != "openai" {
		set["provider"] = parts[0]
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(set)) {
		list = append(list, name+"="+set[name])
	}
	return cmp.Or(strings.Join(list, ", "), "none")
}

func inspectScore(f *decode.File, r *schema.Reading, v, s decode.Value, metric decode.Member) *schema.Score {
	out := draft.Score(f, r, v.At("eval", "task").Str(), metric.Key, 0)
	out.Filter, out.Version = s.Get("name").Str(), v.At("eval", "task_version").Text()
	if slices.Contains([]string{"accuracy", "mean", "f1", "exact", "includes", "match"}, metric.Key) {
		out.Direction = "higher" // of others a log says nothing
	}
	out.Value = draft.NumberOf(metric.Val.Get("value"), "not a number")
	if metric.Key == "accuracy" || metric.Key == "mean" {
		out.Stderr = draft.NumberOf(s.At("metrics", "stderr", "value"), draft.NoError)
	}
	if n, ok := s.Get("scored_samples").Float(); ok {
		out.N = int(n)
	} else {
		out.N = int(v.At("results", "completed_samples").Float0())
	}
	out.Total = int(v.At("eval", "dataset", "samples").Float0())
	if n := v.At("eval", "config", "limit").Ptr(); n != nil && *n < float64(out.Total) {
		out.Limit = n
	}
	if metric.Key == "accuracy" {
		out.Outcomes, out.Items = inspectOutcomes(v, out.Filter, s.At("metrics", "stderr", "params", "cluster").Str())
	}
	return out
}

// inspectOutcomes returns the samples' outcomes in the order of their ids, with how many epochs each has where all have
// as many; nil if some sample is neither right nor wrong. cluster is the member of their metadata by which the log's
// own standard error groups them, if it does.
func inspectOutcomes(v decode.Value, scorer, cluster string) (*schema.Outcomes, []string) {
	type item struct {
		id    string // with the epoch, after a separator that no id has; must not change: hashes are compared
		of    string // the item
		group string
		right bool
	}
	var list []item
	for s := range v.Get("samples").Items() {
		value := s.At("scores", scorer, "value")
		right, isGraded := map[string]bool{"C": true, "I": false}[value.Str()]
		if x, ok := value.Float(); ok {
			right, isGraded = x == 1, x == 0 || x == 1
		}
		if !isGraded {
			return nil, nil
		}
		of := s.Get("id").Text()
		list = append(list, item{of + "\x00" + s.Get("epoch").Text(), of, s.At("metadata", cluster).Text(), right})
	}
	if len(list) == 0 {
		return nil, nil
	}
	slices.SortFunc(list, func(a, b item) int { return strings.Compare(a.id, b.id) })
	h, o, epochs := sha256.New(), &schema.Outcomes{}, map[string]int{}
	for _, x := range list {
		epochs[x.of]++
		_, _ = h.Write([]byte(x.id + "\x00")) // a hash never fails
		o.Right = append(o.Right, x.right)
	}
	o.Items = hex.EncodeToString(h.Sum(nil))[:16]
	k := epochs[list[0].of]
	for _, n := range epochs {
		if n != k { // samples whose epochs are lost count each for itself
			k = 1
		}
	}
	if k > 1 {
		o.Samples = k
	}
	var ids, groups []string
	for i := 0; i < len(list); i += k {
		ids, groups = append(ids, list[i].of), append(groups, list[i].group)
	}
	if cluster != "" {
		o.Cluster(groups)
	}
	return o, ids
}
