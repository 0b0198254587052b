package library

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/perfref"
)

// Library holds the targets of files, by model and device.
type Library struct {
	rows  map[pairID][]row
	names map[string]string // as written, by lower case
	loads map[pairID][]Load // that a performance reference lists, with or without targets
	asked []PlannedEval
}

// row is a target and the kind of file that states it.
type row struct {
	schema.Target
	kind kind
}

// kind of a target file.
type kind uint8

const (
	reference    kind = iota // tt-inference-server's performance reference
	own                      // our YAML
	requirements             // a requirements document 2.x
)

// anyDevice is the device of targets that hold on every device.
const anyDevice = "*"

// New returns an empty library.
func New() *Library {
	return &Library{rows: map[pairID][]row{}, names: map[string]string{}, loads: map[pairID][]Load{}}
}

// Add reads a target file of any supported kind. Entries of a performance reference replace those that an earlier one
// has for the same model and device; other targets replace an earlier one of the same number. asOf is the date of the
// file, YYYY-MM-DD. known names devices that have been measured.
func (l *Library) Add(path string, data []byte, asOf string, known func(device string) bool) []schema.Problem {
	sum := sha256.Sum256(data)
	r := &reader{Library: l, known: known,
		source: schema.Target{Source: path, SHA256: hex.EncodeToString(sum[:]), AsOf: asOf}}
	if strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml") {
		r.own(data)
		return r.problems
	}
	file := decode.NewFile(path, data, time.Time{}, decode.DefaultLimits())
	root, bad := file.Only()
	if bad != nil {
		return []schema.Problem{*bad}
	}
	const form = "{model: {device: [{isl, osl, max_concurrency, targets}]}}"
	switch r.file, r.at = &file, root; {
	case root.Kind() != decode.Object:
		r.problem(schema.SevError, "bad-targets", root.Kind().String(), "an object "+form, "", "")
	case root.Has("schemaVersion"):
		r.requirements(root)
	case !hasLists(root):
		r.problem(schema.SevNote, "not-targets", "a file without lists of workloads", form, "nothing of it",
			"if it holds targets of another kind, they are not read yet")
	default:
		r.reference(root)
	}
	return r.problems
}

// reader reads one file of targets.
type reader struct {
	*Library
	source   schema.Target     // with the origin of the file's targets
	known    func(string) bool // whether a device was measured
	file     *decode.File      // nil for a file of ours
	at       decode.Value      // what is being read
	entry    string            // the same of a file of ours: targets[3]
	model    string            // of a requirements document
	device   string            // as above
	problems []schema.Problem
}

// problem reports one of what is being read.
func (r *reader) problem(severity schema.Severity, code, found, expected, used, hint string) {
	p := schema.Problem{Severity: severity, Code: code, Path: r.source.Source}
	if r.file != nil {
		p = r.file.Problem(severity, code, r.at)
	} else {
		found = r.entry + ": " + found
	}
	p.Found, p.Expected, p.Used, p.Hint = found, expected, used, hint
	r.problems = append(r.problems, p)
}

// refuse reports an entry that is not read.
func (r *reader) refuse(code, found, expected string) {
	r.problem(schema.SevError, code, found, expected, "nothing of it", "")
}

// isDevice warns of a device that nobody knows.
func (r *reader) isDevice(model, device string) {
	devices := aliases().Devices
	known := func(d string) bool { return schema.SameDevice(d, device) }
	if device != anyDevice && !slices.ContainsFunc(devices, known) && !r.known(device) {
		r.problem(schema.SevWarning, "unknown-device", fmt.Sprintf("device %q of %s", device, model),
			"a device that has been measured or that ttreport knows",
			"the targets, but no run will meet them until that device is measured",
			"check the spelling; known are "+strings.Join(devices, " "))
	}
}

// reference reads a performance reference. Of an entry that a later one of the same name replaces, as when Python reads
// the file, the targets would be lost without a notice.
func (r *reader) reference(root decode.Value) {
	replaced := func(in decode.Value, m decode.Member, what, of string) bool {
		isLast := m.Val.Offset() == in.Get(m.Key).Offset()
		if r.at = m.Val; !isLast {
			r.problem(schema.SevWarning, what+"-twice", of+what+" "+m.Key+" twice in one file", "",
				"the later one, as Python reads it", "merge the two")
		}
		return !isLast
	}
	for _, model := range root.Members() {
		if replaced(root, model, "model", "") {
			continue
		}
		for _, device := range model.Val.Members() {
			if !replaced(model.Val, device, "device", "of "+model.Key+", ") {
				r.pair(model.Key, device)
			}
		}
	}
}

