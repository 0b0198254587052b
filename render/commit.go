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

// between is the address of what changed between two commits; "" where none is stated.
func (l CommitLinks) between(component, from, to string, only bool) Address {
	return filled(l.Compare, component, only, map[string]string{"{from}": from, "{to}": to})
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

// commitLinks are those that may be shown: on a public site those to hosts that do not show whose they are.
func (r *Report) commitLinks() CommitLinks {
	if !r.Public {
		return r.Commits
	}
	public := func(by map[string]string) map[string]string {
		out := map[string]string{}
		for component, address := range by {
			if u, err := url.Parse(address); err == nil && slices.Contains(codeHosts(), u.Host) {
				out[component] = address
			}
		}
		return out
	}
	return CommitLinks{public(r.Commits.Commit), public(r.Commits.Compare)}
}

// codeHosts are where everybody's repositories are.
func codeHosts() []string {
	return []string{"github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "huggingface.co"}
}

// components are those of a run's software that state a commit, in order. The revision of the weights is none.
func components[T any](commits map[string]T) []string {
	return slices.DeleteFunc(sortedNames(commits), func(name string) bool { return name == schema.ModelCommit })
}

// only reports whether a component is a run's only one.
func only[T any](commits map[string]T, name string) bool {
	names := components(commits)
	return len(names) == 1 && names[0] == name
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
		Href: r.commitLinks().between(name, a, b, only(is, name)),
	}
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

// identity is what is known of a run, by where it is known from.
type identity struct {
	sources []string // in the order in which they come first
	rows    map[string][]Row
}

// add adds a fact under its source; the rows of one source stand below it.
func (d *identity) add(source string, cells ...Cell) {
	if d.rows == nil {
		d.rows = map[string][]Row{}
	}
	if d.rows[source] == nil {
		d.sources = append(d.sources, source)
	}
	d.rows[source] = append(d.rows[source], Row{Cells: cells})
}

// Groups of facts that no file states.
const (
	notStated   = "Not known: nothing states it"
	notTold     = "Known, and nothing says from where"
	fromSetting = "Known from the machine: setting in the manifest"
)

// table has each source once, what is not known last.
func (d *identity) table() *Table {
	t := &Table{Caption: "Identity", Layout: KeyValue, Cols: []Col{{Head: "What"}, {Head: "Value"}}}
	for _, last := range []bool{false, true} {
		for _, s := range d.sources {
			if (s == notStated) == last {
				t.Rows = append(append(t.Rows, Row{Group: s}), d.rows[s]...)
			}
		}
	}
	return t
}

// sourceOf is where a fact is known from: "Known from manifest: results/…/ttreport.manifest.yaml".
func sourceOf(o schema.Origin) string {
	if o.From == "" && o.Where == "" {
		return notTold
	}
	out := "Known from " + cmp.Or(string(o.From), "an unnamed source")
	if o.Where != "" {
		out += ": " + o.Where
	}
	return out
}

// identityTable lists every fact below its source.
func identityTable(run *schema.Run, links CommitLinks, public bool) *Table {
	var d identity
	add := func(label, value, field string) {
		if value == "" {
			d.add(notStated, Cell{Text: label, Head: true}, Cell{Text: words.OrUnknown(""), Missing: "nothing states it"})
			return
		}
		d.add(sourceOf(run.Provenance[field]), Cell{Text: label, Head: true}, Cell{Text: value, Code: true})
	}
	add("Release", run.Release, "release")
	add("Channel", run.InChannel(), "channel")
	add("Model", run.Model.ID, "model.id")
	add("Model name", run.Model.Name, "model.name")
	add("Architecture key", run.Model.Key, "model.key")
	add("Declared status", run.Model.Status, "model.status")
	add("Implementation", run.Impl, "impl")
	add("Device", run.Device.Name, "device.name")
	if run.Device.Chips > 0 {
		add("Accelerators", words.Count(run.Device.Chips), "device.chips")
	}
	if run.Device.Firmware != "" {
		add("Firmware", run.Device.Firmware, "device.firmware")
	}
	add("Engine", run.Stack.Engine, "stack.engine")
	add("Engine version", run.Stack.Version, "stack.version")
	add("Image", run.Stack.Image, "stack.image")
	if run.Stack.Digest != "" {
		add("Image digest", run.Stack.Digest, "stack.digest")
	}
	for _, name := range sortedNames(run.Stack.Commits) {
		id := run.Stack.Commits[name]
		d.add(sourceOf(run.Provenance["stack.commits"]), Cell{Text: "Commit of " + name, Head: true},
			Cell{Text: id, Code: true, Href: links.of(name, id, only(run.Stack.Commits, name))})
	}
	if !public {
		d.addMachine(run)
	}
	return d.table()
}

// fact is something that collect writes beside a run about the machine, and what people call it.
type fact struct{ name, label string }

// facts are those of the machine, in reading order.
func facts() []fact {
	return []fact{
		{"host", "Host"}, {"os", "System"}, {"kernel", "Kernel"}, {"cpu", "Processor"}, {"cpus", "Processors"},
		{"governor", "CPU governor"}, {"clocksource", "Clock source"}, {"accelerators", "Accelerators"},
		{"driver", "Driver"}, {schema.SettingStartup, "Server ready after, s"},
		{"slurm_job_id", "Slurm job"}, {"slurm_node", "Slurm node"}, {"slurm_partition", "Slurm partition"},
		{"slurm_state", "Slurm state"}, {"slurm_reason", "Slurm reason"}, {"slurm_exit_code", "Exit code of the job"},
		{"slurm_elapsed_s", "Elapsed time of the job, s"}, {"slurm_max_rss_bytes", "MaxRSS of the job, bytes"},
		{"slurm_energy_j", "Consumed energy of the job, J"},
		{"kubernetes_job_id", "Kubernetes pod"}, {"kubernetes_node", "Kubernetes node"},
		{"kubernetes_state", "Kubernetes state"}, {"kubernetes_reason", "Kubernetes reason"},
		{"kubernetes_exit_code", "Exit code of the pod"}, {"kubernetes_elapsed_s", "Elapsed time of the pod, s"},
		{"kubernetes_image", "Image of the pod"}, {"kubernetes_server_restarts", "Restarts of the server in the pod"},
	}
}

// addMachine adds what is known of the machine to an identity.
func (d *identity) addMachine(run *schema.Run) {
	var known map[string]string
	if json.Unmarshal(run.Extra["setting"], &known) != nil {
		return
	}
	for _, f := range facts() {
		if v := known[f.name]; v != "" {
			d.add(fromSetting, Cell{Text: f.label, Head: true}, Cell{Text: v, Code: true})
		}
	}
}
