package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
)

// CommitLinks are where people read commits: addresses with holes, by component ("vllm", "tt_metal"). The address of
// "" is that of a run's only component: with several it is not known whose it is.
type CommitLinks struct {
	Commit  map[string]string // with {commit}
	Compare map[string]string // with {from} and {to}
}

// of is the address of a commit; "" where none is stated. only says that no other component is.
func (l CommitLinks) of(component, id string, only bool) Address {
	return filled(l.Commit, component, only, map[string]string{"{commit}": id})
}

// filled puts values into the address of a component. A file may state anything as a commit; what cannot be one is no
// part of an address.
func filled(by map[string]string, component string, only bool, values map[string]string) Address {
	address, ok := by[component]
	if !ok && only {
		address = by[""]
	}
	if address == "" {
		return ""
	}
	for hole, v := range values {
		if !isCommit(v) {
			return ""
		}
		address = strings.ReplaceAll(address, hole, url.PathEscape(v))
	}
	return Address(address)
}

// isCommit reports a name that a repository may have for a commit: a hash, a tag, a branch.
func isCommit(s string) bool {
	return s != "" && len(s) <= 100 && s[0] != '-' && s[0] != '.' && !strings.Contains(s, "..") &&
		!strings.ContainsFunc(s, func(c rune) bool {
			return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-/+", c))
		})
}

// External reports an address outside of the site.
func (a Address) External() bool {
	return strings.HasPrefix(string(a), "https://") || strings.HasPrefix(string(a), "http://")
}

// commitLinks are those that may be shown: on a public site those to hosts where everybody's repositories are, which do
// not show whose they are.
func (r *Report) commitLinks() CommitLinks {
	if !r.Public {
		return r.Commits
	}
	hosts := []string{"github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "huggingface.co"}
	public := func(by map[string]string) map[string]string {
		out := map[string]string{}
		for component, address := range by {
			if u, err := url.Parse(address); err == nil && slices.Contains(hosts, u.Host) {
				out[component] = address
			}
		}
		return out
	}
	return CommitLinks{public(r.Commits.Commit), public(r.Commits.Compare)}
}

// components are those of a run's software that state a commit, in order. The revision of the weights is none.
func components[T any](commits map[string]T) []string {
	return slices.DeleteFunc(sortedNames(commits), func(name string) bool { return name == schema.ModelCommit })
}

// only reports whether a component is a run's only one.
func only[T any](commits map[string]T, name string) bool {
	others := len(commits)
	if _, has := commits[schema.ModelCommit]; has {
		others--
	}
	_, is := commits[name]
	return others == 1 && is && name != schema.ModelCommit
}

// runCommit is the commit of a run, short; of several components the engine's, else the first.
func (r *Report) runCommit(h *columns.RunHead) Cell {
	names := components(h.Commits)
	if len(names) == 0 {
		return Cell{}
	}
	name := names[0]
	if slices.Contains(names, h.Engine) {
		name = h.Engine
	}
	c := Cell{Text: short7(h.Commits[name]), Code: true, Href: r.commitLinks().of(name, h.Commits[name], len(names) == 1)}
	if more := len(names) - 1; more > 0 {
		c.Sub = fmt.Sprintf("of %s, and %s", name, words.Plural(more, "other component"))
	}
	return c
}

// commitRange names the commits of a release and of the one before: "vllm 1a2b3c4..5d6e7f8"; a cell without text where
// none are stated.
func (r *Report) commitRange(release int) Cell {
	before := r.Gate.Before(release)
	if before < 0 {
		return Cell{}
	}
	was, is := r.commitsOf(before), r.commitsOf(release)
	names := moved(was, is)
	if len(names) == 0 {
		return Cell{}
	}
	name := names[0]
	a, b := was[name], is[name]
	return Cell{
		Text: name + " " + short7(a) + ".." + short7(b), Code: true, Sub: differToo(names[1:]),
		Href: filled(r.commitLinks().Compare, name, only(is, name), map[string]string{"{from}": a, "{to}": b}),
	}
}

// commitRanges are the texts of all releases.
func (r *Report) commitRanges() (out []string) {
	for i := range r.Releases {
		out = append(out, r.commitRange(i).Text)
	}
	return out
}

// moved are the components of which both sides state a commit, and not the same.
func moved(was, is map[string]string) []string {
	return slices.DeleteFunc(components(is), func(name string) bool {
		return was[name] == "" || is[name] == "" || was[name] == is[name]
	})
}

// differToo names the other components that differ: "vllm differs as well"; "" for none.
func differToo(names []string) string {
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return names[0] + " differs as well"
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " differ as well"
	}
}

