package parquet

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
)

// Tables are the names of the tables, which are folders, in the order in which they are written: a release is in runs
// when it is in all others.
func Tables() []string { return []string{"points", "scores", "verdicts", "runs"} }

// File returns the file of a table and a release.
func File(r *render.Report, table string, release int) ([]byte, error) {
	switch table {
	case "runs":
		return file(runsOf(r, release))
	case "points":
		return file(pointsOf(r, release))
	case "scores":
		return file(scoresOf(r, release))
	}
	return file(verdictsOf(r, release))
}

// file writes rows, in groups that a reader can skip by their smallest and largest values.
func file[T any](rows []T) ([]byte, error) {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, parquet.Compression(&parquet.Zstd), parquet.CreatedBy("ttreport", "1", ""))
	const group = 100_000
	for len(rows) > 0 {
		n := min(group, len(rows))
		if _, err := w.Write(rows[:n]); err != nil {
			return nil, fmt.Errorf("writing Parquet: %w", err)
		}
		if err := w.Flush(); err != nil {
			return nil, fmt.Errorf("writing Parquet: %w", err)
		}
		rows = rows[n:]
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("writing Parquet: %w", err)
	}
	return b.Bytes(), nil
}

// Partitions returns the folder of each release below a table's: partition=NAME, with everything but letters, digits,
// dots, dashes and underscores as %XX, which readers of Hive's layout turn back. Of names that differ in case alone the
// capitals are written so too: on some file systems they would be one folder.
func Partitions(names []string) []string {
	alike := map[string]int{}
	for _, n := range names {
		alike[strings.ToLower(n)]++
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "partition=" + escaped(n, alike[strings.ToLower(n)] > 1)
	}
	return out
}

func escaped(name string, capitals bool) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', strings.IndexByte("._-", c) >= 0, 'A' <= c && c <= 'Z' && !capitals:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// In a row a text that is empty is absent where its column is optional: the file has null there.

