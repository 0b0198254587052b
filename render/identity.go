package render

import (
	"cmp"
	"encoding/json"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

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
