package library

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/perfref"
)

// Library holds the targets of files, by model and device.
type Library struct {
	aliases Aliases
	rows    map[string]map[string][]row // model (lower case) -> device (lower case)
	names   map[string]string           // as written, by lower case
	loads   map[pairID][]Load           // that a performance reference lists, with or without targets
	asked   []askedEval
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

// NewLibrary returns an empty library over an alias table.
func NewLibrary(a Aliases) *Library {
	return &Library{aliases: a, rows: map[string]map[string][]row{}, names: map[string]string{},
		loads: map[pairID][]Load{}}
}

// Add reads a target file of any supported kind. Entries of a performance reference replace those that an earlier one
// has for the same model and device; other targets replace an earlier one of the same number. asOf is the date of the
// file, YYYY-MM-DD. known names devices that have been measured.
func (l *Library) Add(path string, data []byte, asOf string, known func(device string) bool) []schema.Problem {
	sum := sha256.Sum256(data)
	source := schema.Target{Source: path, SHA256: hex.EncodeToString(sum[:]), AsOf: asOf}
	if strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml") {
		return l.addOwn(path, data, source, known)
	}
	var problems []schema.Problem
	f := new(decode.File)
	*f = decode.NewFile(path, data, time.Time{}, decode.DefaultLimits())
	root, bad := f.Only()
	if bad != nil {
		return []schema.Problem{*bad}
	}
	if root.Kind() != decode.Object {
		p := f.Problem(schema.SevError, "bad-targets", root)
		p.Found, p.Expected = root.Kind().String(), "an object {model: {device: [{isl, osl, max_concurrency, "+
			"targets}]}}"
		return []schema.Problem{p}
	}
	if root.Has("schemaVersion") {
		return l.addRequirements(f, root, source, known)
	}
	if !hasLists(root) {
		p := f.Problem(schema.SevNote, "not-targets", root)
		p.Found, p.Expected, p.Used = "a file without lists of workloads",
			"{model: {device: [{isl, osl, max_concurrency, targets}]}}", "nothing of it"
		p.Hint = "if it holds targets of another kind, they are not read yet"
		return []schema.Problem{p}
	}
	for _, model := range root.Members() {
		if p, twice := standsTwice(f, root, model, "model"); twice {
			problems = append(problems, p)
			continue
		}
		for _, device := range model.Val.Members() {
			if p, twice := standsTwice(f, model.Val, device, "device"); twice {
				p.Found = "of " + model.Key + ", " + p.Found
				problems = append(problems, p)
				continue
			}
			problems = append(problems, l.addPair(f, model.Key, device, source, known)...)
		}
	}
	return problems
}

