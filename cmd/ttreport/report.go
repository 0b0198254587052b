package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/glob"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/parity"
	"github.com/ttreport/ttreport/site"
	"github.com/ttreport/ttreport/static"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// reportRequest says what a report is made of.
type reportRequest struct {
	dirs     []string         // folders of history documents; none for that of the workspace
	problems []schema.Problem // of this build
	view     judge.View
	part     historyPart
}

// makeReport loads history, judges it, and indexes it for writers.
func makeReport(ctx context.Context, ws *workspace.Workspace, req reportRequest) (*render.Report, error) {
	if len(req.dirs) == 0 {
		req.dirs = []string{ws.History()}
	}
	cols, bad, err := history.Load(ctx, req.dirs...)
	if err != nil {
		return nil, err
	}
	cols, left, err := req.part.of(ws, cols)
	if err != nil {
		return nil, err
	}
	judged, unlike, err := judgeHistory(ctx, ws, cols, req.view)
	if err != nil {
		return nil, err
	}
	judged.Lost = history.Lost(bad)
	notes, unread, err := ws.ReadNotes()
	if err != nil {
		return nil, failure{code: exitInput, err: err}
	}
	bad = append(append(bad, unread...), left...)
	models, devices := map[string]bool{}, map[string]bool{}
	for i := range cols.Runs {
		models[cols.Runs[i].Model.Name], devices[cols.Runs[i].Device] = true, true
	}
	for _, s := range spellings(models, devices) {
		bad = append(bad, schema.Problem{
			Severity: schema.SevWarning, Path: filepath.ToSlash(ws.History()), Code: codeSpellings,
			Found:    fmt.Sprintf("%s %q and %q, which may be one", s.fact, s.a, s.b),
			Expected: "one name for each: results under two are not compared", Used: "both",
			Hint: fmt.Sprintf("if they are one: ttreport history rename --%[1]s '%[2]s' --to-%[1]s '%[3]s' --write",
				s.fact, s.b, s.a),
		})
	}
	bad = slices.Concat(bad, unusedNames(ws, cols), unlike)
	echarts := render.Licence{
		Name: "Apache ECharts", Version: static.EChartsVersion, Licence: "Apache-2.0", File: "assets/echarts.LICENSE.txt",
	}
	return render.New(render.Input{
		Title: ws.Title(), Mode: ws.Mode, Reference: ws.Config.Reference.Model,
		Prices: ws.Config.Prices,
		Models: ws.Config.Models, Devices: ws.Config.Devices,
		Board: ws.Config.Board,
		Gate:  judged, Notes: notes, Problems: append(bad, history.Unstored(req.problems, bad, cols)...),
		Commits: render.CommitLinks{Commit: ws.Config.Site.CommitURL, Compare: ws.Config.Site.CompareURL},
		Version: versionLine(), Topics: topics(), Titles: topicTitles(), Licences: []render.Licence{echarts},
	}), nil
}

// unusedNames reports what the configuration says of a task that no score has, or of a device that no run has: a
// misspelt name would change nothing.
func unusedNames(ws *workspace.Workspace, c *columns.Columns) (out []schema.Problem) {
	config := ws.Config
	ofDevice := func(name string) bool {
		return slices.ContainsFunc(c.Runs, func(h columns.RunHead) bool { return h.Device == name })
	}
	ofTask := func(name string) bool {
		return slices.ContainsFunc(c.Scores, func(s columns.ScoreRow) bool { return glob.Any([]string{name}, s.Task) })
	}
	check := func(setting, of, expected string, names []string, isUsed func(string) bool) {
		for _, name := range slices.Sorted(slices.Values(names)) {
			if !isUsed(name) {
				out = append(out, schema.Problem{
					Severity: schema.SevWarning, Path: ws.Settings(), Code: "unused-" + of,
					Found:    fmt.Sprintf("%s: %q is not the name of any %s in the results", setting, name, of),
					Expected: expected, Used: "nothing", Hint: "correct the name, or remove it",
				})
			}
		}
	}
	tasks := slices.Concat(slices.Collect(maps.Values(config.Board.Groups))...)
	tasks = slices.Concat(tasks, config.Board.Order, config.Board.Hide)
	check("board", "task", "a task as the page Evals names it", tasks, ofTask)
	for setting, list := range map[string]map[string]float64{"prices: per_hour": config.Prices.Hour,
		"prices: per_chip_hour": config.Prices.ChipHour, "power: chassis_w": config.Power.Chassis} {
		lacks := func(h columns.RunHead) bool { return list[h.Device] == 0 }
		if slices.ContainsFunc(c.Runs, lacks) { // else the name may be of a device that is measured next
			check(setting, "device", "a device as ttreport inspect names it", slices.Collect(maps.Keys(list)), ofDevice)
		}
	}
	slices.SortStableFunc(out, func(a, b schema.Problem) int { return strings.Compare(a.Found, b.Found) })
	return out
}

