package rows

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// Text is a text of people or tools: no spreadsheet takes it for a formula, a public site may have to change it, and
// where its column is optional an empty one is absent.
type Text string

// IsText tells such a text from a name of ours.
func (Text) IsText() {}

// MarshalCSV implements gocsv.TypeMarshaller.
func (t Text) MarshalCSV() (string, error) {
	if t != "" && strings.ContainsRune("=+-@\t\r", rune(t[0])) {
		return "'" + string(t), nil
	}
	return string(t), nil
}

// name is a word of ours, which no public site changes.
type name string

// Num is a number; in CSV it has seven digits.
type Num float64

// MarshalCSV implements gocsv.TypeMarshaller.
func (n Num) MarshalCSV() (string, error) {
	return strconv.FormatFloat(latency.Round(float64(n), 7), 'g', -1, 64), nil
}

// num is a number or its absence, finite one that is absent when it is not finite.
func num(n schema.Number) *Num { return (*Num)(n.Ptr()) }

func finite(v float64) *Num {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return (*Num)(&v)
}

// stated is a number, or a count, of which 0 says that it is not known.
func stated[T, O int | int64 | float64 | Num](v T) *O {
	if v == 0 {
		return nil
	}
	out := O(v)
	return &out
}

// Run is a row of the Parquet table runs.
type Run struct {
	Partition string     `parquet:"release,dict"`
	Run       string     `parquet:"run"`
	Channel   string     `parquet:"channel,optional,dict"`
	Start     *time.Time `parquet:"start_utc,optional,timestamp"`
	End       *time.Time `parquet:"end_utc,optional,timestamp"`
	Model     string     `parquet:"model,dict"`
	Device    string     `parquet:"device,optional,dict"`
	Simulated bool       `parquet:"simulated"`
	Impl      string     `parquet:"impl,optional,dict"`
	Engine    string     `parquet:"engine,optional,dict"`
	Version   string     `parquet:"engine_version,optional,dict"`
	Firmware  string     `parquet:"firmware,optional,dict"`
	Errors    int32      `parquet:"errors"`
	Warnings  int32      `parquet:"warnings"`
}

func runs(r *render.Report, release int) []Run {
	moment := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		t = t.UTC()
		return &t
	}
	var out []Run
	for _, i := range r.Releases[release].Runs {
		h := &r.Columns.Runs[i]
		out = append(out, Run{
			Partition: r.Releases[release].Name, Run: h.ID, Channel: h.Channel, Start: moment(h.Start), End: moment(h.End),
			Model: h.Model.Name, Device: h.Device, Simulated: h.IsSimulated(), Impl: h.System().Impl, Engine: h.Engine,
			Version: h.Version, Firmware: h.Firmware, Errors: int32(h.Errors), Warnings: int32(h.Warnings),
		})
	}
	return out
}