// hasLists reports whether some model has a device with a list.
func hasLists(root decode.Value) bool {
	for _, model := range root.Members() {
		for _, device := range model.Val.Members() {
			if device.Val.Kind() == decode.Array {
				return true
			}
		}
	}
	return len(root.Members()) == 0
}

// pair reads the entries of a model on a device.
func (r *reader) pair(model string, device decode.Member) {
	r.isDevice(model, device.Key)
	if kind := device.Val.Kind(); kind != decode.Array {
		r.problem(schema.SevError, "bad-targets", kind.String()+" at "+model+" / "+device.Key,
			"an array of workloads with targets", "", "")
		return
	}
	var rows []row
	var loads []Load
	for entry := range device.Val.Items() {
		load := Load{Key: schema.Key{Task: entry.Get("task_type").Str(), ISL: entry.Get("isl").Ptr(),
			OSL: entry.Get("osl").Ptr(), Concurrency: entry.Get("max_concurrency").Ptr()}}
		if n, ok := entry.Get("num_prompts").Float(); ok && n >= 1 && n < 1e7 {
			load.Requests = int(n)
		}
		loads = append(loads, load)
		targets, more := perfref.Targets(r.file, entry, r.source)
		for _, t := range targets {
			rows = append(rows, row{t, reference})
		}
		r.problems = append(r.problems, more...)
	}
	r.loads[pairOf(model, device.Key)] = loads
	var kept []row
	replaced := ""
	for _, old := range r.rows[pairOf(model, device.Key)] {
		again := func(x row) bool { return x.Target.SameNumber(&old.Target) }
		if old.Source != r.source.Source && (old.kind == reference && len(rows) > 0 || old.Priority != "must" &&
			slices.ContainsFunc(rows, again)) {
			replaced = old.Source
			continue
		}
		kept = append(kept, old)
	}
	if replaced != "" {
		r.problem(schema.SevWarning, "targets-replaced", fmt.Sprintf("targets of %s on %s, which %s states too", model,
			device.Key, replaced), "", "these: later files override earlier ones", "keep one of the two files")
	}
	r.set(model, device.Key, append(kept, rows...))
}

// set replaces the targets of a model on a device.
func (l *Library) set(model, device string, rows []row) {
	id := pairOf(model, device)
	l.names[id.model], l.rows[id] = model, rows
}

// take adds a valid target in place of an earlier one of the same number. Of two that must hold, and of two of
// requirements documents, the more demanding one is in force, whichever file states it; should never replaces must.
func (r *reader) take(model, device string, x row) {
	if found, expected := unsound(&x.Target); found != "" {
		r.refuse("bad-target", found, expected)
		return
	}
	rows := r.rows[pairOf(model, device)]
	i := slices.IndexFunc(rows, func(o row) bool { return o.Target.SameNumber(&x.Target) })
	if i < 0 {
		r.set(model, device, append(rows, x))
		return
	}
	old, used := rows[i], x
	isBound := old.Priority == "must" || old.kind == requirements && x.kind == requirements
	if isBound && !asks(&x.Target, &old.Target) {
		used = old
	}
	rows[i] = used
	if old.Value != x.Value || old.Tolerance != x.Tolerance || old.Priority != x.Priority {
		r.problem(schema.SevWarning, "targets-replaced", statement(model, device, &x.Target)+", which "+old.Source+
			" states as "+statement(model, device, &old.Target), "one value", statement(model, device, &used.Target),
			"keep one of the two")
	}
}

// For returns the targets in force for a model on a device. stated are those that files beside a result state: the
// spec of its server, a report.
//
// Those of our own files and of requirements documents come first: under the model's own name or id, then under the
// architecture key for numbers without a target under its own name; a stricter one that must hold is in force wherever
// it stands. Where neither has any, under another weight of the architecture. Stated ones fill in what they leave open,
// unless they must hold and ours only should. A performance reference fills in the rest, from the first name under
// which it has the device: the architecture key, the model's own name, another weight. Names are never mixed in a
// performance reference, because it keeps entries of weights that are no longer served.
func (l *Library) For(model schema.Model, device string, stated []schema.Target) []schema.Target {
	weights := weights(model.Name)
	var out []schema.Target
	for _, name := range []string{model.Name, model.ID, model.Key, weights[0]} {
		out = l.add(out, name, device, own, requirements)
	}
	for _, name := range weights {
		if len(out) == 0 {
			out = l.add(out, name, device, own, requirements)
		}
	}
	out = slices.DeleteFunc(out, func(t schema.Target) bool {
		return t.Priority == "should" && slices.ContainsFunc(stated, func(o schema.Target) bool {
			return o.Priority == "must" && o.SameNumber(&t)
		})
	})
	out = schema.MergeTargets(out, stated)
	for _, t := range stated { // a spec has the reference of its time, of media models only TTFT and tput_user
		if !t.Key.IsEval() && !schema.IsMediaTask(t.Key.Task) {
			return out
		}
	}
	before := len(out)
	for _, name := range append([]string{model.Key, weights[0], model.Name}, weights...) {
		if out = l.add(out, name, device, reference); len(out) > before {
			break
		}
	}
	return out
}

