// This file reads mlperf_log_summary.txt, which the load generator of MLPerf Inference writes (2.0 to 5.1), and logs in
// which a harness printed several of them; and accuracy.txt, which says how right the answers of a run were.
//
// The scenario and target load are the workload; who was measured is read from the folders of a submission,
// results/<system>/<benchmark>/<scenario>/performance/run_<n>. Times are in nanoseconds. A result that the load
// generator calls INVALID is invalid here, a run for accuracy measures nothing.

package format

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// MLPerf is the format: the title and the scenario. A run for accuracy measures no speed.
var MLPerf = draft.Format{
	Name: "mlperf", Detail: "summary of the load generator", All: readMLPerf,
	Text: func(f *decode.File) bool { return len(mlPerfSummaries(f)) > 0 },
	Others: []draft.Format{
		{
			Name: "mlperf-accuracy", Detail: "not a result: a run for accuracy",
			Text: func(f *decode.File) bool {
				list := mlPerfSummaries(f)
				return len(list) > 0 && !slices.ContainsFunc(list, measuresSpeed)
			},
		},
		{
			Name: mlPerfAccuracy, Detail: "accuracy of a run", All: readMLPerfAccuracy,
			Text: func(f *decode.File) bool { return mlPerfScores(f) != nil },
		},
		{ // the scores of some benchmarks are an object, with text below it
			Name: mlPerfAccuracy, Detail: "accuracy of a run", All: readMLPerfAccuracy, Records: true,
			Sniff: func(f *decode.File, m *draft.Check) {
				m.Want(path.Base(f.Path) == "accuracy.txt" && mlPerfScores(f) != nil, "scores and a hash in an accuracy.txt")
			},
		},
	},
}

const mlPerfAccuracy = "mlperf-accuracy.txt"

// mlPerfSummaries are the summaries in a text, each from behind its title to the next one.
func mlPerfSummaries(f *decode.File) [][]byte {
	isOther := func(text []byte) bool { return !bytes.Contains(text, []byte("Scenario :")) }
	return slices.DeleteFunc(bytes.Split(f.Data, []byte("MLPerf Results Summary"))[1:], isOther)
}

func measuresSpeed(summary []byte) bool { return !bytes.Contains(summary, []byte("AccuracyOnly")) }

// mlPerfPercentile matches what begins "99.90 percentile first token latency (ns)".
var mlPerfPercentile = lazyregexp.New(`^(\d+(?:\.\d*[1-9])?)\.?0*(?:th)? percentile `)

// readMLPerf returns a point for each summary of a run for speed.
func readMLPerf(f *decode.File, r *schema.Reading) {
	list := slices.DeleteFunc(mlPerfSummaries(f), func(text []byte) bool { return !measuresSpeed(text) })
	for text := range draft.Each(f, slices.Values(list)) {
		mlPerfPoint(f, r, text)
	}
	if len(list) > 1 {
		r.Detail = fmt.Sprintf("%d summaries of the load generator", len(list))
	}
	mlPerfSystem(f, r, mlPerfPlace.FindStringSubmatch(f.Folders()))
}

// mlPerfSystem states the system and the benchmark of a place in a submission; nothing where it is none.
func mlPerfSystem(f *decode.File, r *schema.Reading, place []string) {
	if place == nil {
		return
	}
	r.Facts.Device.Name, r.Facts.Model.Name = place[1], place[2]
	at := schema.Origin{From: schema.FromPath, Where: f.Path}
	r.Provenance = map[string]schema.Origin{"device.name": at, "model.name": at}
}