// Point is a row of points.csv, and with one statistic of one metric a row of the Parquet table points, so that every
// tool's metrics have one schema. A point without numbers has one row. Partition is the name under which the release is
// judged, which a build without a release has too.
type Point struct {
	Partition   string `csv:"-" parquet:"release,dict"`
	Release     Text   `csv:"release" parquet:"-"`
	Channel     Text   `csv:"channel" parquet:"-"`
	Run         Text   `csv:"run" parquet:"run,dict"`
	Start       Text   `csv:"start_utc" parquet:"-"`
	Model       Text   `csv:"model" parquet:"model,dict"`
	Device      Text   `csv:"device" parquet:"device,optional,dict"`
	Simulated   bool   `csv:"simulated" parquet:"simulated"`
	Impl        Text   `csv:"impl" parquet:"-"`
	Engine      Text   `csv:"engine" parquet:"-"`
	Version     Text   `csv:"engine_version" parquet:"-"`
	Task        Text   `csv:"task" parquet:"task,optional,dict"`
	Tool        Text   `csv:"tool" parquet:"tool,optional,dict"`
	ISL         *Num   `csv:"isl" parquet:"isl,optional"`
	OSL         *Num   `csv:"osl" parquet:"osl,optional"`
	Concurrency *Num   `csv:"concurrency" parquet:"concurrency,optional"`
	Rate        *Num   `csv:"rate_req_s" parquet:"rate_req_s,optional"`
	Dataset     Text   `csv:"dataset" parquet:"dataset,optional,dict"`
	Key         string `csv:"-" parquet:"key,dict"` // of the workload, with everything that names it
	Dims        Text   `csv:"dims" parquet:"-"`
	// how the system was set up: backend, tp, quantisation, build settings
	Configuration Text   `csv:"configuration" parquet:"configuration,optional,dict"`
	Repeat        int32  `csv:"repeat" parquet:"repeat"`
	Status        Text   `csv:"status" parquet:"status,dict"`
	Missing       Text   `csv:"-" parquet:"missing_reason,optional,dict"`
	Metric        string `csv:"-" parquet:"metric,optional,dict"`
	Stat          string `csv:"-" parquet:"stat,optional,dict"`
	Unit          string `csv:"-" parquet:"unit,optional,dict"`
	Definition    string `csv:"-" parquet:"definition,optional,dict"`
	Value         *Num   `csv:"-" parquet:"value,optional"`
}

func pointOf(r *render.Report, release int, p *columns.PointRow) Point {
	c := r.Columns
	h, k := &c.Runs[p.Run], &c.Keys[p.Key]
	out := Point{
		Partition: r.Releases[release].Name, Release: Text(h.Release), Channel: Text(h.Channel), Run: Text(h.ID),
		Model: Text(h.Model.Name), Device: Text(h.Device), Simulated: h.IsSimulated(), Impl: Text(h.System().Impl),
		Engine: Text(h.Engine), Version: Text(h.Version), Task: Text(k.Task), Tool: Text(k.Tool), ISL: (*Num)(k.ISL),
		OSL: (*Num)(k.OSL), Concurrency: (*Num)(k.Concurrency), Rate: (*Num)(k.Rate), Dataset: Text(k.Dataset),
		Key: c.KeyName(p.Key), Repeat: int32(p.Repeat), Status: Text(p.StatusWord()), Missing: Text(c.Reasons[p.Reason]),
	}
	if !h.Start.IsZero() {
		out.Start = Text(h.Start.UTC().Format(time.RFC3339))
	}
	workload, configuration := k.Parts()
	out.Dims, out.Configuration = dimsText(workload.Dims), dimsText(configuration)
	return out
}

// dimsText are dimensions as they stand in a key: sorted name=value.
func dimsText(dims map[string]string) Text {
	_, text, _ := strings.Cut(schema.Key{Dims: dims}.String(), "rate=-/-/")
	return Text(text)
}

// points are the points of a release.
func points(r *render.Report, release int) (out []*columns.PointRow) {
	for _, run := range r.Releases[release].Runs {
		for i := r.Columns.Runs[run].FirstPoint; i < r.Columns.Runs[run].PointsEnd; i++ {
			out = append(out, &r.Columns.Points[i])
		}
	}
	return out
}

// statistics are the points of a release with a row for each statistic.
func statistics(r *render.Report, release int) (out []Point) {
	for _, p := range points(r, release) {
		row, before := pointOf(r, release, p), len(out)
		r.Columns.Values(p, func(s columns.StatID, v float64) {
			row.Metric, row.Stat, row.Unit, row.Definition, row.Value = s.Metric, s.Stat, s.Unit, s.Def, (*Num)(&v)
			if !schema.TailHolds(s.Stat, 0) { // of too few requests there is none, as in every other output
				shown := r.Shown(p, s.Metric, s.Stat)
				row.Value, row.Missing = num(shown), Text(shown.Why())
			}
			out = append(out, row)
			row.Missing = ""
		})
		if len(out) == before {
			out = append(out, row)
		}
	}
	return out
}

