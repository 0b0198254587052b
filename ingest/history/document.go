package history

import (
	"bytes"
	"cmp"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// The json tags of the schema's structs say what a document is. Here are the forms that tags cannot say.

// digits is the number of significant digits of a stored number: seven is far below any measurement error and takes
// half the bytes of an exact float64.
const digits = 7

// document is what a file holds.
type document struct {
	Schema string      `json:"schema"`
	Run    *schema.Run `json:",inline"`
}

// plainScore is a score without the form below, of which it is a part.
type plainScore schema.Score

type metricForm struct {
	schema.Kind
	schema.Detail
	N         int            `json:"n,omitzero"`
	Quantiles jsontext.Value `json:"quantiles,omitzero"`
	Rest      jsontext.Value `json:",inline"` // statistics and what this version does not know
}

func (f *metricForm) add(name string, raw []byte) {
	f.Rest = append(append(schema.AppendJSONString(append(f.Rest, ','), name), ':'), raw...)
}

type scoreForm struct {
	Score   *plainScore `json:",inline"`
	Missing *string     `json:"missing,omitzero"` // why there is no value
}

type slicesForm struct {
	Step   float64               `json:"step"`
	Series map[string][]*float64 `json:"series"` // null where nothing is known
}

var encoding = json.JoinOptions(
	jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true), jsontext.EscapeForJS(true),
	jsontext.PreserveRawStrings(true), json.WithMarshalers(json.JoinMarshalers(
		json.MarshalToFunc(encodeMetrics), json.MarshalToFunc(encodeScore), json.MarshalToFunc(encodeSlices),
		json.MarshalToFunc(func(e *jsontext.Encoder, raw stdjson.RawMessage) error { return e.WriteValue(validated(raw)) }),
		json.MarshalToFunc(func(e *jsontext.Encoder, v float64) error { return e.WriteValue(appendFloat(nil, v)) }),
		json.MarshalToFunc(func(e *jsontext.Encoder, n schema.Number) error { return json.MarshalEncode(e, n.Ptr()) }),
		json.MarshalToFunc(func(e *jsontext.Encoder, t time.Time) error {
			return e.WriteToken(jsontext.String(t.UTC().Format(time.RFC3339)))
		}),
	)))

// decoder decodes documents, one at a time. What many points say alike it makes once.
type decoder struct {
	options json.Options
	texts   map[string]text
	list    schema.MetricList // of a point
	stats   schema.Stats      // likewise
	form    metricForm        // of a metric
	points  []schema.Point    // room for those of a run, where none outlives the next document; nil: each has its own
	kinds   []schema.Metric   // of the point before, in the order of the document: most points have the same
}

// text is a text of documents, and whether it names a statistic.
type text struct {
	string
	isStat bool
}

func newDecoder() *decoder {
	c := &decoder{texts: map[string]text{}}
	c.options = json.JoinOptions(jsontext.AllowInvalidUTF8(true), json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(c.metrics), json.UnmarshalFromFunc(decodeScore), json.UnmarshalFromFunc(decodeSlices),
		json.UnmarshalFromFunc(decodeNumber),
	)))
	return c
}

// marshal returns JSON on one line with sorted members.
func marshal(v any) jsontext.Value {
	text, err := json.Marshal(v, encoding)
	if err != nil {
		panic(err) // every value has a form
	}
	out := jsontext.Value(text)
	_ = out.Compact(jsontext.ReorderRawObjects(true)) // it is valid
	return out
}

// Encode returns the run's document, one member, point or score a line. The same run gives the same bytes.
func Encode(r *schema.Run) []byte {
	run := *r
	run.Points = slices.Clone(r.Points)
	for i := range run.Points {
		if p := &run.Points[i]; p.Repeat == 1 {
			p.Repeat = 0 // which is the same, and not written
		}
	}
	text := marshal(document{schema.Version, &run})
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowInvalidUTF8(true))
	out := append(make([]byte, 0, len(text)+len(text)/16), "{\n"...)
	return append(appendMembers(out, d, ",\n"), "\n}\n"...)
}

