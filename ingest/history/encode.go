package history

import (
	"math"
	"strconv"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// digits is the number of significant digits of a stored number: seven is far below any measurement error and takes
// half the bytes of an exact float64.
const digits = 7

// Encode returns the run's document. The same run gives the same bytes.
func Encode(r *schema.Run) []byte {
	var o object
	o.text("schema", schema.Version)
	o.text("id", r.ID)
	o.time("start", r.Start)
	o.time("end", r.End)
	o.text("release", r.Release)
	o.text("channel", r.Channel)
	o.text("line", r.Line)
	o.put("model", encodeModel(r.Model))
	o.text("impl", r.Impl)
	o.put("device", encodeDevice(r.Device))
	o.put("stack", encodeStack(r.Stack))
	o.put("points", lines(len(r.Points), func(i int) []byte { return encodePoint(&r.Points[i]) }))
	o.put("scores", lines(len(r.Scores), func(i int) []byte { return encodeScore(&r.Scores[i]) }))
	o.put("targets", lines(len(r.Targets), func(i int) []byte { return encodeTarget(&r.Targets[i]) }))
	o.put("plan", lines(len(r.Plan), func(i int) []byte { return encodeKey(r.Plan[i]) }))
	o.put("problems", lines(len(r.Problems), func(i int) []byte { return encodeProblem(&r.Problems[i]) }))
	if !r.Interleaved.IsZero() {
		o.put("interleaved", encodeInterleaved(r.Interleaved))
	}
	if !r.Acceptance.IsZero() {
		o.put("acceptance", encodeAcceptance(&r.Acceptance))
	}
	var prov object
	for field, origin := range r.Provenance {
		var in object
		in.text("from", string(origin.From))
		in.text("where", origin.Where)
		prov.put(field, in.bytes(nil))
	}
	o.put("provenance", prov.bytes(nil))
	var extra object
	o.put("extra", extra.bytes(r.Extra))
	return topLevel(&o, r.Unknown)
}

// topLevel writes the outermost object one member a line.
func topLevel(o *object, unknown schema.Unknown) []byte {
	o.complete(unknown)
	b := append(make([]byte, 0, o.size()), "{\n"...)
	return append(o.write(b, ",\n"), "\n}\n"...)
}

func lines(n int, item func(int) []byte) []byte {
	if n == 0 {
		return []byte("[]")
	}
	items, size := make([][]byte, n), 8
	for i := range n {
		items[i] = item(i)
		size += len(items[i]) + 2
	}
	b := append(make([]byte, 0, size), "[\n"...)
	for i, text := range items {
		if i > 0 {
			b = append(b, ",\n"...)
		}
		b = append(b, text...)
	}
	return append(b, "\n]"...)
}

func encodeInterleaved(i schema.Interleaved) []byte {
	var o object
	side, starts := manifest.SideCandidate, manifest.StartsFresh
	if i.Baseline {
		side = manifest.SideBaseline
	}
	if i.Kept {
		starts = manifest.StartsKept
	}
	o.text("with", i.With)
	o.text("side", side)
	o.text("starts", starts)
	return o.bytes(nil)
}

func decodeInterleaved(v decode.Value) schema.Interleaved {
	return manifest.Interleaved{
		With: v.Get("with").Str(), Side: v.Get("side").Str(), Starts: v.Get("starts").Str(),
	}.Schema()
}

func encodeModel(m schema.Model) []byte {
	var o object
	o.text("id", m.ID)
	o.text("name", m.Name)
	o.text("key", m.Key)
	o.text("precision", m.Precision)
	o.text("status", m.Status)
	return o.bytes(m.Unknown)
}

func encodeDevice(d schema.Device) []byte {
	var o object
	o.text("name", d.Name)
	o.text("mesh", d.Mesh)
	o.count("chips", d.Chips)
	o.text("firmware", d.Firmware)
	return o.bytes(d.Unknown)
}

func encodeStack(s schema.Stack) []byte {
	var o object
	o.text("engine", s.Engine)
	o.text("version", s.Version)
	o.text("image", s.Image)
	o.text("digest", s.Digest)
	o.texts("commits", s.Commits)
	o.flag("dirty", s.Dirty)
	return o.bytes(s.Unknown)
}

func encodeKey(k schema.Key) []byte {
	var o object
	for name, v := range map[string]*float64{"isl": k.ISL, "osl": k.OSL, "concurrency": k.Concurrency, "rate": k.Rate} {
		if v != nil { // absent equals null
			o.number(name, *v)
		}
	}
	o.put("task", schema.JSONString(k.Task))
	o.put("tool", schema.JSONString(k.Tool))
	o.text("dataset", k.Dataset)
	o.texts("dims", k.Dims)
	return o.bytes(k.Unknown)
}

func encodePoint(p *schema.Point) []byte {
	var o object
	o.put("key", encodeKey(p.Key))
	o.text("status", string(p.Status))
	if p.Repeat > 1 {
		o.count("repeat", p.Repeat)
	}
	o.count("block", p.Block)
	o.time("start", p.Start)
	o.time("end", p.End)
	o.texts("conditions", p.Conditions)
	o.texts("client", p.Client)
	o.list("command", p.Command)
	o.put("source", encodeSource(p.Source))
	o.texts("stated", p.Stated)
	if len(p.Extra) > 0 {
		var extra object
		o.put("extra", extra.bytes(p.Extra))
	}
	var ms object
	for name, m := range p.Metrics {
		ms.put(name, encodeMetric(m))
	}
	o.put("metrics", ms.bytes(nil))
	if p.Slices.Step > 0 {
		o.put("slices", encodeSlices(p.Slices))
	}
	return o.bytes(p.Unknown)
}

func encodeSource(s schema.Source) []byte {
	var o object
	o.text("path", s.Path)
	o.text("sha256", s.SHA256)
	o.text("format", s.Format)
	o.text("tool_version", s.ToolVersion)
	return o.bytes(s.Unknown)
}

func encodeMetric(m schema.Metric) []byte {
	var o object
	o.text("unit", m.Unit)
	o.text("def", m.Def)
	o.text("from", string(m.From))
	o.text("missing", m.Why)
	o.count("n", m.N)
	if !seFollows(m) {
		o.maybe("se", m.SE)
	}
	for _, s := range m.Stats {
		o.number(s.Name, s.Value)
	}
	if len(m.CI) > 0 {
		var ci object
		for stat, iv := range m.CI {
			b := appendFloat([]byte{'['}, iv[0])
			b = appendFloat(append(b, ','), iv[1])
			ci.put(stat, append(b, ']'))
		}
		o.put("ci", ci.bytes(nil))
	}
	if len(m.Quantiles) > 0 {
		o.put("quantiles", encodeQuantiles(m.Quantiles))
	}
	return o.bytes(m.Unknown)
}

// seFollows reports a standard error that follows from the deviation and the sample size; it is not stored.
func seFollows(m schema.Metric) bool {
	se, a := m.SE.Get()
	now, b := derivedSE(m).Get()
	return a && b && se == now
}

// derivedSE returns the standard error of a mean from the deviation of a recomputed sample.
func derivedSE(m schema.Metric) schema.Number {
	std, ok := m.Stats.Get("std")
	if !ok || m.N < 2 || m.From != schema.FromRecomputed || len(m.Quantiles) == 0 {
		return schema.Number{}
	}
	return schema.Num(latency.Round(std/math.Sqrt(float64(m.N-1)), 3))
}

// encodeQuantiles writes a sketch as [step, first, increments …]: value i is step times the sum of the first i+1
// whole numbers after it. Plain numbers would take three times the bytes for the same precision, and sketches are
// most of a document.
func encodeQuantiles(q []float64) []byte {
	step := latency.SketchStep(q)
	b := appendFloat([]byte{'['}, step)
	last := 0.
	for _, v := range q {
		n := math.Round(v / step)
		b = strconv.AppendInt(append(b, ','), int64(n-last), 10)
		last = n
	}
	return append(b, ']')
}

func encodeScore(s *schema.Score) []byte {
	var o object
	o.text("task", s.Task)
	o.text("metric", s.Metric)
	o.text("filter", s.Filter)
	o.text("group", s.Group)
	o.maybe("value", s.Value)
	if _, ok := s.Value.Get(); !ok {
		o.put("missing", schema.JSONString(s.Value.Why()))
	}
	o.maybe("stderr", s.Stderr)
	o.count("n", s.N)
	o.count("total", s.Total)
	if s.Fewshot != nil {
		o.put("fewshot", strconv.AppendInt(nil, int64(*s.Fewshot), 10))
	}
	if s.Limit != nil {
		o.number("limit", *s.Limit)
	}
	o.text("direction", s.Direction)
	o.text("version", s.Version)
	o.text("from", string(s.From))
	if s.Outcomes != nil {
		o.text("outcomes", s.Outcomes.Text())
	}
	o.put("source", encodeSource(s.Source))
	return o.bytes(s.Unknown)
}

func encodeTarget(t *schema.Target) []byte {
	var o object
	o.put("key", encodeKey(t.Key))
	o.text("metric", t.Metric)
	o.text("stat", t.Stat)
	o.number("value", t.Value)
	o.text("unit", t.Unit)
	o.text("level", t.Level)
	if t.Tolerance != 0 {
		o.number("tolerance", t.Tolerance)
	}
	o.text("source", t.Source)
	o.text("sha256", t.SHA256)
	o.text("as_of", t.AsOf)
	o.count("items", t.Items)
	o.text("priority", t.Priority)
	if t.Scores != nil {
		o.put("scores", encodeReferenceScores(t.Scores))
	}
	return o.bytes(t.Unknown)
}

func encodeReferenceScores(s *schema.ReferenceScores) []byte {
	var o object
	if s.GPU != 0 {
		o.number("gpu", s.GPU)
	}
	o.text("gpu_source", s.GPUSource)
	if s.Published != 0 {
		o.number("published", s.Published)
	}
	o.text("published_source", s.PublishSource)
	return o.bytes(nil)
}

func encodeAcceptance(a *schema.Acceptance) []byte {
	var o object
	o.text("result", a.Result)
	o.text("source", a.Source)
	if len(a.Blockers) > 0 {
		o.put("blockers", lines(len(a.Blockers), func(i int) []byte {
			var in object
			in.text("name", a.Blockers[i].Name)
			in.text("message", a.Blockers[i].Message)
			return in.bytes(nil)
		}))
	}
	if len(a.KnownIssues) > 0 {
		o.put("known_issues", lines(len(a.KnownIssues), func(i int) []byte {
			var in object
			in.text("category", string(a.KnownIssues[i].Category))
			in.text("task", a.KnownIssues[i].Task)
			in.text("reason", a.KnownIssues[i].Reason)
			in.text("source", a.KnownIssues[i].Source)
			return in.bytes(nil)
		}))
	}
	return o.bytes(nil)
}

func encodeProblem(p *schema.Problem) []byte {
	var o object
	o.text("severity", string(p.Severity))
	o.text("path", p.Path)
	o.count("line", p.Line)
	o.count("column", p.Column)
	o.count("offset", int(p.Offset))
	o.text("code", p.Code)
	o.text("found", p.Found)
	o.text("expected", p.Expected)
	o.text("hint", p.Hint)
	o.text("used", p.Used)
	return o.bytes(p.Unknown)
}

// EncodeProblem returns a problem in the form of a document.
func EncodeProblem(p *schema.Problem) []byte { return encodeProblem(p) }