// Score is a row of scores.csv and of the Parquet table scores.
type Score struct {
	Partition string `csv:"-" parquet:"release,dict"`
	Release   Text   `csv:"release" parquet:"-"`
	Run       Text   `csv:"run" parquet:"run,dict"`
	Model     Text   `csv:"model" parquet:"model,dict"`
	Device    Text   `csv:"device" parquet:"device,optional,dict"`
	Simulated bool   `csv:"simulated" parquet:"simulated"`
	Task      Text   `csv:"task" parquet:"task,optional,dict"`
	Metric    Text   `csv:"metric" parquet:"metric,optional,dict"`
	Filter    Text   `csv:"filter" parquet:"filter,optional,dict"`
	Value     *Num   `csv:"value" parquet:"value,optional"`
	Stderr    *Num   `csv:"stderr" parquet:"stderr,optional"`
	Low       *Num   `csv:"value_low" parquet:"value_low,optional"` // 95 %
	High      *Num   `csv:"value_high" parquet:"value_high,optional"`
	N         *int64 `csv:"n" parquet:"n,optional"`
	Total     *int64 `csv:"total" parquet:"-"`
	Fewshot   *int   `csv:"fewshot" parquet:"-"`
	Limit     *Num   `csv:"limit" parquet:"-"`
	Direction Text   `csv:"direction" parquet:"-"`
	Missing   Text   `csv:"missing_reason" parquet:"missing_reason,optional,dict"`
	Impl      Text   `csv:"-" parquet:"-"`
}

// Scores returns the scores of a release.
func Scores(r *render.Report, release int) (out []Score) {
	for _, run := range r.Releases[release].Runs {
		h := &r.Columns.Runs[run]
		for _, s := range r.Columns.ScoresOf(run) {
			one := Score{
				Partition: r.Releases[release].Name, Release: Text(h.Release), Run: Text(h.ID), Model: Text(h.Model.Name),
				Device: Text(h.Device), Simulated: h.IsSimulated(), Task: Text(s.Task), Metric: Text(s.Metric),
				Filter: Text(s.Filter), Value: num(s.Value), Stderr: num(s.Stderr), N: stated[int, int64](s.N),
				Total: stated[int, int64](s.Total), Fewshot: s.Fewshot, Limit: (*Num)(s.Limit), Direction: Text(s.Direction),
				Missing: Text(s.Value.Why()), Impl: Text(h.System().Impl),
			}
			if lo, hi, known := judge.ScoreInterval(&s.Score); known {
				one.Low, one.High = finite(lo), finite(hi)
			}
			out = append(out, one)
		}
	}
	return out
}