// run is a row of the table runs.
type run struct {
	Release   string     `parquet:"release,dict"`
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

// point is a row of the table points: one statistic of one metric of a measured point, so that every tool's metrics
// have one schema.
type point struct {
	Release     string   `parquet:"release,dict"`
	Run         string   `parquet:"run,dict"`
	Model       string   `parquet:"model,dict"`
	Device      string   `parquet:"device,optional,dict"`
	Simulated   bool     `parquet:"simulated"`
	Task        string   `parquet:"task,optional,dict"`
	Tool        string   `parquet:"tool,optional,dict"`
	ISL         *float64 `parquet:"isl,optional"`
	OSL         *float64 `parquet:"osl,optional"`
	Concurrency *float64 `parquet:"concurrency,optional"`
	Rate        *float64 `parquet:"rate_req_s,optional"`
	Dataset     string   `parquet:"dataset,optional,dict"`
	Key         string   `parquet:"key,dict"` // of the workload, with everything that names it
	Repeat      int32    `parquet:"repeat"`
	Status      string   `parquet:"status,dict"`
	Missing     string   `parquet:"missing_reason,optional,dict"` // of a point without numbers, which has one row
	Metric      string   `parquet:"metric,optional,dict"`
	Stat        string   `parquet:"stat,optional,dict"`
	Unit        string   `parquet:"unit,optional,dict"`
	Definition  string   `parquet:"definition,optional,dict"`
	Value       *float64 `parquet:"value,optional"`
}

// score is a row of the table scores.
type score struct {
	Release   string   `parquet:"release,dict"`
	Run       string   `parquet:"run,dict"`
	Model     string   `parquet:"model,dict"`
	Device    string   `parquet:"device,optional,dict"`
	Simulated bool     `parquet:"simulated"`
	Task      string   `parquet:"task,optional,dict"`
	Metric    string   `parquet:"metric,optional,dict"`
	Filter    string   `parquet:"filter,optional,dict"`
	Value     *float64 `parquet:"value,optional"`
	Stderr    *float64 `parquet:"stderr,optional"`
	N         *int64   `parquet:"n,optional"`
	Missing   string   `parquet:"missing_reason,optional,dict"`
}

// verdict is a row of the table verdicts: all of them, those without a finding too.
type verdict struct {
	Release   string   `parquet:"release,dict"`
	ID        string   `parquet:"id"`
	Run       string   `parquet:"run,optional,dict"` // of a number that no run has: absent
	Model     string   `parquet:"model,dict"`
	Device    string   `parquet:"device,optional,dict"`
	Simulated bool     `parquet:"simulated"`
	Key       string   `parquet:"key,dict"`
	Metric    string   `parquet:"metric,optional,dict"`
	Stat      string   `parquet:"stat,optional,dict"`
	Against   string   `parquet:"against,optional,dict"`
	Level     string   `parquet:"level,optional,dict"`
	Required  *bool    `parquet:"required,optional"` // of a target
	Verdict   string   `parquet:"verdict,dict"`
	Evidence  string   `parquet:"evidence,optional,dict"`
	Value     *float64 `parquet:"value,optional"`
	Reference *float64 `parquet:"reference,optional"`
	Unit      string   `parquet:"unit,optional,dict"`
	Effect    *float64 `parquet:"effect_positive_is_worse,optional"`
	Low       *float64 `parquet:"effect_low,optional"` // 95 %
	High      *float64 `parquet:"effect_high,optional"`
	N         *int64   `parquet:"n,optional"`
	Reason    string   `parquet:"reason,optional,dict"`
	Decision  string   `parquet:"decision,optional,dict"`
}

func runsOf(r *render.Report, release int) []run {
	var out []run
	for _, i := range r.Releases[release].Runs {
		h := &r.Columns.Runs[i]
		out = append(out, run{
			Release: r.Releases[release].Name,
			Run:     h.ID, Channel: h.Channel, Start: moment(h.Start), End: moment(h.End), Model: h.Model.Name, Device: h.Device,
			Simulated: h.IsSimulated(), Impl: h.Impl, Engine: h.Engine, Version: h.Version, Firmware: h.Firmware,
			Errors: int32(h.Errors), Warnings: int32(h.Warnings),
		})
	}
	return out
}

func pointsOf(r *render.Report, release int) []point {
	c := r.Columns
	var out []point
	for _, i := range r.Releases[release].Runs {
		h := &c.Runs[i]
		for at := h.FirstPoint; at < h.PointsEnd; at++ {
			p := &c.Points[at]
			k := c.Keys[p.Key]
			row := point{
				Release: r.Releases[release].Name,
				Run:     h.ID, Model: h.Model.Name, Device: h.Device, Simulated: h.IsSimulated(), Task: k.Task, Tool: k.Tool,
				ISL: k.ISL, OSL: k.OSL, Concurrency: k.Concurrency, Rate: k.Rate, Dataset: k.Dataset, Key: c.KeyName(p.Key),
				Repeat: int32(p.Repeat), Status: string(p.StatusWord()), Missing: c.Reasons[p.Reason],
			}
			before := len(out)
			c.Values(p, func(s columns.StatID, v float64) {
				row.Metric, row.Stat, row.Unit, row.Definition, row.Value = s.Metric, s.Stat, s.Unit, s.Def, &v
				if s.Stat == "p99" { // of too few requests there is none, as in every other output
					shown := r.Shown(p, s.Metric, s.Stat)
					row.Value, row.Missing = number(shown), shown.Why()
				}
				out = append(out, row)
				row.Missing = ""
			})
			if len(out) == before {
				out = append(out, row)
			}
		}
	}
	return out
}

func scoresOf(r *render.Report, release int) []score {
	var out []score
	for _, i := range r.Releases[release].Runs {
		h := &r.Columns.Runs[i]
		for _, s := range r.Columns.ScoresOf(i) {
			out = append(out, score{
				Release: r.Releases[release].Name,
				Run:     h.ID, Model: h.Model.Name, Device: h.Device, Simulated: h.IsSimulated(), Task: s.Task, Metric: s.Metric,
				Filter: s.Filter, Value: number(s.Value), Stderr: number(s.Stderr), N: count(s.N), Missing: s.Value.Why(),
			})
		}
	}
	return out
}

func verdictsOf(r *render.Report, release int) []verdict {
	var out []verdict
	f := r.Gate.Findings(release)
	for _, list := range [][]schema.Verdict{f.Targets, f.History} {
		for i := range list {
			v := &list[i]
			row := verdict{
				Release: r.Releases[release].Name,
				ID:      v.ID, Run: v.Run, Model: v.Model, Device: v.Device,
				Simulated: schema.SameDevice(v.Device, schema.Simulated),
				Key:       v.Key.String(), Metric: v.Metric, Stat: v.Stat, Against: string(v.Against), Level: v.Level,
				Verdict: string(v.Outcome), Evidence: string(v.Evidence), Value: number(v.Value),
				Reference: number(v.Ref), Unit: schema.Unit(v.Metric), Effect: number(v.Effect), N: count(v.N),
			}
			if v.Against == schema.AgainstTarget {
				row.Required = &v.Required
			}
			if v.Interval != nil {
				row.Low, row.High = &v.Interval[0], &v.Interval[1]
			}
			if v.Reason != nil {
				row.Reason = v.Reason.Code()
			}
			if v.Decision != nil {
				row.Decision = v.Decision.ID
			}
			out = append(out, row)
		}
	}
	return out
}

func number(n schema.Number) *float64 {
	v, ok := n.Get()
	if !ok {
		return nil
	}
	return &v
}

// count is a number of measurements or questions; nil where nobody stated one.
func count(n int) *int64 {
	if n <= 0 {
		return nil
	}
	v := int64(n)
	return &v
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