// commitsOf are the commits that a release's newest run states.
func (r *Report) commitsOf(release int) map[string]string {
	runs := r.Releases[release].Runs
	for _, run := range slices.Backward(runs) {
		if c := r.Columns.Runs[run].Commits; len(components(c)) > 0 {
			return c
		}
	}
	return nil
}

func short7(s string) string { return s[:min(7, len(s))] }

// notStated heads the facts that no file states.
const notStated = "Not known: nothing states it"

// identityTable lists every fact below the source from which it is known, in the order in which the sources come first;
// what is not known is last.
func identityTable(run *schema.Run, links CommitLinks, public bool) *Table {
	var sources groups[string, []Row]
	add := func(source, label string, value Cell) {
		rows, known := sources.of(source)
		if !known {
			*rows = []Row{{Group: source}}
		}
		*rows = append(*rows, Row{Cells: []Cell{head(label, ""), value}})
	}
	from := func(field string) string { return knownFrom(run.Provenance[field]) }
	chips := ""
	if run.Device.Chips > 0 {
		chips = words.Count(run.Device.Chips)
	}
	for _, x := range []struct {
		label, value, field string
		optional            bool
	}{
		{"Release", run.Release, "release", false}, {"Channel", run.InChannel(), "channel", false},
		{"Model", run.Model.ID, "model.id", false}, {"Model name", run.Model.Name, "model.name", false},
		{"Architecture key", run.Model.Key, "model.key", false},
		{"Declared status", run.Model.Status, "model.status", false}, {"Implementation", run.Impl, "impl", false},
		{"Device", run.Device.Name, "device.name", false}, {"Accelerators", chips, "device.chips", true},
		{"Firmware", run.Device.Firmware, "device.firmware", true}, {"Engine", run.Stack.Engine, "stack.engine", false},
		{"Engine version", run.Stack.Version, "stack.version", false}, {"Image", run.Stack.Image, "stack.image", false},
		{"Image digest", run.Stack.Digest, "stack.digest", true},
	} {
		switch {
		case x.value != "":
			add(from(x.field), x.label, code(x.value))
		case !x.optional:
			add(notStated, x.label, Cell{Text: words.OrUnknown(""), Missing: "nothing states it"})
		}
	}
	for _, name := range sortedNames(run.Stack.Commits) {
		id := run.Stack.Commits[name]
		add(from("stack.commits"), "Commit of "+name,
			Cell{Text: id, Code: true, Href: links.of(name, id, only(run.Stack.Commits, name))})
	}
	var machine map[string]string
	if !public && json.Unmarshal(run.Extra["setting"], &machine) == nil {
		for _, name := range sortedNames(machine) { // what collect writes beside a run
			if v := machine[name]; v != "" {
				add("Known from the machine: setting in the manifest", words.Capital(strings.ReplaceAll(name, "_", " ")), code(v))
			}
		}
	}
	t := &Table{Caption: "Identity", Layout: KeyValue, Cols: []Col{col("What"), col("Value")}}
	for _, last := range []bool{false, true} {
		for _, rows := range sources.list {
			if (rows[0].Group == notStated) == last {
				t.Rows = append(t.Rows, rows...)
			}
		}
	}
	return t
}

// knownFrom is where a fact is known from: "Known from manifest: results/…/ttreport.manifest.yaml".
func knownFrom(o schema.Origin) string {
	if o.From == "" && o.Where == "" {
		return "Known, and nothing says from where"
	}
	return strings.TrimSuffix("Known from "+cmp.Or(string(o.From), "an unnamed source")+": "+o.Where, ": ")
}