// Verdict is a row of verdicts.csv and of the Parquet table verdicts, and a verdict in JSON.
type Verdict struct {
	Partition string         `csv:"-" parquet:"release,dict" json:"-"`
	ID        Text           `csv:"id" parquet:"id" json:"id"`
	Release   Text           `csv:"release" parquet:"-" json:"-"`
	Run       Text           `csv:"run" parquet:"run,optional,dict" json:"run"` // "" of a number that no run has
	Model     Text           `csv:"model" parquet:"model,dict" json:"model"`
	Device    Text           `csv:"device" parquet:"device,optional,dict" json:"device"`
	Simulated bool           `csv:"simulated" parquet:"simulated" json:"-"`
	Impl      string         `csv:"-" parquet:"-" json:"impl,omitempty"`
	Workload  Key            `csv:"-" parquet:"-" json:"key"`
	Key       Text           `csv:"key" parquet:"key,dict" json:"-"`
	Metric    Text           `csv:"metric" parquet:"metric,optional,dict" json:"metric"`
	Stat      Text           `csv:"stat" parquet:"stat,optional,dict" json:"stat"`
	Def       string         `csv:"-" parquet:"-" json:"def,omitempty"`
	Against   schema.Against `csv:"against" parquet:"against,optional,dict" json:"against"`
	Level     Text           `csv:"level" parquet:"level,optional,dict" json:"level,omitempty"`
	Required  bool           `csv:"required" parquet:"-" json:"required,omitempty"`
	Requires  *bool          `csv:"-" parquet:"required,optional" json:"-"` // of a target
	Verdict   name           `csv:"verdict" parquet:"verdict,dict" json:"verdict"`
	Evidence  name           `csv:"evidence" parquet:"evidence,optional,dict" json:"evidence,omitempty"`
	Large     bool           `csv:"-" parquet:"-" json:"large,omitempty"` // inconclusive, and beyond what matters
	Change    string         `csv:"-" parquet:"change,optional,dict" json:"change,omitempty"`
	Value     *Num           `csv:"value" parquet:"value,optional" json:"value"`
	Reference *Num           `csv:"reference" parquet:"reference,optional" json:"reference"`
	Unit      Text           `csv:"unit" parquet:"unit,optional,dict" json:"-"`
	Effect    *Num           `csv:"effect_positive_is_worse" parquet:"effect_positive_is_worse,optional" json:"effect"`
	Interval  *[2]float64    `csv:"-" parquet:"-" json:"interval"`
	Low       *Num           `csv:"effect_low" parquet:"effect_low,optional" json:"-"` // 95 %
	High      *Num           `csv:"effect_high" parquet:"effect_high,optional" json:"-"`
	P         *Num           `csv:"-" parquet:"-" json:"p"`
	Q         *Num           `csv:"-" parquet:"-" json:"q"`
	Limit     *Num           `csv:"limit" parquet:"-" json:"-"` // least change that matters; of targets the tolerance
	Noise     *Num           `csv:"noise" parquet:"-" json:"-"` // one standard deviation, relative
	Releases  *int64         `csv:"baseline_releases" parquet:"-" json:"-"`
	N         *int64         `csv:"n" parquet:"n,optional" json:"n"`
	First     string         `csv:"-" parquet:"-" json:"first,omitempty"`
	Follow    *followup      `csv:"-" parquet:"-" json:"followup,omitempty"`
	Reason    Text           `csv:"reason" parquet:"reason,optional,dict" json:"reason"`
	Detail    Text           `csv:"detail" parquet:"-" json:"-"` // what people and tools wrote, and what differs
	Decision  Text           `csv:"decision" parquet:"decision,optional,dict" json:"-"`
}

type followup struct {
	Release string `json:"release"`
	Again   bool   `json:"seen_again"`
}

