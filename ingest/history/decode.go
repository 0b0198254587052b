package history

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// Decode reads a document. An empty or damaged document, or one of a later schema, is a problem with advice.
func Decode(path string, data []byte) (schema.Run, *schema.Problem) {
	v, p := decode.Document(path, data)
	if p != nil {
		p.Hint = "restore the document from version control, or ingest the results again"
		return schema.Run{}, p
	}
	if p := checkSchema(path, v.Get("schema").Str()); p != nil {
		return schema.Run{}, p
	}
	return decodeRun(v, math.MaxInt), nil
}

func checkSchema(path, version string) *schema.Problem {
	if version == schema.Version {
		return nil
	}
	p := &schema.Problem{
		Severity: schema.SevError, Path: path, Code: "other-schema",
		Found: fmt.Sprintf("schema %q", version), Expected: schema.Version,
		Hint: "a newer ttreport wrote it: upgrade this one; the document is left as it is",
	}
	if !strings.HasPrefix(version, "ttreport/v") {
		p.Hint = "this is not a history document; move it out of the history folder"
	}
	return p
}

// take reads members of an object and records which, so that the rest can be kept. A document has a hundred objects,
// so each member is one bit, with a map only for members beyond the sixty-fourth.
type take struct {
	members []decode.Member
	taken   uint64
	beyond  map[int]bool
}

func taking(v decode.Value) take { return take{members: v.Members()} }

// get returns a member; the last one counts when a key is written twice, and both are marked as read.
func (t *take) get(name string) decode.Value {
	var found decode.Value
	for i := range t.members {
		if t.members[i].Key == name {
			found = t.members[i].Val
			t.mark(i)
		}
	}
	return found
}

func (t *take) mark(i int) {
	if i < 64 {
		t.taken |= 1 << i
		return
	}
	if t.beyond == nil {
		t.beyond = map[int]bool{}
	}
	t.beyond[i] = true
}

func (t *take) has(i int) bool { return i < 64 && t.taken>>i&1 == 1 || i >= 64 && t.beyond[i] }

func (t *take) text(name string) string { return t.get(name).Str() }

func (t *take) count(name string) int { n, _ := t.get(name).Int(); return n }

func (t *take) time(name string) time.Time {
	when, err := time.Parse(time.RFC3339, t.text(name))
	if err != nil {
		return time.Time{}
	}
	return when.UTC()
}

func (t *take) texts(name string) map[string]string {
	var out map[string]string
	for _, m := range t.get(name).Members() {
		if out == nil {
			out = map[string]string{}
		}
		out[m.Key] = m.Val.Text()
	}
	return out
}

// others returns all members of an object.
func others(v decode.Value) schema.Unknown {
	t := taking(v)
	return t.rest()
}

// rest returns the members that were not read.
func (t *take) rest() schema.Unknown {
	var out schema.Unknown
	for i, m := range t.members {
		if t.has(i) {
			continue
		}
		if out == nil {
			out = schema.Unknown{}
		}
		out[m.Key] = json.RawMessage(append([]byte(nil), m.Val.Raw()...))
	}
	return out
}

// decodeRun reads a run; most bounds its points, scores, targets, planned workloads and problems.
func decodeRun(v decode.Value, most int) schema.Run {
	t := taking(v)
	t.get("schema")
	r := schema.Run{
		ID: t.text("id"), Start: t.time("start"), End: t.time("end"), Release: t.text("release"),
		Channel: t.text("channel"), Line: t.text("line"), Impl: t.text("impl"), Model: decodeModel(t.get("model")),
		Device: decodeDevice(t.get("device")), Stack: decodeStack(t.get("stack")),
		Points:     decodeList(t.get("points"), most, decodePoint),
		Scores:     decodeList(t.get("scores"), most, decodeScore),
		Targets:    decodeList(t.get("targets"), most, decodeTarget),
		Acceptance: decodeAcceptance(t.get("acceptance")), Interleaved: decodeInterleaved(t.get("interleaved")),
		Plan:     decodeList(t.get("plan"), most, decodeKey),
		Problems: decodeList(t.get("problems"), most, decodeProblem),
	}
	for _, m := range t.get("provenance").Members() {
		if r.Provenance == nil {
			r.Provenance = map[string]schema.Origin{}
		}
		r.Provenance[m.Key] = schema.Origin{From: schema.From(m.Val.Get("from").Str()), Where: m.Val.Get("where").Str()}
	}
	r.Extra = others(t.get("extra"))
	r.Unknown = t.rest()
	return r
}

