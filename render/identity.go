package render

import (
	"encoding/json"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// identityTable lists every fact with its origin.
func identityTable(run *schema.Run, links CommitLinks) *Table {
	t := &Table{
		Caption: "Identity", Layout: KeyValue,
		Cols: []Col{{Head: "What"}, {Head: "Value"}, {Head: "Known from"}, {Head: "Where"}},
	}
	add := func(label, value, field string) {
		row := []Cell{{Text: label, Head: true}, {Text: words.OrUnknown(value), Code: value != ""}, {}, {Code: true}}
		if value == "" {
			row[1].Missing = "nothing states it"
		}
		if o, ok := run.Provenance[field]; ok && value != "" {
			row[2].Text, row[3].Text = string(o.From), o.Where
		}
		t.Rows = append(t.Rows, Row{Cells: row})
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
		add("Commit of "+name, id, "stack.commits")
		t.Rows[len(t.Rows)-1].Cells[1].Href = links.of(name, id, only(run.Stack.Commits, name))
	}
	return t
}

// fact is something that collect writes beside a run about the machine, and what people call it.
type fact struct{ name, label string }

// facts are those of the machine, in reading order.
func facts() []fact {
	return []fact{
		{"host", "Host"}, {"os", "System"}, {"kernel", "Kernel"}, {"cpu", "Processor"}, {"cpus", "Processors"},
		{"governor", "CPU governor"}, {"clocksource", "Clock source"}, {"accelerators", "Accelerators"},
		{"driver", "Driver"}, {"server_startup_s", "Server ready after, s"},
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
func (t *Table) addMachine(run *schema.Run) {
	var known map[string]string
	if json.Unmarshal(run.Extra["setting"], &known) != nil {
		return
	}
	for _, f := range facts() {
		if v := known[f.name]; v != "" {
			t.row(
				Cell{Text: f.label, Head: true}, Cell{Text: v, Code: true}, text("machine"),
				Cell{Text: "setting in the manifest", Code: true},
			)
		}
	}
}
