package ingest

import (
	"path"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/ttis"
)

// rowKey is what a row of a report and its result have in common: the name of the raw file, the workload of a model
// on a device, or the task of a model.
type rowKey struct {
	rawFile       string
	model, device string
	workload      string
	task, metric  string
}

// workloadRow returns the key of a workload without what a report does not state.
func workloadRow(f *schema.Facts, k *schema.Key) rowKey {
	short := schema.Key{Tool: k.Tool, ISL: k.ISL, OSL: k.OSL, Concurrency: k.Concurrency}
	return rowKey{model: f.Model.Name, device: schema.FoldDevice(f.Device.Name), workload: short.String()}
}

// rawFileRow returns the key of a row that names its raw file. A row without one gets a key that no file has:
// path.Base makes "." of "".
func rawFileRow(name string) rowKey { return rowKey{rawFile: path.Base(name)} }

// named reports a row that states a file; those that state none are not one another.
func (k rowKey) named() bool { return k.rawFile != "." }

// taskRow returns the key of a score. A report's score under a metric that no result has is a number of its own.
func taskRow(f *schema.Facts, s *schema.Score) rowKey {
	return rowKey{model: f.Model.Name, task: s.Task, metric: s.Metric}
}

// dropReportRows drops the rows of reports, and of the tables that reports are made of, whose results are among the
// files of the same tree. A table has more statistics than its report.
func dropReportRows(results []*result) {
	raw := map[rowKey][]*result{}
	for _, derived := range []string{"", ttis.Statistics, ttis.ReportData} {
		for _, r := range results {
			format := derivedFormat(r)
			if format != derived {
				continue
			}
			if derived != "" {
				r.dropRows(raw)
			}
			r.addRows(raw)
		}
	}
}

// derivedFormat is the format of a report or its table, "" for results.
func derivedFormat(r *result) string {
	if f := r.reading.Format; isDerived(f) {
		return f
	}
	return ""
}

// addRows adds the rows that the result stands for.
func (r *result) addRows(raw map[rowKey][]*result) {
	for i := range r.reading.Points {
		p := &r.reading.Points[i]
		for _, k := range []rowKey{
			workloadRow(&r.facts, &p.Key), rawFileRow(r.rel), rawFileRow(p.Conditions[ttis.RawFile]),
		} {
			raw[k] = append(raw[k], r)
		}
	}
	for i := range r.reading.Scores {
		k := taskRow(&r.facts, &r.reading.Scores[i])
		raw[k] = append(raw[k], r)
	}
}

// dropRows drops the rows of one report that results of its tree have.
func (r *result) dropRows(raw map[rowKey][]*result) {
	tree := reportTree(r.shown()) + "/"
	isRead := func(key rowKey) bool {
		if !key.named() {
			return false
		}
		for _, other := range raw[key] {
			if other != r && other.file != r.file && strings.HasPrefix(other.shown(), tree) {
				r.reading.PartOf = path.Dir(other.shown())
				return true
			}
		}
		return false
	}
	r.reading.Points = slices.DeleteFunc(r.reading.Points, func(p schema.Point) bool {
		return isRead(workloadRow(&r.facts, &p.Key)) || isRead(rawFileRow(p.Conditions[ttis.RawFile]))
	})
	r.reading.Scores = slices.DeleteFunc(r.reading.Scores, func(s schema.Score) bool {
		for _, part := range schema.PartsOfMean(s.Metric) {
			s.Metric = part
		}
		return isRead(taskRow(&r.facts, &s))
	})
}

// workflowTree is the folder above those in which tt-inference-server keeps results of each kind: they are one run.
// "" for any other path.
func workflowTree(shown string) string {
	for _, kind := range []string{
		"/benchmarks_output/", "/benchmarks_aiperf_output/", "/benchmarks_genai_output/", "/benchmarks_guidellm_output/",
		"/evals_output/", "/stress_tests_output/",
	} {
		if i := strings.LastIndex(shown, kind); i >= 0 {
			return shown[:i]
		}
	}
	return ""
}

// reportTree returns the folder with a report's results: above reports_output, else above its data folder, else its
// own.
func reportTree(shown string) string {
	if i := strings.Index(shown, "/reports_output/"); i >= 0 {
		return shown[:i]
	}
	dir := path.Dir(shown)
	if path.Base(dir) == "data" {
		return path.Dir(dir)
	}
	return dir
}