// decodeList decodes up to one item more than the most, so that the caller sees that there were too many.
func decodeList[T any](v decode.Value, most int, one func(decode.Value) T) []T {
	var out []T
	for item := range v.Items() {
		if len(out) > most {
			break
		}
		out = append(out, one(item))
	}
	return out
}

func decodeModel(v decode.Value) schema.Model {
	t := taking(v)
	m := schema.Model{
		ID: t.text("id"), Name: t.text("name"), Key: t.text("key"), Precision: t.text("precision"),
		Status: t.text("status"),
	}
	m.Unknown = t.rest()
	return m
}

func decodeDevice(v decode.Value) schema.Device {
	t := taking(v)
	d := schema.Device{Name: t.text("name"), Mesh: t.text("mesh"), Chips: t.count("chips"), Firmware: t.text("firmware")}
	d.Unknown = t.rest()
	return d
}

func decodeStack(v decode.Value) schema.Stack {
	t := taking(v)
	s := schema.Stack{
		Engine: t.text("engine"), Version: t.text("version"), Image: t.text("image"), Digest: t.text("digest"),
		Commits: t.texts("commits"),
	}
	s.Dirty, _ = t.get("dirty").Truth()
	s.Unknown = t.rest()
	return s
}

func decodeKey(v decode.Value) schema.Key {
	t := taking(v)
	k := schema.Key{
		Task: t.text("task"), Tool: t.text("tool"), ISL: t.get("isl").Ptr(), OSL: t.get("osl").Ptr(),
		Concurrency: t.get("concurrency").Ptr(), Rate: t.get("rate").Ptr(), Dataset: t.text("dataset"), Dims: t.texts("dims"),
	}
	k.Unknown = t.rest()
	return k
}

func decodePoint(v decode.Value) schema.Point {
	t := taking(v)
	p := schema.Point{
		Key: decodeKey(t.get("key")), Status: schema.Status(t.text("status")),
		Repeat: max(1, t.count("repeat")), Block: max(0, t.count("block")), Start: t.time("start"), End: t.time("end"),
		Conditions: t.texts("conditions"), Client: t.texts("client"), Source: decodeSource(t.get("source")),
		Stated: t.texts("stated"), Metrics: map[string]schema.Metric{},
	}
	for a := range t.get("command").Items() {
		p.Command = append(p.Command, a.Str())
	}
	p.Extra = others(t.get("extra"))
	p.Slices = decodeSlices(t.get("slices"))
	for _, m := range t.get("metrics").Members() {
		p.Metrics[m.Key] = decodeMetric(m.Val)
	}
	p.Unknown = t.rest()
	return p
}

func decodeSource(v decode.Value) schema.Source {
	t := taking(v)
	s := schema.Source{
		Path: t.text("path"), SHA256: t.text("sha256"), Format: t.text("format"), ToolVersion: t.text("tool_version"),
	}
	s.Unknown = t.rest()
	return s
}

func decodeMetric(v decode.Value) schema.Metric {
	t := taking(v)
	m := schema.Metric{
		Unit: t.text("unit"), Def: t.text("def"), From: schema.From(t.text("from")), Why: t.text("missing"), N: t.count("n"),
		SE: number(t.get("se"), ""),
	}
	for _, c := range t.get("ci").Members() {
		if iv, ok := c.Val.Floats(); ok && len(iv) == 2 {
			if m.CI == nil {
				m.CI = map[string][2]float64{}
			}
			m.CI[c.Key] = [2]float64{iv[0], iv[1]}
		}
	}
	m.Quantiles = decodeQuantiles(t.get("quantiles"))
	for i, x := range t.members {
		if f, ok := x.Val.Float(); ok && x.Val.Kind() == decode.Number && isStat(x.Key) {
			t.mark(i)
			m.Stats.Set(x.Key, f)
		}
	}
	m.Unknown = t.rest()
	if _, has := m.SE.Get(); !has && t.get("se").Kind() == decode.Invalid {
		if se := derivedSE(m); se.Why() == "" {
			m.SE = se
		}
	}
	return m
}