// appendMembers appends the members of an object that is read next, the items of its lists of objects one a line.
func appendMembers(out []byte, d *jsontext.Decoder, separator string) []byte {
	open := true
	for _, _ = d.ReadToken(); d.PeekKind() != '}'; open = false {
		if !open {
			out = append(out, separator...)
		}
		name, _ := d.ReadValue() // no read fails: the text was made here
		out = append(append(out, name...), ':')
		switch string(name) {
		case `"acceptance"`:
			out = append(appendMembers(append(out, '{'), d, ","), '}')
		case `"points"`, `"scores"`, `"targets"`, `"plan"`, `"problems"`, `"blockers"`, `"known_issues"`:
			_, _ = d.ReadToken()
			before := "[\n"
			for d.PeekKind() != ']' {
				item, _ := d.ReadValue()
				out = append(append(out, before...), item...)
				before = ",\n"
			}
			if _, _ = d.ReadToken(); before == "[\n" {
				out = append(out, "[]"...)
			} else {
				out = append(out, "\n]"...)
			}
		default:
			value, _ := d.ReadValue()
			out = append(out, value...)
		}
	}
	_, _ = d.ReadToken()
	return out
}

// EncodeProblem returns a problem in the form of a document.
func EncodeProblem(p *schema.Problem) []byte { return marshal(p) }

// appendFloat writes a number at the stored precision in its shortest form, null where it is not finite.
func appendFloat(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		short = v
	}
	format := byte('f')
	if abs := math.Abs(short); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, short, format, -1, 64)
}

// validated is a member that this version does not know; what is no JSON, such as NaN, is one as text.
func validated(raw stdjson.RawMessage) jsontext.Value {
	if v := jsontext.Value(raw); v.IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) {
		return v
	}
	return schema.JSONString(string(raw))
}

// encodeMetrics writes an object of metrics by name.
func encodeMetrics(e *jsontext.Encoder, list schema.MetricList) error {
	err := e.WriteToken(jsontext.BeginObject)
	for i := range list {
		err = errors.Join(err, e.WriteToken(jsontext.String(list[i].Name())), encodeMetric(e, &list[i]))
	}
	return errors.Join(err, e.WriteToken(jsontext.EndObject))
}

// encodeMetric writes statistics as members beside the others, and a distribution as [step, first, increments …]:
// value i is step times the sum of the first i+1 whole numbers after it. Plain numbers would take three times the bytes
// for the same precision, and distributions are most of a document. A standard error that follows from the deviation
// and the sample size is not written.
func encodeMetric(e *jsontext.Encoder, m *schema.Metric) error {
	k, more := m.Kind(), m.Detail()
	if more.SE == latency.DerivedSE(m) {
		more.SE = schema.Number{}
	}
	form := metricForm{Kind: k, Detail: more, N: m.N}
	for _, s := range m.Stats {
		form.add(s.Name(), appendFloat(nil, s.Value))
	}
	for name, raw := range more.Unknown {
		form.add(name, validated(raw))
	}
	if form.Rest != nil {
		form.Rest[0] = '{'
		form.Rest = append(form.Rest, '}')
	}
	if len(more.Quantiles) > 0 {
		step, last := latency.SketchStep(more.Quantiles), 0.
		form.Quantiles = appendFloat([]byte{'['}, step)
		for _, v := range more.Quantiles {
			n := math.Round(v / step)
			form.Quantiles = strconv.AppendInt(append(form.Quantiles, ','), int64(n-last), 10)
			last = n
		}
		form.Quantiles = append(form.Quantiles, ']')
	}
	return json.MarshalEncode(e, &form)
}

func encodeScore(e *jsontext.Encoder, s schema.Score) error {
	form := scoreForm{Score: (*plainScore)(&s)}
	if _, ok := s.Value.Get(); !ok {
		why := s.Value.Why()
		form.Missing = &why
	}
	return json.MarshalEncode(e, &form)
}

func encodeSlices(e *jsontext.Encoder, s schema.Slices) error {
	form := slicesForm{s.Step, map[string][]*float64{}}
	for _, x := range s.Series {
		values := make([]*float64, len(x.Values))
		for i := range x.Values {
			values[i] = &x.Values[i]
		}
		form.Series[x.Name] = values
	}
	return json.MarshalEncode(e, form)
}

// Decode reads a document. What no version of ttreport writes is refused, not skipped: a number in quotes is no number,
// and of two members of one name one would not be read. An empty or damaged document, or one of a later schema, is a
// problem with advice.
func Decode(path string, data []byte) (schema.Run, *schema.Problem) {
	return newDecoder().document(path, data)
}

// longestName is the most bytes of a name in a document, and mostCommits how many components state one: those that
// ttreport writes have 300 bytes, and each stands on many pages.
const longestName, mostCommits = 1 << 10, 1 << 11

// What a document may hold that is looked up one after another; ttreport writes less.
const mostMetrics, mostPlanned, mostTargets = 1 << 10, 1 << 12, 1 << 12