// verdictOf is the row of a verdict; partition is the release in which it stands.
func verdictOf(v *schema.Verdict, partition string) Verdict {
	row := Verdict{
		Partition: partition, ID: Text(v.ID), Release: Text(v.Release), Run: Text(v.Run), Model: Text(v.Model),
		Device: Text(v.Device), Simulated: schema.SameDevice(v.Device, schema.Simulated), Impl: v.Impl,
		Workload: keyOf(v.Key), Key: Text(v.Key.String()), Metric: Text(v.Metric), Stat: Text(v.Stat), Def: v.Def,
		Against: v.Against, Level: Text(v.Level), Required: v.Required, Verdict: name(v.Outcome.String()),
		Evidence: name(v.Evidence.String()),
		Large:    v.Large, Change: v.Change, Value: num(v.Value), Reference: num(v.Ref),
		Unit: Text(schema.Unit(v.Metric)), Effect: num(v.Effect), Interval: v.Interval, P: num(v.P), Q: num(v.Q),
		N: stated[int, int64](v.N), First: v.First,
	}
	if v.Against == schema.AgainstTarget {
		row.Requires = &v.Required
	}
	if v.Interval != nil {
		row.Low, row.High = finite(v.Interval[0]), finite(v.Interval[1])
	}
	if v.Follow.Release != "" {
		row.Follow = &followup{v.Follow.Release, v.Follow.Again}
	}
	if v.Decision != nil {
		row.Decision = Text(v.Decision.ID)
	}
	if v.Reason != nil {
		row.Reason = Text(v.Reason.Code())
	}
	switch r := v.Reason.(type) {
	case schema.Change:
		row.Limit, row.Noise, row.Releases = stated[float64, Num](r.Limit), stated[float64, Num](r.Noise),
			stated[int, int64](r.Releases)
		said := []string{r.Conditions, r.Differs, r.Build, r.SameBuild, r.SameCommit}
		said = slices.DeleteFunc(said, func(s string) bool { return s == "" })
		// Some spreadsheets show narrow spaces as boxes.
		row.Detail = Text(strings.ReplaceAll(strings.Join(said, "; "), words.Thin, " "))
	case schema.EvalChange:
		row.Limit, row.Releases = stated[float64, Num](r.Limit), stated[int, int64](r.Releases)
		row.Detail = Text(r.Conditions)
	case schema.Limit:
		row.Limit, row.Noise = num(schema.Num(r.Tolerance)), stated[float64, Num](r.Noise)
	case schema.EvalLimit:
		row.Limit = num(schema.Num(r.Tolerance))
	case schema.NoNumber:
		row.Detail = Text(r.Why)
	case schema.ExcludedBy:
		row.Detail = Text(r.Why)
	case schema.InvalidPoint:
		row.Detail = Text(r.Why)
	}
	return row
}

// verdicts are those of a release that are wanted, first against targets, then against history.
func verdicts(r *render.Report, release int, wanted func(*schema.Verdict) bool) []Verdict {
	f, rows := r.Gate.Findings(release), []Verdict{}
	for _, list := range [][]schema.Verdict{f.Targets, f.History} {
		for i := range list {
			if wanted(&list[i]) {
				rows = append(rows, verdictOf(&list[i], r.Releases[release].Name))
			}
		}
	}
	return rows
}

// Verdicts returns the rows of verdicts.csv of a release: those that show something. That a number is unchanged, is
// inconclusive with a change of less than what matters, or has no history or target yet, follows from its line in
// points.csv and from the counts on the release's page; as rows here they were half of the files, and Parquet has them.
// Where inconclusive numbers fail a release, all are here. A reason is a code and numbers: the sentences of package
// words were most of the file, and a script had to take the numbers out of them.
func Verdicts(r *render.Report, release int) []Verdict {
	all := r.Gate.FailsOn(release)[gate.FailInconclusive]
	return verdicts(r, release, func(v *schema.Verdict) bool {
		switch v.Outcome {
		case schema.Unchanged, schema.NoBaseline, schema.NoTarget:
			return false
		case schema.Inconclusive:
			return all || v.Large || v.Decision != nil || v.Against == schema.AgainstTarget
		}
		return true
	})
}

// Change is a row of the Parquet table changes, and a change in JSON: one that a release sees, as it sees it.
type Change struct {
	Partition string           `parquet:"release,dict" json:"-"`
	ID        string           `parquet:"change" json:"id"`
	Worse     bool             `parquet:"worse" json:"worse"`
	Evidence  name             `parquet:"evidence,dict" json:"evidence"`
	State     name             `parquet:"state,dict" json:"state"`
	Open      bool             `parquet:"open" json:"open"` // gate.FailOpen
	Since     string           `parquet:"since,dict" json:"since"`
	Votes     map[string]int   `parquet:"-" json:"votes"`                   // numbers by release in which they begin
	Found     string           `parquet:"found,optional,dict" json:"found"` // what confirmed it
	Ended     string           `parquet:"ended,optional,dict" json:"ended,omitempty"`
	Models    []string         `parquet:"models,list" json:"models"`
	Devices   []string         `parquet:"devices,list" json:"devices"`
	Metrics   []string         `parquet:"metrics,list" json:"metrics"`
	Points    int64            `parquet:"points" json:"points"`
	Numbers   int64            `parquet:"numbers" json:"numbers"`
	Of        int64            `parquet:"of_numbers" json:"of"` // measured on these models and devices
	Effect    *Num             `parquet:"effect_positive_is_worse,optional" json:"effect"`
	Interval  [2]Num           `parquet:"-" json:"interval"`
	Low       Num              `parquet:"effect_low" json:"-"` // 95 %
	High      Num              `parquet:"effect_high" json:"-"`
	Limit     Num              `parquet:"limit" json:"limit"`
	Differs   Text             `parquet:"differs,optional" json:"differs,omitempty"`
	Build     Text             `parquet:"build,optional" json:"build,omitempty"`
	Text      Text             `parquet:"text" json:"text"`
	Accepted  Text             `parquet:"decision,optional,dict" json:"-"`
	Decision  *schema.Decision `parquet:"-" json:"decision"`
}

