package judgetest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Model and Device are the system of every run of a [History].
const (
	Model  = "M"
	Device = "n150"
)

// Pair is the model and device of every run of a [History].
func Pair() schema.Pair { return schema.Pair{Model: Model, Device: Device} }

// Day is a day of January 2026; days beyond the 31st are in the months after it.
func Day(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }

// Key is a workload of 128 input and 128 output tokens at a concurrency, measured with vLLM's client.
func Key(concurrency float64) schema.Key {
	return schema.Key{Task: "text", Tool: "vllm", ISL: ptr(128), OSL: ptr(128), Concurrency: ptr(concurrency)}
}

// Workload is the name of [Key] as verdicts show it.
func Workload(concurrency float64) string {
	k := Key(concurrency)
	return k.Workload()
}

func ptr(v float64) *float64 { return &v }

// Share is a score of gsm8k: a share of right answers over n questions, of n in the whole task.
func Share(share float64, n int) schema.Score {
	return schema.Score{
		Task: "gsm8k", Metric: "exact_match", Filter: "strict-match", Direction: "higher",
		Value: schema.Num(share), N: n, Total: n,
	}
}

// History is a history with one run per release: release r is called v<r>, its run run-<r>, and it starts on day r +
// 1.
type History struct {
	TTFT       [][]float64 // ms, by release, by concurrency from 1; 0: not measured; negative: stored as it is
	Conditions []columns.Conditions
	Scores     [][]schema.Score
	Channels   []string
	Rate       bool        // 1000/TTFT is stored as output tokens a second instead
	P99        [][]float64 // ms, of TTFT, by release and concurrency; nil: not stated
	Requests   float64     // behind each point
	Unit       float64     // TTFT is stored times this; 0: 1
	Again      [][]float64 // TTFT of a later run of each release, by concurrency; nil: none
	Prompts    []float64   // measured mean length by release, where the workloads state none; nil: they do
}

// Columns are the columns of the history.
func (m History) Columns() *columns.Columns {
	b := columns.NewBuilder()
	if m.Unit == 0 {
		m.Unit = 1
	}
	for r, values := range m.TTFT {
		h := columns.RunHead{
			ID: fmt.Sprintf("run-%d", r), Release: fmt.Sprintf("v%d", r), Start: Day(r + 1),
			Model: schema.Model{Name: Model}, Device: Device,
		}
		if r < len(m.Channels) {
			h.Channel = m.Channels[r]
		}
		if r < len(m.Scores) {
			for _, s := range m.Scores[r] {
				b.C.Scores = append(b.C.Scores, columns.ScoreRow{Run: int32(len(b.C.Runs)), Score: s})
			}
			h.Scores = len(m.Scores[r])
		}
		m.run(b, r, h, values)
		if r < len(m.Again) && m.Again[r] != nil {
			h.ID, h.Start, h.Scores = h.ID+"-again", h.Start.Add(time.Hour), 0
			m.run(b, r, h, m.Again[r])
		}
	}
	return b.Seal()
}

// run adds a run of a release with its measurements.
func (m History) run(b *columns.Builder, r int, h columns.RunHead, values []float64) {
	h.FirstPoint = len(b.C.Points)
	for w, v := range values {
		if v != 0 {
			m.measured(b, len(b.C.Runs), r, w, v)
		}
	}
	h.PointsEnd = len(b.C.Points)
	b.C.Runs = append(b.C.Runs, h)
}

// measured adds one measurement of a run of a release.
func (m History) measured(b *columns.Builder, at, run, workload int, ttft float64) {
	k := Key(float64(workload + 1))
	if m.Prompts != nil {
		k.ISL, k.Dims = nil, map[string]string{schema.DimLabel: "chat"}
	}
	p := columns.PointRow{Run: int32(at), Key: b.Key(k, k.String()), Repeat: 1, Status: 1}
	if run < len(m.Conditions) {
		p.Cond = b.Cond(m.Conditions[run])
	}
	b.Begin(&p)
	if m.Rate {
		b.Value(b.StatID(columns.StatID{Metric: "output_tps", Stat: "value", Unit: "tok/s"}), 1000/ttft)
	} else {
		b.Value(b.StatID(columns.StatID{Metric: "ttft", Stat: "mean", Unit: "ms"}), ttft*m.Unit)
	}
	if run < len(m.Prompts) {
		b.Value(b.StatID(columns.StatID{Metric: "isl", Stat: "mean", Unit: "tok"}), m.Prompts[run])
	}
	if run < len(m.P99) {
		b.Value(b.StatID(columns.StatID{Metric: "ttft", Stat: "p99", Unit: "ms"}), m.P99[run][workload])
		b.Value(b.StatID(columns.StatID{Metric: "requests_ok", Stat: "value"}), m.Requests)
	}
	b.End(p)
}

