package targets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
	rows    map[string]map[string][]schema.Target // model (lower case) -> device (lower case)
	names   map[string]string                     // as written, by lower case
}

// NewLibrary returns an empty library over an alias table.
func NewLibrary(a Aliases) *Library {
	return &Library{aliases: a, rows: map[string]map[string][]schema.Target{}, names: map[string]string{}}
}

// Add reads a target file. Entries for a model and device that are there already are replaced: later files override.
// asOf is the date of the file, YYYY-MM-DD. known names devices that have been measured.
func (l *Library) Add(path string, data []byte, asOf string, known func(device string) bool) []schema.Problem {
	var problems []schema.Problem
	f := new(decode.File)
	*f = decode.NewFile(path, data, time.Time{}, decode.DefaultLimits())
	root, bad := f.Only()
	if bad != nil {
		return []schema.Problem{*bad}
	}
	if root.Kind() != decode.Object {
		p := f.Problem(schema.SevError, "bad-targets", root)
		p.Found, p.Expected = root.Kind().String(), "an object {model: {device: [{isl, osl, max_concurrency, targets}]}}"
		return []schema.Problem{p}
	}
	if !hasLists(root) {
		p := f.Problem(schema.SevNote, "not-targets", root)
		p.Found, p.Expected, p.Used = "a file without lists of workloads", "{model: {device: [{isl, osl, max_concurrency, targets}]}}", "nothing of it"
		p.Hint = "if it holds targets of another kind, they are not read yet"
		return []schema.Problem{p}
	}
	sum := sha256.Sum256(data)
	source := schema.Target{Source: path, SHA256: hex.EncodeToString(sum[:]), AsOf: asOf}
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

// standsTwice reports an entry that a later one of the same name replaces, as it does when Python reads the file: promises
// that somebody wrote and nobody is held to.
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

func (l *Library) addPair(f *decode.File, model string, device decode.Member, source schema.Target, known func(string) bool) []schema.Problem {
	var problems []schema.Problem
	if !l.aliases.knows(device.Key) && !known(device.Key) {
		p := f.Problem(schema.SevWarning, "unknown-device", device.Val)
		p.Found, p.Expected = fmt.Sprintf("device %q of %s", device.Key, model), "a device that has been measured or that ttreport knows"
		p.Used, p.Hint = "the targets, but no run will meet them until that device is measured", "check the spelling; known are "+strings.Join(l.aliases.Devices, " ")
		problems = append(problems, p)
	}
	if device.Val.Kind() != decode.Array {
		p := f.Problem(schema.SevError, "bad-targets", device.Val)
		p.Found, p.Expected = device.Val.Kind().String()+" at "+model+" / "+device.Key, "an array of workloads with targets"
		return append(problems, p)
	}
	var rows []schema.Target
	for entry := range device.Val.Items() {
		targets, more := perfref.Targets(f, entry, source)
		rows = append(rows, targets...)
		problems = append(problems, more...)
	}
	m := strings.ToLower(model)
	if l.rows[m] == nil {
		l.rows[m] = map[string][]schema.Target{}
	}
	d := strings.ToLower(device.Key)
	if old := l.rows[m][d]; len(old) > 0 && len(rows) > 0 && old[0].Source != source.Source {
		p := f.Problem(schema.SevWarning, "targets-replaced", device.Val)
		p.Found, p.Used = fmt.Sprintf("targets of %s on %s, which %s states too", model, device.Key, old[0].Source), "these: later files override earlier ones"
		p.Hint = "keep one of the two files"
		problems = append(problems, p)
	}
	if len(rows) > 0 || l.rows[m][d] == nil {
		l.rows[m][d] = rows
	}
	l.names[m] = model
	return problems
}

// For returns the targets in force for a model on a device: filed under the architecture key, else under the model's own
// name, else under another weight of the architecture.
func (l *Library) For(model schema.Model, device string) []schema.Target {
	weights := l.aliases.weights(model.Name)
	names := append([]string{model.Key, weights[0], model.Name}, weights...)
	for _, name := range names {
		if rows := l.rows[strings.ToLower(name)][strings.ToLower(device)]; name != "" && len(rows) > 0 {
			return rows
		}
	}
	return nil
}

// Key returns the architecture key of a model's name.
func (l *Library) Key(model string) string { return l.aliases.Key(model) }

// Entry is the targets of one pair, for a listing.
type Entry struct {
	Model, Device string
	Targets       []schema.Target
}

// List returns every pair in order.
func (l *Library) List() []Entry {
	var out []Entry
	for m, devices := range l.rows {
		for d, rows := range devices {
			out = append(out, Entry{l.names[m], d, rows})
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