// withCosts adds what tokens cost by the prices of the workspace, which are in USD.
func withCosts(c *columns.Columns, ws *workspace.Workspace) *columns.Columns {
	prices := ws.Config.Prices
	if len(prices.Hour)+len(prices.ChipHour) == 0 || cmp.Or(prices.Currency, "USD") != "USD" {
		return c
	}
	var ids []columns.StatID
	for _, name := range []string{schema.MetricCostOutput, schema.MetricCostInput, schema.MetricCostTotal} {
		ids = append(ids, columns.StatID{Metric: name, Stat: "value", Unit: "USD"})
	}
	return c.Derive(ids, func(p *columns.PointRow) (costs []float64) {
		rate := func(metric string) float64 {
			n, _ := c.Value(p, metric, "value")
			if v, ok := n.Get(); ok && v > 0 {
				return v
			}
			return math.NaN()
		}
		h := &c.Runs[p.Run]
		hour := prices.Of(h.Device, h.Chips)
		output, input, total := rate("output_tps"), rate("input_tps"), rate("total_tps")
		if math.IsNaN(input) {
			input = total - output
		}
		if math.IsNaN(total) {
			total = input + output
		}
		for _, tps := range []float64{output, input, total} {
			if !(hour > 0 && tps > 0) {
				tps = math.NaN()
			}
			costs = append(costs, hour/3600/tps*1e6)
		}
		return costs
	})
}

// withEnergy adds the energy of a token at the boundaries that the workspace describes: with the rest of the machine,
// and with the site.
func withEnergy(c *columns.Columns, ws *workspace.Workspace) *columns.Columns {
	power := ws.Config.Power
	if len(power.Chassis) == 0 {
		return c
	}
	ids := []columns.StatID{{Metric: schema.MetricEnergyChassis, Stat: "value", Unit: "J/tok"}}
	if power.PUE > 0 {
		ids = append(ids, columns.StatID{Metric: schema.MetricEnergyFacility, Stat: "value", Unit: "J/tok"})
	}
	return c.Derive(ids, func(p *columns.PointRow) (out []float64) {
		measured, def := c.Value(p, schema.MetricPower, "value")
		output, _ := c.Value(p, "output_tps", "value")
		chassis, stated := power.Chassis[c.Runs[p.Run].Device]
		w, known := measured.Get()
		tps, _ := output.Get()
		chassis += w
		for _, factor := range []float64{1, power.PUE}[:len(ids)] {
			if !stated || !known || def == schema.DefCPUs || !(tps > 0) {
				factor = math.NaN()
			}
			out = append(out, chassis*factor/tps)
		}
		return out
	})
}

// judgeHistory judges under the workspace's policy, with what the workspace says of devices. The problems are runs that
// are no repeats.
func judgeHistory(
	ctx context.Context, ws *workspace.Workspace, cols *columns.Columns, view judge.View,
) (*gate.Gate, []schema.Problem, error) {
	for i := range cols.Runs { // how many accelerators the devices have of runs that do not state it
		if h := &cols.Runs[i]; h.Chips == 0 {
			h.Chips = ws.Config.Chips[h.Device]
		}
	}
	cols = withCosts(withEnergy(cols, ws), ws)
	policy, err := ws.Policy(time.Now())
	if err != nil {
		return nil, nil, failure{code: exitUsage, err: err}
	}
	all := judge.Releases(cols, ws.Order)
	unlike := judge.Repeats(cols, all, policy, filepath.ToSlash(ws.History()))
	releases, err := judge.Narrow(cols, all, view)
	if err != nil {
		return nil, nil, releaseError("--against", err)
	}
	judged, err := gate.New(ctx, cols, releases, policy)
	if err != nil {
		return nil, nil, err
	}
	judged.Listed, judged.FailOn = ws.Order, ws.FailOn
	return judged, unlike, nil
}

// releaseNamed is the index of the release that --release names.
func releaseNamed(r *render.Report, name string) (int, error) {
	at := judge.Named(r.Releases, name)
	if at < 0 {
		return 0, releaseError("--release", judge.NewUnknownRelease(name, r.Releases))
	}
	return at, nil
}

// releaseError names the nearest of the releases that exist.
func releaseError(flag string, err error) error {
	unknown, ok := errors.AsType[*judge.UnknownRelease](err)
	if !ok {
		return err
	}
	known := "there are " + strings.Join(unknown.Newest, ", ")
	return fail(exitUsage, didYouMean(unknown.Name, unknown.Newest, "", known), "%w (%s)", err, flag)
}