// add appends the targets of some kinds under a name, if their number has none yet: those of the device, then those
// of any device. One that must hold takes the place of a looser one.
func (l *Library) add(out []schema.Target, name, device string, kinds ...kind) []schema.Target {
	for _, d := range []string{strings.TrimSpace(device), anyDevice} {
		had := out[:len(out):len(out)]
		for _, r := range l.rows[pairOf(name, d)] {
			if !slices.Contains(kinds, r.kind) {
				continue
			}
			i := slices.IndexFunc(had, func(o schema.Target) bool { return o.SameNumber(&r.Target) })
			if i < 0 {
				out = append(out, r.Target)
			} else if r.Priority == "must" && asks(&r.Target, &had[i]) {
				had[i] = r.Target
			}
		}
	}
	return out
}

// Key returns the architecture key of a model's name: the first weight of its architecture, or the name itself.
func (l *Library) Key(model string) string { return weights(model)[0] }

// Entry holds the targets of one model and device, for a listing.
type Entry struct {
	Model, Device string
	Targets       []schema.Target
}

// List returns every model and device in order.
func (l *Library) List() []Entry {
	var out []Entry
	for id, rows := range l.rows {
		e := Entry{Model: l.names[id.model], Device: id.device}
		for _, r := range rows {
			e.Targets = append(e.Targets, r.Target)
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Device, b.Device))
	})
	return out
}

// The table is YAML with another extension: the workspace's folder of targets is called targets too, and a build in
// this repository would read the table as a target file.
//
//go:embed aliases.txt
var aliasData []byte

// aliases is the table of architectures and known devices.
var aliases = sync.OnceValue(func() (a struct {
	Architectures [][]string `yaml:"architectures"`
	Devices       []string   `yaml:"devices"`
}) {
	if p := decode.YAML("targets/library/aliases.txt", aliasData, &a); p != nil {
		panic(p) // it is embedded
	}
	return a
})

// weights lists the names of a model's architecture, the key first.
func weights(model string) []string {
	for _, arch := range aliases().Architectures {
		for _, w := range arch {
			if strings.EqualFold(w, model) {
				return arch
			}
		}
	}
	return []string{model}
}

// Fold puts a contradiction that several levels of one workload have into one: the levels are shares of one value. The
// numbers are those of the last level, which asks for most; Target.Level names all.
func Fold(list []Contradiction) []Contradiction {
	var out []Contradiction
	for _, c := range list {
		i := slices.IndexFunc(out, func(o Contradiction) bool {
			return o.Model == c.Model && o.Device == c.Device && o.Code == c.Code && o.Target.Metric == c.Target.Metric &&
				o.Target.Key.String() == c.Target.Key.String()
		})
		if i < 0 {
			out = append(out, c)
			continue
		}
		c.Target.Level = out[i].Target.Level + ", " + c.Target.Level
		out[i] = c
	}
	return out
}

// Load is a workload to measure because a target covers it, or because a performance reference lists it.
type Load struct {
	Key      schema.Key
	Requests int // 0: not stated
}

// pairID is a model and a device, in lower case.
type pairID struct{ model, device string }

func pairOf(model, device string) pairID {
	return pairID{strings.ToLower(model), strings.ToLower(device)}
}

// Loads lists the workloads that the targets of a model on a device cover, each once: first those of a performance
// reference, in its order, then those of other targets in force.
func (l *Library) Loads(model schema.Model, device string) []Load {
	var out []Load
	add := func(x Load) {
		k := x.Key
		listed := func(o Load) bool { return o.Key.Workload() == k.Workload() }
		// A load client can make text of known lengths under a known load.
		if (k.Task == "" || k.Task == "text") && k.ISL != nil && k.OSL != nil && (k.Concurrency != nil || k.Rate != nil) &&
			len(k.Dims) == 0 && !slices.ContainsFunc(out, listed) {
			x.Key = schema.Key{ISL: k.ISL, OSL: k.OSL, Concurrency: k.Concurrency, Rate: k.Rate}
			out = append(out, x)
		}
	}
	weights := weights(model.Name)
	for _, name := range append([]string{model.Key, weights[0], model.Name}, weights...) {
		for _, x := range l.loads[pairOf(name, device)] {
			add(x)
		}
		if len(out) > 0 {
			break
		}
	}
	for _, t := range l.For(model, device, nil) {
		if !t.Key.IsEval() {
			add(Load{Key: t.Key})
		}
	}
	return out
}