// unwrittenTarget is the first target that no file of targets may have, "" for none.
func unwrittenTarget(targets []schema.Target) string {
	for i := range targets {
		t := &targets[i]
		_, known := schema.MetricByName(t.Metric)
		possible := schema.CouldBeMetric(t.Metric) && t.Priority != "must" // which must not grade nothing
		if !known && !possible && !t.Key.IsEval() {
			return fmt.Sprintf("a target of %.40q, which is no metric", t.Metric)
		}
		if t.Level != "" && t.Level != schema.LevelReference && !slices.Contains(schema.Levels(), t.Level) {
			return fmt.Sprintf("a target of level %.40q", t.Level)
		}
		sound := t.Value > 0 && t.Tolerance >= 0 && t.Tolerance < 1
		switch {
		case !slices.Contains([]string{"", "must", "should"}, t.Priority):
			return fmt.Sprintf("a target of priority %.40q", t.Priority)
		case t.Priority == "must" && !t.Key.IsEval() && !sound:
			return fmt.Sprintf("a target of %.40q that must be met, with the value %g and a tolerance of %g", t.Metric,
				t.Value, t.Tolerance)
		}
	}
	return ""
}

// unwritten is the first part of a document that no ttreport writes, "" for none.
func unwritten(r *schema.Run) string {
	long, commits := "", len(r.Stack.Commits)
	facts := r.Facts()
	manifest.EachText(&facts, func(s string) string {
		if len(s) > longestName {
			long = s
		}
		return s
	})
	for _, id := range r.Stack.Commits {
		if len(id) > longestName {
			long = id
		}
	}
	switch {
	case long != "":
		return fmt.Sprintf("a name of %d bytes (%.20q…)", len(long), long)
	case commits > mostCommits:
		return fmt.Sprintf("commits of %d components", commits)
	case len(r.Plan) > mostPlanned:
		return fmt.Sprintf("a plan of %d workloads", len(r.Plan))
	case len(r.Targets) > mostTargets:
		return fmt.Sprintf("%d targets", len(r.Targets))
	}
	if what := unwrittenTarget(r.Targets); what != "" {
		return what
	}
	for i := range r.Points {
		if what := unwrittenPoint(&r.Points[i]); what != "" {
			return what
		}
	}
	for i := range r.Scores {
		if s := &r.Scores[i]; s.Task == "" || s.Value.IsZero() && s.Value.Why() == "" {
			return "a score without a task, or with neither a value nor a reason"
		}
	}
	return ""
}

func unwrittenPoint(p *schema.Point) string {
	if p.Status != "" && !slices.Contains(schema.Statuses(), p.Status) {
		return fmt.Sprintf("a point of status %.40q", string(p.Status))
	}
	for i := range p.Metrics {
		m := &p.Metrics[i]
		k := m.Kind()
		if info, known := schema.MetricByName(k.Name); known && info.Unit != k.Unit {
			return fmt.Sprintf("%s in %.20q, which is stored in %s", k.Name, k.Unit, info.Unit)
		}
		x, is := m.Stats.Beyond()
		for _, s := range m.Stats {
			if s.Value < 0 && !s.Is("std") {
				x, is = s.Value, true
			}
		}
		if is && !schema.IsOwn(k.Name) {
			return fmt.Sprintf("%s of %g %s", k.Name, x, k.Unit)
		}
	}
	return ""
}

// document is [Decode].
func (c *decoder) document(path string, data []byte) (schema.Run, *schema.Problem) {
	const most = 1_000            // more are made room for when they are there
	const mostObjects = 1_000_000 // 30 of them are a point: each may take half a kilobyte of memory
	if bytes.Count(data, []byte("{")) > mostObjects {
		return schema.Run{}, refused(path, data, fmt.Errorf("more than %d objects", mostObjects))
	}
	r := schema.Run{Points: slices.Grow(c.points, min(most, bytes.Count(data, []byte(`"metrics":`))))}
	doc := document{Run: &r}
	if len(c.texts) > 1<<12 { // reasons of missing numbers are among them
		clear(c.texts)
	}
	err := json.Unmarshal(data, &doc, c.options)
	if c.points != nil && r.Points != nil {
		c.points = r.Points[:0]
	}
	if err != nil || doc.Schema != schema.Version {
		return schema.Run{}, refused(path, data, err)
	}
	r.Start, r.End = r.Start.UTC(), r.End.UTC()
	for i := range r.Points {
		p := &r.Points[i]
		p.Repeat, p.Block, p.Start, p.End = max(1, p.Repeat), max(0, p.Block), p.Start.UTC(), p.End.UTC()
	}
	if what := unwritten(&r); what != "" {
		return r, refused(path, data, errors.New(what))
	}
	return r, nil
}