// Workloads is the number of workloads of [Steady].
const Workloads = 10

// Steady returns the values of ten workloads that vary by half a percent.
func Steady(releases int) [][]float64 {
	var out [][]float64
	for r := range releases {
		var row []float64
		for w := range Workloads {
			row = append(row, 100*float64(w+1)*(1+.005*math.Sin(float64(7*r+3*w*w))))
		}
		out = append(out, row)
	}
	return out
}

// Drifting returns a steady history in which workload 4 (index 3) regresses by a share in every release from one on.
func Drifting(releases, from int, each float64) [][]float64 {
	values := Steady(releases)
	for r := from; r < releases; r++ {
		values[r][3] *= math.Pow(1+each, float64(r-from))
	}
	return values
}

// Rerun adds to a history a second run of its last release, in which workload 4 (index 3) has another value. The other
// values differ by a little, so that the run is no duplicate.
func Rerun(values [][]float64, value float64) *columns.Columns {
	last := len(values)
	again := slices.Clone(values[last-1])
	for w := range again {
		again[w] *= 1.0003
	}
	again[3] = value
	c := History{TTFT: append(slices.Clone(values), again)}.Columns()
	c.Runs[last].Release = c.Runs[last-1].Release
	return c
}

// Blocks are what two servers measured in turns: TTFT by block and workload, 0: not measured.
type Blocks struct {
	Name                string // of the runs, where there are several pairs
	Host                string
	Baseline, Candidate string // releases
	With                string // id that the candidate's run names; "" for the baseline's
	A, B                [][]float64
	Kept                bool
	Conditions          [2]columns.Conditions                      // of all points of both
	State               func(baseline, candidate *columns.RunHead) // more of the runs; nil states nothing
}

// InTurns adds two runs to a history that took turns: the baseline's, of channel dev, and the candidate's.
func InTurns(c *columns.Columns, x Blocks) *columns.Columns {
	b := columns.NewBuilder()
	var all []int
	for i := range c.Runs {
		all = append(all, i)
	}
	b.AppendRuns(c, all)
	a, z := "turns-a"+x.Name, "turns-b"+x.Name
	for side, values := range [][][]float64{x.A, x.B} {
		run := len(b.C.Runs)
		h := columns.RunHead{
			ID: a, Release: x.Baseline, Channel: schema.ChannelDev, Start: Day(100), Model: schema.Model{Name: Model},
			Device: Device, FirstPoint: len(b.C.Points),
			Interleaved: schema.Interleaved{With: z, Side: schema.SideBaseline},
		}
		if x.Kept {
			h.Interleaved.Starts = schema.StartsKept
		}
		if x.Host != "" {
			h.Setting = map[string]string{"host": x.Host}
		}
		if side == 1 {
			h.ID, h.Release, h.Channel, h.Start = z, x.Candidate, "", h.Start.Add(time.Minute)
			h.Interleaved.With, h.Interleaved.Side = cmp.Or(x.With, a), schema.SideCandidate
		}
		for block, row := range values {
			for w, v := range row {
				if v == 0 {
					continue
				}
				History{Unit: 1}.measured(b, run, run, w, v)
				p := &b.C.Points[len(b.C.Points)-1]
				p.Cond = b.Cond(x.Conditions[side])
				p.Block, p.Repeat = int16(block+1), int16(block+1)
			}
		}
		h.PointsEnd = len(b.C.Points)
		b.C.Runs = append(b.C.Runs, h)
	}
	if n := len(b.C.Runs); x.State != nil {
		x.State(&b.C.Runs[n-2], &b.C.Runs[n-1])
	}
	return b.Seal()
}

// Find returns the first verdict on a workload; the zero verdict when there is none.
func Find(list []schema.Verdict, workload string) schema.Verdict {
	for _, v := range list {
		if v.Key.Workload() == workload {
			return v
		}
	}
	return schema.Verdict{}
}

// Evals returns the verdicts on evals in a list.
func Evals(list []schema.Verdict) []schema.Verdict {
	var out []schema.Verdict
	for _, v := range list {
		if v.Key.IsEval() {
			out = append(out, v)
		}
	}
	return out
}