func changeOf(c *judge.Change, partition string) Change {
	out := Change{
		Partition: partition, ID: c.ID, Worse: c.Worse, Evidence: name(c.Evidence.String()), State: name(c.State),
		Open: gate.Open(c), Since: c.Since, Votes: map[string]int{}, Found: c.Found, Ended: c.Ended,
		Models: c.Scope.Models, Devices: c.Scope.Devices, Metrics: c.Scope.Metrics, Points: int64(c.Scope.Points),
		Numbers: int64(len(c.Numbers)), Of: int64(c.Scope.Of), Effect: finite(c.Effect),
		Interval: [2]Num{Num(c.Interval[0]), Num(c.Interval[1])}, Low: Num(c.Interval[0]), High: Num(c.Interval[1]),
		Limit: Num(c.Limit), Differs: Text(c.What.Differs), Build: Text(c.What.Build), Text: Text(words.ChangeText(c)),
		Decision: c.Decision,
	}
	for _, v := range c.Votes {
		out.Votes[v.Release] = v.Numbers
	}
	if c.Decision != nil {
		out.Accepted = Text(c.Decision.ID)
	}
	return out
}

// Compared is a row of a comparison: one number of both sides.
type Compared struct {
	System   Text           `csv:"system" json:"system,omitempty"`
	Key      Key            `csv:"-" json:"key"`
	Workload Text           `csv:"workload" json:"-"`
	Tool     Text           `csv:"tool" json:"-"`
	Metric   Text           `csv:"metric" json:"metric"`
	Stat     Text           `csv:"stat" json:"stat"`
	Unit     Text           `csv:"unit" json:"-"`
	A        *Num           `csv:"a" json:"a"`
	B        *Num           `csv:"b" json:"b"`
	NA       int            `csv:"n_a" json:"n_a"`
	NB       int            `csv:"n_b" json:"n_b"`
	Change   *Num           `csv:"change" json:"change"`
	Lo       *Num           `csv:"lo" json:"lo"`
	Hi       *Num           `csv:"hi" json:"hi"`
	P        *Num           `csv:"p" json:"p"`
	Test     string         `csv:"test" json:"test"`
	Verdict  schema.Outcome `csv:"verdict" json:"verdict"`
	RunsEach int            `csv:"-" json:"runs_each_that_might_settle,omitempty"`
	// JudgedB is the verdict on the number of B against its own baseline, where B is a later release.
	JudgedB schema.Outcome `csv:"-" json:"judged_b,omitempty"`
	Loads   Object         `csv:"-" json:"loads,omitempty"` // where answers differ in length or requests failed
	OSLA    *Num           `csv:"osl_a" json:"-"`           // measured, as all that follows
	OSLB    *Num           `csv:"osl_b" json:"-"`
	FailedA *Num           `csv:"failed_share_a" json:"-"` // nil where requests are not counted
	FailedB *Num           `csv:"failed_share_b" json:"-"`
}