// refused is the problem of a document that is not as ttreport writes it.
func refused(path string, data []byte, err error) *schema.Problem {
	const hint = "restore the document from version control, or ingest the results again; it is left as it is"
	v, p := decode.Document(path, data)
	if p != nil {
		p.Hint = hint
		if p.Code == "empty-file" {
			p.Expected = "a history document"
		}
		return p
	}
	p = &schema.Problem{Severity: schema.SevError, Path: path}
	if version := v.Get("schema").Str(); version != schema.Version {
		p.Code, p.Found, p.Expected = "other-schema", fmt.Sprintf("schema %q", version), schema.Version
		p.Hint = "a newer ttreport wrote it: upgrade this one; the document is left as it is"
		if !strings.HasPrefix(version, "ttreport/v") {
			p.Hint = "this is not a history document; move it out of the history folder"
		}
		return p
	}
	p.Code, p.Expected, p.Used, p.Hint = "unsound-document", "a document as ttreport writes it", "nothing of it", hint
	var syntactic *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &syntactic) && errors.Is(err, jsontext.ErrDuplicateName):
		p.Found = "two members " + place(syntactic.JSONPointer)
	case errors.As(err, &semantic) && semantic.GoType == reflect.TypeFor[time.Time]() && semantic.JSONKind == '"':
		text, _ := jsontext.NewDecoder(bytes.NewReader(data[semantic.ByteOffset:])).ReadValue()
		p.Found = fmt.Sprintf("%s %.40s, which is no time", place(semantic.JSONPointer), text)
	case errors.As(err, &semantic) && semantic.JSONKind != 0:
		kind := strings.NewReplacer("a [", "a list", "a {", "an object").Replace("a " + semantic.JSONKind.String())
		p.Found = place(semantic.JSONPointer) + " as " + kind
	default:
		p.Found = err.Error()
	}
	return p
}

// place says where a member is: "mean of ttft", "status of points[0]".
func place(p jsontext.Pointer) string {
	var names []string
	for name := range p.Tokens() {
		if _, err := strconv.Atoi(name); err == nil && len(names) > 0 {
			names[len(names)-1] += "[" + name + "]"
			continue
		}
		names = append(names, fmt.Sprintf("%.40s", name))
	}
	switch n := len(names); n {
	case 0:
		return "the document"
	case 1:
		return names[0]
	default:
		return names[n-1] + " of " + names[n-2]
	}
}

// metrics reads the metrics of a point. A history has millions of statistics, so they are read without reflection.
func (c *decoder) metrics(d *jsontext.Decoder, metrics *schema.MetricList) error {
	if err := begin(d); err != nil {
		return err
	}
	c.list, c.stats = c.list[:0], c.stats[:0]
	for d.PeekKind() != '}' {
		name, err := c.text(d.ReadValue())
		if err == nil {
			err = c.metric(d, name.string)
		}
		if err != nil {
			return err
		}
	}
	*metrics = append(make(schema.MetricList, 0, len(c.list)), c.list...)
	all := make(schema.Stats, 0, len(c.stats)) // of the point, in one piece
	for i := range *metrics {
		first, own := len(all), &(*metrics)[i].Stats
		all = append(all, *own...)
		*own = slices.Clip(all[first:])
	}
	_, err := d.ReadToken()
	return err
}

// begin reads the bracket that begins an object, or fails at what is there in its place.
func begin(d *jsontext.Decoder) error {
	if d.PeekKind() == '{' {
		_, err := d.ReadToken()
		return err
	}
	value, err := d.ReadValue()
	return cmp.Or(err, wrong(d, value))
}

// wrong is the error of a value, the last one that was read, of another kind than its place has.
func wrong(d *jsontext.Decoder, value jsontext.Value) error {
	of := reflect.TypeFor[schema.Metric]()
	return &json.SemanticError{JSONPointer: d.StackPointer(), JSONKind: value.Kind(), GoType: of}
}

// text is a text that is quoted, the same string for the same text.
func (c *decoder) text(quoted jsontext.Value, err error) (text, error) {
	t, known := c.texts[string(quoted)]
	if known || err != nil {
		return t, err
	}
	bare, err := jsontext.AppendUnquote(nil, quoted) // bytes that are no UTF-8 become U+FFFD, as they do elsewhere
	t = text{string(bare), schema.IsStat(string(bare))}
	if err == nil {
		c.texts[string(quoted)] = t
	}
	return t, err
}