// standsTwice reports an entry that a later one of the same name replaces, as when Python reads the file: its targets
// would be lost without a notice.
func standsTwice(f *decode.File, in decode.Value, m decode.Member, what string) (schema.Problem, bool) {
	if m.Val.Offset() == in.Get(m.Key).Offset() {
		return schema.Problem{}, false
	}
	p := f.Problem(schema.SevWarning, what+"-twice", m.Val)
	p.Found, p.Used, p.Hint = what+" "+m.Key+" twice in one file", "the later one, as Python reads it", "merge the two"
	return p, true
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

func (l *Library) addPair(f *decode.File, model string, device decode.Member, source schema.Target,
	known func(string) bool) []schema.Problem {
	var problems []schema.Problem
	if !l.aliases.knows(device.Key) && !known(device.Key) {
		p := f.Problem(schema.SevWarning, "unknown-device", device.Val)
		p.Found, p.Expected = fmt.Sprintf("device %q of %s", device.Key, model),
			"a device that has been measured or that ttreport knows"
		p.Used, p.Hint = "the targets, but no run will meet them until that device is measured",
			"check the spelling; known are "+strings.Join(l.aliases.Devices, " ")
		problems = append(problems, p)
	}
	if device.Val.Kind() != decode.Array {
		p := f.Problem(schema.SevError, "bad-targets", device.Val)
		p.Found, p.Expected = device.Val.Kind().String()+" at "+model+" / "+device.Key,
			"an array of workloads with targets"
		return append(problems, p)
	}
	var rows []row
	var loads []Load
	for entry := range device.Val.Items() {
		loads = append(loads, loadOf(entry))
		targets, more := perfref.Targets(f, entry, source)
		for _, t := range targets {
			rows = append(rows, row{t, reference})
		}
		problems = append(problems, more...)
	}
	l.loads[pairID{strings.ToLower(model), strings.ToLower(device.Key)}] = loads
	var kept []row
	replaced := ""
	for _, old := range l.rows[strings.ToLower(model)][strings.ToLower(device.Key)] {
		again := func(r row) bool { return r.Target.SameNumber(&old.Target) }
		if old.Source != source.Source && (old.kind == reference && len(rows) > 0 || old.Priority != "must" &&
			slices.ContainsFunc(rows, again)) {
			replaced = old.Source
			continue
		}
		kept = append(kept, old)
	}
	if replaced != "" {
		p := f.Problem(schema.SevWarning, "targets-replaced", device.Val)
		p.Found, p.Used = fmt.Sprintf("targets of %s on %s, which %s states too", model, device.Key, replaced),
			"these: later files override earlier ones"
		p.Hint = "keep one of the two files"
		problems = append(problems, p)
	}
	l.set(model, device.Key, append(kept, rows...))
	return problems
}

// set replaces the targets of a model on a device.
func (l *Library) set(model, device string, rows []row) {
	m := strings.ToLower(model)
	if l.rows[m] == nil {
		l.rows[m] = map[string][]row{}
	}
	l.names[m] = model
	l.rows[m][strings.ToLower(device)] = rows
}

// put adds one target in place of an earlier one of the same number, which it returns. keep reports whether the
// earlier one stays.
func (l *Library) put(model, device string, r row, keep func(old, now *row) bool) (old *row) {
	rows := l.rows[strings.ToLower(model)][strings.ToLower(device)]
	for i := range rows {
		if rows[i].Target.SameNumber(&r.Target) {
			was := rows[i]
			if !keep(&was, &r) {
				rows[i] = r
			}
			return &was
		}
	}
	l.set(model, device, append(rows, r))
	return nil
}

// For returns the targets in force for a model on a device. stated are those that files beside a result state: the
// spec of its server, a report.
//
// Those of our own files and of requirements documents come first: under the model's own name, then under the
// architecture key for numbers without a target under its own name; where neither has any, under another weight of
// the architecture. Stated ones fill in what they leave open, unless they must hold and ours only should. A
// performance reference fills in the rest, from the first name under which it has the device: the architecture key,
// the model's own name, another weight. Names are never mixed in a performance reference, because it keeps entries of
// weights that are no longer served.
func (l *Library) For(model schema.Model, device string, stated []schema.Target) []schema.Target {
	weights := l.aliases.weights(model.Name)
	var out []schema.Target
	for _, name := range []string{model.Name, model.Key, weights[0]} {
		out = l.add(out, name, device, own, requirements)
	}
	for _, name := range weights {
		if len(out) == 0 {
			out = l.add(out, name, device, own, requirements)
		}
	}
	out = schema.MergeTargets(withoutWeaker(out, stated), stated)
	if slices.ContainsFunc(stated, hasReference) {
		return out
	}
	before := len(out)
	for _, name := range append([]string{model.Key, weights[0], model.Name}, weights...) {
		if out = l.add(out, name, device, reference); len(out) > before {
			break
		}
	}
	return out
}

// hasReference reports a target of a spec, which has the performance reference of its time. Of models that write no
// text it has TTFT and tput_user alone: the file has the rest.
func hasReference(t schema.Target) bool { return !t.Key.IsEval() && !schema.IsMediaTask(t.Key.Task) }

// withoutWeaker drops targets that should hold where a stated one of the same number must.
func withoutWeaker(list, stated []schema.Target) []schema.Target {
	return slices.DeleteFunc(list, func(t schema.Target) bool {
		return t.Priority == "should" && slices.ContainsFunc(stated, func(o schema.Target) bool {
			return o.Priority == "must" && o.SameNumber(&t)
		})
	})
}

// add appends the targets of some kinds under a name, if their number has none yet: those of the device, then those
// of any device.
func (l *Library) add(out []schema.Target, name, device string, kinds ...kind) []schema.Target {
	for _, d := range []string{strings.ToLower(device), anyDevice} {
		had := out[:len(out):len(out)]
		for _, r := range l.rows[strings.ToLower(name)][d] {
			stated := func(o schema.Target) bool { return o.SameNumber(&r.Target) }
			if slices.Contains(kinds, r.kind) && !slices.ContainsFunc(had, stated) {
				out = append(out, r.Target)
			}
		}
	}
	return out
}

func plain(rows []row) []schema.Target {
	var out []schema.Target
	for _, r := range rows {
		out = append(out, r.Target)
	}
	return out
}

// Key returns the architecture key of a model's name.
func (l *Library) Key(model string) string { return l.aliases.Key(model) }

// Entry holds the targets of one model and device, for a listing.
type Entry struct {
	Model, Device string
	Targets       []schema.Target
}

// List returns every model and device in order.
func (l *Library) List() []Entry {
	var out []Entry
	for m, devices := range l.rows {
		for d, rows := range devices {
			out = append(out, Entry{l.names[m], d, plain(rows)})
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Model != out[j].Model {
			return out[i].Model < out[j].Model
		}
		return out[i].Device < out[j].Device
	})
	return out
}