// writeReports writes the newest release in the layout that was asked for.
func (o buildOptions) writeReports(sh *shell, ws *workspace.Workspace, report *render.Report) error {
	at := report.Newest()
	if o.reports == "" || at < 0 {
		return nil
	}
	list, err := reportInputs(o.public, report, at)
	if err != nil {
		return err
	}
	layout, dir := "tt-inference-server", cmp.Or(o.reportsDir, ws.Reports())
	var files []parity.File
	if o.reports == "nm-vllm" {
		layout, dir = "nm-vllm", cmp.Or(o.reportsDir, filepath.Join(ws.Reports(), "benchmark_results"))
		var runs []schema.Run
		for _, in := range list {
			runs = append(runs, in.Runs...)
		}
		files, err = parity.BenchmarkResults(runs, cmp.Or(report.Version, "ttreport"))
	} else {
		files, err = parity.Files(list)
	}
	if err != nil {
		return err
	}
	if o.public {
		text := site.PublicText(report, "")
		for i := range files {
			f := &files[i]
			if !strings.HasSuffix(f.Path, ".json") {
				f.Data = []byte(text(string(f.Data)))
				continue
			}
			// Of JSON only strings are changed, each by itself, so that it stays JSON.
			f.Data = jsonString.ReplaceAllFunc(f.Data, func(s []byte) []byte {
				return []byte(`"` + text(string(s[1:len(s)-1])) + `"`)
			})
		}
	}
	if err := writeLayout(dir, files); err != nil {
		return err
	}
	sh.say("reports   %s of %s in %s, in the layout of %s", plaintext.Plural(len(files), "file"),
		report.Releases[at].Name, dir, layout)
	return nil
}

var jsonString = lazyregexp.New(`"(?:[^"\\]|\\.)*"`)

// reportInputs are the models and devices of a release, with their runs.
func reportInputs(public bool, report *render.Report, at int) ([]parity.Input, error) {
	var list []parity.Input
	for _, pair := range report.PairsOf(at) {
		in := parity.Input{
			Model: pair.Model, Device: pair.Device, Version: report.Version, Public: public,
			Review: report.Gate.Review(at, pair.Model, pair.Device),
		}
		for _, i := range report.RunsOf(at, pair) {
			run, problem := history.Read(report.Columns.Runs[i].Path)
			if problem != nil {
				return nil, failure{code: exitInput, err: fmt.Errorf("the reports need a run that cannot be read: %s", problem)}
			}
			in.Runs = append(in.Runs, run)
		}
		list = append(list, in)
	}
	return list, nil
}

// writeLayout writes files below a folder; none where one would replace another program's.
func writeLayout(dir string, files []parity.File) error {
	for _, f := range files {
		if err := oursOrNew(filepath.Join(dir, filepath.FromSlash(f.Path))); err != nil {
			return err
		}
	}
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return fail(exitUsage, "choose another folder with --reports-out", "the reports cannot be written: %w", err)
		}
		if _, err := durable.WriteChanged(name, f.Data); err != nil {
			return fail(exitInput, "check the permissions and free space of "+dir, "the reports cannot be written: %w", err)
		}
	}
	return nil
}

// oursOrNew refuses to replace the data of a report, or a result, that another program wrote. The other files of a
// report have its name.
func oursOrNew(name string) error {
	base := filepath.Base(name)
	if !strings.HasPrefix(base, "report_data_") && !strings.HasPrefix(base, "benchmark_serving-") &&
		!strings.HasPrefix(base, "benchmark_throughput-") {
		return nil
	}
	data, err := rootfs.ReadFile(name, 64<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var report struct {
		Metadata  map[string]any `json:"metadata"`
		WrittenBy string         `json:"written_by"`
	}
	isReport := err == nil && json.Unmarshal(data, &report) == nil
	if isReport && (report.Metadata[parity.Mark] != nil || report.WrittenBy != "") {
		return nil
	}
	return fail(exitUsage, "choose another folder with --reports-out", "%s was written by another program", name)
}

// spelling is two names under which one model or device may have been measured.
type spelling struct{ fact, a, b string }

// spellings lists names that may be of one model, which differ in case or punctuation alone, or of one device, where
// one may also be a part of the other.
func spellings(models, devices map[string]bool) (out []spelling) {
	plain := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(models)) {
		var kept strings.Builder
		for i, r := range name {
			switch {
			case unicode.IsLetter(r) || unicode.IsDigit(r):
				kept.WriteRune(unicode.ToLower(r))
			case r == '.' && i > 0 && i+1 < len(name) && unicode.IsDigit(rune(name[i-1])) && unicode.IsDigit(rune(name[i+1])):
				kept.WriteByte('.') // 1.3b is not 13b
			}
		}
		letters := kept.String()
		if first, has := plain[letters]; has && letters != "" {
			out = append(out, spelling{"model", first, name})
			continue
		}
		plain[letters] = name
	}
	names := slices.Sorted(maps.Keys(devices))
	for i, b := range names {
		isOne := func(a string) bool { return !schema.SameDevice(a, b) && schema.IsDeviceWithin(a, b) }
		if first := slices.IndexFunc(names[:i], isOne); first >= 0 {
			out = append(out, spelling{"device", names[first], b})
		}
	}
	return out
}

const codeSpellings = "two-spellings"