// decodeQuantiles is the inverse of encodeQuantiles; nil for anything else.
func decodeQuantiles(v decode.Value) []float64 {
	list, ok := v.Floats()
	if !ok || len(list) < 2 || list[0] <= 0 {
		return nil
	}
	out, sum := make([]float64, 0, len(list)-1), 0.
	for _, d := range list[1:] {
		sum += d
		out = append(out, latency.Round(sum*list[0], 12))
	}
	return out
}

// isStat distinguishes a statistic's name from other numeric members.
func isStat(name string) bool {
	switch name {
	case "mean", "median", "std", "min", "max", "value":
		return true
	}
	return len(name) > 1 && name[0] == 'p' && strings.Trim(name[1:], "0123456789.") == ""
}

func number(v decode.Value, why string) schema.Number {
	if f, ok := v.Float(); ok {
		return schema.Num(f)
	}
	return schema.Missing(why)
}

func decodeScore(v decode.Value) schema.Score {
	t := taking(v)
	s := schema.Score{
		Task: t.text("task"), Metric: t.text("metric"), Filter: t.text("filter"), Group: t.text("group"),
		Value:  number(t.get("value"), t.text("missing")),
		Stderr: number(t.get("stderr"), "not in the file"), N: t.count("n"), Total: t.count("total"),
		Limit:     t.get("limit").Ptr(),
		Direction: t.text("direction"), Version: t.text("version"), From: schema.From(t.text("from")),
		Source: decodeSource(t.get("source")),
	}
	if text := t.text("outcomes"); text != "" {
		s.Outcomes, _ = schema.ParseOutcomes(text)
	}
	if n, ok := t.get("fewshot").Int(); ok {
		s.Fewshot = &n
	}
	s.Unknown = t.rest()
	return s
}

func decodeTarget(v decode.Value) schema.Target {
	t := taking(v)
	x := schema.Target{
		Key: decodeKey(t.get("key")), Metric: t.text("metric"), Stat: t.text("stat"), Unit: t.text("unit"),
		Level:  t.text("level"),
		Source: t.text("source"), SHA256: t.text("sha256"), AsOf: t.text("as_of"), Items: t.count("items"),
		Priority: t.text("priority"),
	}
	x.Value, _ = t.get("value").Float()
	x.Tolerance, _ = t.get("tolerance").Float()
	if v := t.get("scores"); v.Kind() == decode.Object {
		x.Scores = &schema.ReferenceScores{
			GPU: v.Get("gpu").Float0(), GPUSource: v.Get("gpu_source").Str(),
			Published: v.Get("published").Float0(), PublishSource: v.Get("published_source").Str(),
		}
	}
	x.Unknown = t.rest()
	return x
}

func decodeAcceptance(v decode.Value) schema.Acceptance {
	a := schema.Acceptance{Result: v.Get("result").Str(), Source: v.Get("source").Str()}
	for b := range v.Get("blockers").Items() {
		a.Blockers = append(a.Blockers, schema.Blocker{Name: b.Get("name").Str(), Message: b.Get("message").Str()})
	}
	for k := range v.Get("known_issues").Items() {
		a.KnownIssues = append(a.KnownIssues, schema.KnownIssue{
			Category: schema.Category(k.Get("category").Str()), Task: k.Get("task").Str(),
			Reason: k.Get("reason").Str(), Source: k.Get("source").Str(),
		})
	}
	return a
}

func decodeProblem(v decode.Value) schema.Problem {
	t := taking(v)
	p := schema.Problem{
		Severity: schema.Severity(t.text("severity")), Path: t.text("path"), Line: t.count("line"),
		Column: t.count("column"), Offset: int64(t.count("offset")),
		Code: t.text("code"), Found: t.text("found"), Expected: t.text("expected"), Hint: t.text("hint"),
		Used: t.text("used"),
	}
	p.Unknown = t.rest()
	return p
}