// metric is the inverse of encodeMetric: it adds a metric to the list.
func (c *decoder) metric(d *jsontext.Decoder, name string) error {
	if err := begin(d); err != nil {
		return err
	}
	c.form = metricForm{Kind: schema.Kind{Name: name}}
	form, stats, isDetailed := &c.form, c.stats[len(c.stats):], false
	for d.PeekKind() != '}' {
		member, err := c.text(d.ReadValue())
		if err != nil {
			return err
		}
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		isSound := true
		if !member.isStat {
			isSound = c.member(form, &isDetailed, member.string, value)
		} else if v, err := strconv.ParseFloat(string(value), 64); err == nil {
			stats.Set(member.string, v)
		} else {
			isSound = false
		}
		if !isSound {
			return wrong(d, value)
		}
	}
	if len(c.list) == mostMetrics {
		return fmt.Errorf("a point of more than %d metrics", mostMetrics)
	}
	if len(c.list) == len(c.kinds) {
		c.kinds = append(c.kinds, schema.Metric{})
	}
	c.kinds[len(c.list)].Set(form.Kind)
	m := c.kinds[len(c.list)]
	if m.N, m.Stats = form.N, stats; isDetailed {
		m.SetDetail(form.Detail)
	}
	c.stats = append(c.stats, stats...)
	c.list.Put(m)
	_, err := d.ReadToken()
	return err
}

// member reads a member of a metric that is no statistic, and keeps what this version does not know. It is false for a
// value of another kind.
func (c *decoder) member(form *metricForm, isDetailed *bool, name string, value jsontext.Value) bool {
	switch name {
	case "unit":
		return c.textOf(value, &form.Unit)
	case "def":
		return c.textOf(value, &form.Def)
	case "from":
		return c.textOf(value, (*string)(&form.From))
	case "missing":
		return c.textOf(value, &form.Why)
	case "n":
		n, err := strconv.Atoi(string(value))
		form.N = n
		return err == nil
	}
	*isDetailed = true
	switch name {
	case "se":
		v, err := strconv.ParseFloat(string(value), 64)
		form.SE = schema.Num(v)
		return err == nil
	case "ci":
		return json.Unmarshal(value, &form.CI) == nil
	case "quantiles": // a step, and increments of it
		var sketch []float64
		if json.Unmarshal(value, &sketch) != nil {
			return false
		}
		if len(sketch) > 1 && sketch[0] > 0 {
			sum := 0.
			for _, n := range sketch[1:] {
				sum += n
				form.Detail.Quantiles = append(form.Detail.Quantiles, latency.Round(sum*sketch[0], 12))
			}
		}
		return true
	}
	if form.Unknown == nil {
		form.Unknown = schema.Unknown{}
	}
	form.Unknown[name] = bytes.Clone(value)
	return true
}

// textOf reads a text; null is an absent one. It is false for anything else.
func (c *decoder) textOf(value jsontext.Value, into *string) bool {
	if value.Kind() == '"' {
		t, _ := c.text(value, nil)
		*into = t.string
		return true
	}
	return value.Kind() == 'n'
}

func decodeNumber(d *jsontext.Decoder, n *schema.Number) error {
	var v *float64
	err := json.UnmarshalDecode(d, &v)
	if *n = schema.Missing(""); v != nil {
		*n = schema.Num(*v)
	}
	return err
}

func decodeScore(d *jsontext.Decoder, s *schema.Score) error {
	s.Stderr = schema.Missing("not in the file")
	form := scoreForm{Score: (*plainScore)(s)}
	err := json.UnmarshalDecode(d, &form)
	if _, ok := s.Value.Get(); !ok && form.Missing != nil {
		s.Value = schema.Missing(*form.Missing)
	}
	if s.Direction != "" && s.Direction != "higher" && s.Direction != "lower" && err == nil {
		err = fmt.Errorf("direction %.20q of a score", s.Direction)
	}
	return err
}

func decodeSlices(d *jsontext.Decoder, s *schema.Slices) error {
	var form slicesForm
	if err := json.UnmarshalDecode(d, &form); err != nil || !(form.Step > 0) {
		return err
	}
	s.Step = form.Step
	for name, list := range form.Series {
		x := schema.SliceOf{Name: name}
		for _, v := range list[:min(len(list), schema.MostSlices)] {
			x.Values = append(x.Values, math.NaN())
			if v != nil {
				x.Values[len(x.Values)-1] = *v
			}
		}
		s.Series = append(s.Series, x)
	}
	schema.SortSlices(s.Series)
	return nil
}