// PlannedEval is an eval task planned for a model.
type PlannedEval struct {
	Task string
	EvalRun
	pair pairID // of the target file that states how it is run
}

// Evals lists the tasks that target files plan for a model on a device, each once.
func (l *Library) Evals(model schema.Model, device string) []PlannedEval {
	names := append([]string{model.Name, model.ID, model.Key}, weights(model.Name)...)
	var out []PlannedEval
	for _, a := range l.asked {
		named := slices.ContainsFunc(names, func(n string) bool { return n != "" && strings.EqualFold(n, a.pair.model) })
		if !named || a.pair.device != anyDevice && !schema.SameDevice(a.pair.device, device) {
			continue
		}
		if !slices.ContainsFunc(out, func(p PlannedEval) bool { return p.Task == a.Task && p.Tool == a.Tool }) {
			out = append(out, a)
		}
	}
	return out
}

// deviceOfAll is how people read [anyDevice].
const deviceOfAll = "any device"

// Unmeasured are the models and devices that have targets and no run, in order, under the names that runs have for
// them: files name a model by any of its weights. Targets that hold on every device wait only for the model. Those that
// must be met are apart as well.
func (l *Library) Unmeasured(runs []columns.RunHead) (all, must []schema.Pair) {
	models, devices, measured := map[string]string{}, map[string]string{}, map[schema.Pair]bool{}
	for i := range runs {
		h := &runs[i]
		for _, name := range []string{h.Model.Name, h.Model.ID, h.Model.Key} {
			if key := l.Key(name); name != "" && models[key] == "" {
				models[key] = h.Model.Name
			}
		}
		devices[schema.FoldDevice(h.Device)] = h.Device
		measured[h.Pair()] = true
		measured[schema.Pair{Model: h.Model.Name, Device: deviceOfAll}] = true
	}
	for _, e := range l.List() {
		p := schema.Pair{Model: e.Model, Device: e.Device}
		if name := models[l.Key(e.Model)]; name != "" {
			p.Model = name
		}
		if name := devices[schema.FoldDevice(e.Device)]; name != "" {
			p.Device = name
		}
		if e.Device == anyDevice {
			p.Device = deviceOfAll
		}
		if measured[p] {
			continue
		}
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
		bound := func(t schema.Target) bool { return t.Priority == "must" }
		if slices.ContainsFunc(e.Targets, bound) && !slices.Contains(must, p) {
			must = append(must, p)
		}
	}
	return all, must
}

// Select lists the entries of a model on a device; "" for any. A model is named as the file does, or by a weight.
func (l *Library) Select(model, device string) []Entry {
	return slices.DeleteFunc(l.List(), func(e Entry) bool { return !l.Selects(e.Model, e.Device, model, device) })
}

// Selects reports whether an entry of a model on a device is what is asked for; see [Library.Select].
func (l *Library) Selects(entryModel, entryDevice, model, device string) bool {
	isModel := model == "" || strings.EqualFold(entryModel, model) || strings.EqualFold(entryModel, l.Key(model))
	return isModel && (device == "" || entryDevice == anyDevice || schema.SameDevice(entryDevice, device))
}

// Misspelt warns of targets whose model was not measured, where one of nearly the same name was: they would grade
// nothing, and a required one would never fail.
func (l *Library) Misspelt(runs []schema.Run) []schema.Problem {
	names := map[string]bool{} // of what was measured, as targets may call it
	var measured []string
	for i := range runs {
		m := &runs[i].Model
		for _, name := range []string{m.Name, m.ID, m.Key, l.Key(m.Name)} {
			names[strings.ToLower(name)] = true
		}
		if m.Name != "" && !slices.Contains(measured, m.Name) {
			measured = append(measured, m.Name)
		}
	}
	var out []schema.Problem
	for _, e := range l.List() {
		if names[strings.ToLower(e.Model)] || len(e.Targets) == 0 {
			continue
		}
		at := slices.IndexFunc(measured, func(name string) bool { return schema.NearlyNamed(e.Model, name) })
		if at < 0 {
			continue
		}
		names[strings.ToLower(e.Model)] = true // one warning for all its devices
		path, _, _ := strings.Cut(e.Targets[0].Source, "#")
		out = append(out, schema.Problem{Severity: schema.SevWarning, Path: path, Code: "unknown-model",
			Found:    fmt.Sprintf("targets of model %q, which was not measured", e.Model),
			Expected: "the name of a model as results state it", Hint: "did you mean " + measured[at] + "?"})
	}
	return out
}