// Compare returns the rows of a comparison.
func Compare(c *render.Comparison) []Compared {
	out := []Compared{}
	for i := range c.Rows {
		r := &c.Rows[i]
		row := Compared{
			System: Text(r.System), Key: keyOf(r.Key), Workload: Text(words.Workload(r.Key)), Tool: Text(r.Key.Tool),
			Metric: Text(r.Metric), Stat: Text(r.Stat), Unit: Text(schema.Unit(r.Metric)), A: finite(r.A), B: finite(r.B),
			NA: r.NA, NB: r.NB, Change: finite(r.Change), Lo: finite(r.Lo), Hi: finite(r.Hi), P: finite(r.P), Test: r.Test,
			Verdict: r.Outcome(), RunsEach: r.NeededEach,
		}
		if r.Judged != nil {
			row.JudgedB = r.Judged.Outcome
		}
		if l := r.Loads; l != nil {
			row.OSLA, row.OSLB = num(l.A.OSL), num(l.B.OSL)
			row.FailedA, row.FailedB = finite(l.A.Failed/l.A.Of), finite(l.B.Failed/l.B.Of) // NaN where none are counted
			if l.Differ() {
				counted := func(n, of float64) *Num { // nil, and not zero, where a side does not count its requests
					if of == 0 {
						return nil
					}
					return (*Num)(&n)
				}
				row.Loads = Object{{"osl_a", row.OSLA}, {"osl_b", row.OSLB}, {"failed_a", counted(l.A.Failed, l.A.Of)},
					{"failed_b", counted(l.B.Failed, l.B.Of)}, {"of_a", counted(l.A.Of, l.A.Of)},
					{"of_b", counted(l.B.Of, l.B.Of)}}
			}
		}
		out = append(out, row)
	}
	return out
}

// Beside is a score of both sides of a comparison.
type Beside struct {
	System     Text            `csv:"system" json:"system,omitempty"`
	Task       Text            `csv:"task" json:"task"`
	Metric     Text            `csv:"metric" json:"metric"`
	Filter     Text            `csv:"filter" json:"filter,omitempty"`
	A          *Num            `csv:"a" json:"a"`
	B          *Num            `csv:"b" json:"b"`
	N          *int64          `csv:"n" json:"n"`
	Difference *Num            `csv:"difference" json:"difference"` // a share of 1 where both are shares
	Lo         *Num            `csv:"lo" json:"lo"`
	Hi         *Num            `csv:"hi" json:"hi"`
	P          *Num            `csv:"p" json:"p"`
	Test       schema.EvalTest `csv:"test" json:"test,omitempty"`
	Verdict    schema.Outcome  `csv:"verdict" json:"verdict"`
	Items      *int64          `csv:"items_needed" json:"items_needed,omitempty"`
	Answers    *int64          `csv:"answers_needed" json:"answers_needed,omitempty"`
	Why        Text            `csv:"not_compared" json:"not_compared,omitempty"`
	Worse      []string        `csv:"-" json:"answered_worse,omitempty"` // ids of items
	Better     []string        `csv:"-" json:"answered_better,omitempty"`
}

// Besides returns the scores of a comparison.
func Besides(c *render.Comparison) (out []Beside) {
	for i := range c.Scores {
		x := &c.Scores[i]
		row := Beside{System: Text(x.System), Task: Text(x.A.Task), Metric: Text(x.A.Metric), Filter: Text(x.A.Filter),
			A: num(x.A.Value), B: num(x.B.Value), N: stated[int, int64](x.B.N), Test: x.Test, Verdict: x.Outcome(),
			Why: Text(x.Why), Worse: x.Lost, Better: x.Gained}
		if x.Why == "" {
			row.Difference, row.Lo, row.Hi, row.P = finite(x.D), finite(x.Lo), finite(x.Hi), finite(x.P)
		}
		if !x.Sure {
			row.Items, row.Answers = stated[int, int64](x.Items), stated[int, int64](x.Answers)
		}
		out = append(out, row)
	}
	return out
}