func mlPerfPoint(f *decode.File, r *schema.Reading, text []byte) {
	values := map[string]string{}
	for line := range bytes.Lines(text) {
		label, value, ok := strings.Cut(string(bytes.TrimSpace(line)), ":")
		label = mlPerfPercentile.ReplaceAllString(strings.ToLower(strings.Join(strings.Fields(label), " ")), "p$1 ")
		if _, has := values[label]; ok && !has && len(values) < 300 && len(label) < 80 {
			values[label] = strings.TrimSpace(value)
		}
	}
	v := decode.Of(values)
	d := draft.New(f, r, v, "mlperf")
	d.Dim(schema.DimLabel, values["scenario"])
	scenario := strings.ToLower(values["scenario"])
	// A query of the stream scenarios is a request; in Offline all samples are one query, and its latency is the length
	// of the run.
	if scenario != "offline" {
		d.Fields(v, map[string]string{
			"e2el ns last-content": "{} latency (ns)", "ttft ns first-content": "{} first token latency (ns)",
			"tpot ns excl-first": "{} time to output token (ns)|{} time per output token (ns)",
		})
	}
	d.Fields(v, map[string]string{
		"rps":        "completed samples per second|samples per second|qps w/o loadgen overhead",
		"output_tps": "completed tokens per second|tokens per second|tps w/o loadgen overhead",
	})
	switch scenario {
	case "server":
		d.Fields(v, map[string]string{"key rate": "target_qps"})
	case "singlestream":
		d.Key.Concurrency = new(1.)
	case "multistream":
		d.Fields(v, map[string]string{"key concurrency": "samples_per_query"})
	}
	said := values["result is"] // what the load generator says of the run
	switch said {
	case "VALID":
	case "":
		d.Status = schema.StatusPartial
		d.Problem(schema.SevWarning, "truncated", decode.Value{}, "a summary that does not say whether the result is valid",
			"Result is : VALID", "no verdict")
	default:
		d.Status = schema.StatusInvalid
		d.Problem(schema.SevWarning, "invalid-by-tool", decode.Value{},
			"the load generator calls the result "+said+mlPerfReasons(text), "Result is : VALID", "no verdict")
	}
	for _, name := range []string{
		"samples_per_query", "min_duration (ms)", "min_query_count", "performance_sample_count",
	} {
		d.Condition(name, values[name])
	}
	d.Keep("sut", values["sut name"])
	if said != "" {
		r.Detail += ", " + said
		d.Keep("run_result", said)
	}
	d.Done()
}

// mlPerfReasons quotes why a result is not valid: the constraints that were not satisfied, and what is recommended.
func mlPerfReasons(text []byte) string {
	var out []string
	for line := range bytes.Lines(text) {
		label, value, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		switch label = strings.TrimSpace(label); {
		case strings.HasSuffix(label, "satisfied") && strings.EqualFold(strings.TrimSpace(value), "no"):
			out = append(out, label+": no")
		case strings.HasPrefix(label, "* "):
			out = append(out, strings.TrimSpace(label[2:]))
		}
	}
	return strings.TrimSuffix(": "+strings.Join(out[:min(len(out), 8)], "; "), ": ")
}

// mlPerfPlace is the path of a result within a submission.
var mlPerfPlace = lazyregexp.New(
	`(?i)(?:^|/)([^/]+)/([^/]+)/(offline|server|interactive|singlestream|multistream)/performance(?:/|_console\.out$)`)

// mlPerfAccuracyPlace is the path of the accuracy of a run, or of a test of compliance.
var mlPerfAccuracyPlace = lazyregexp.New(`(?i)(?:^|/)([^/]+)/([^/]+)/` +
	`(offline|server|interactive|singlestream|multistream)/(?:(TEST\d+)/)?accuracy/`)

var (
	// mlPerfScore matches "accuracy=76.158%", "'rouge1': 44.45" and "mean = 0.86242".
	mlPerfScore = lazyregexp.New(`['"]?([A-Za-z][\w @.-]*?)['"]?\s*[:=]\s*(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(%?)`)
	// mlPerfBetween matches what else stands in a line of scores.
	mlPerfBetween = lazyregexp.New(`^(?:[A-Z][\w ]*:)?[{}, ]*$`)
	mlPerfHash    = lazyregexp.New(`^[0-9a-f]{64}\s*(?:\n|$)`)
	mlPerfCounts  = draft.Names("good total queries gen_len gen_num gen_tok_len tokens_per_sample")
)

// mlPerfScores are those of an accuracy.txt, each with its name, number and unit: the last line of nothing else before
// the hash that truncating the log of the answers left. nil for any other text.
func mlPerfScores(f *decode.File) (scores [][]string) {
	text, hash, _ := bytes.Cut(f.Data, []byte("\nhash="))
	if !mlPerfHash.Match(hash[:min(len(hash), 100)]) {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		list := mlPerfScore.FindAllStringSubmatch(line, -1)
		if line = strings.TrimSpace(line); list != nil &&
			mlPerfBetween.MatchString(mlPerfScore.ReplaceAllString(line, "")) {
			scores = list
		}
	}
	return scores
}

func readMLPerfAccuracy(f *decode.File, r *schema.Reading) {
	place := mlPerfAccuracyPlace.FindStringSubmatch(f.Folders())
	mlPerfSystem(f, r, place)
	task, filter := "accuracy", ""
	if place != nil {
		task, filter = place[2], strings.TrimSpace(strings.ToLower(place[3])+" "+place[4])
	}
	items := 0
	for _, x := range mlPerfScores(f) {
		value, _ := decode.ParseFloat(x[2])
		if x[1] == "total" || x[1] == "gen_num" {
			items = int(value)
		}
		if mlPerfCounts(x[1]) {
			continue
		}
		if x[3] != "" {
			value /= 100
		}
		draft.Score(f, r, task, strings.Replace(x[1], "Word Error Rate", "wer", 1), value).Filter = filter
	}
	for i := range r.Scores {
		r.Scores[i].N = items
	}
}
