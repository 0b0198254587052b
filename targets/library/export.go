package library

import (
	"maps"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Export turns targets into a file of our own, with the source and date of each. It counts those that such a file
// cannot hold: targets on metrics that no tool measures.
func Export(model, device string, list []schema.Target) (f File, unmeasured int) {
	for _, t := range list {
		if t.Key.IsEval() {
			e := FileEval{Model: model, Device: device, Task: t.Key.Dataset, Metric: t.Metric,
				Filter: t.Key.Dims["filter"], Value: t.Value, Items: t.Items, Tolerance: t.Tolerance,
				Priority: t.Priority, Source: t.Source, AsOf: t.AsOf}
			if s := t.Scores; s != nil {
				e.GPU, e.Published = fileScore(s.GPU, s.GPUSource), fileScore(s.Published, s.PublishSource)
			}
			f.Evals = append(f.Evals, e)
			continue
		}
		if info, known := schema.MetricByName(t.Metric); !known || info.Better == schema.Neither {
			unmeasured++
			continue
		}
		f.Targets = append(f.Targets, FileTarget{Model: model, Device: device, Workload: WorkloadOf(t.Key),
			Metric: t.Metric, Stat: t.Stat, Value: t.Value, Level: t.Level,
			Tolerance: t.Tolerance, Priority: t.Priority, Source: t.Source, AsOf: t.AsOf})
	}
	return f, unmeasured
}

// fileScore is a score that is stated; nil for none.
func fileScore(value float64, source string) *FileScore {
	if value == 0 {
		return nil
	}
	return &FileScore{value, source}
}

// ExportAll is one file of the targets of several models and devices.
func ExportAll(list []Entry) (f File, unmeasured int) {
	for _, e := range list {
		part, n := Export(e.Model, e.Device, e.Targets)
		unmeasured += n
		f.Targets, f.Evals = append(f.Targets, part.Targets...), append(f.Evals, part.Evals...)
	}
	return f, unmeasured
}

// ByModel is a file for each model of a file that is too long for one, in order of their names.
func (f File) ByModel() (models []string, files []File) {
	parts := map[string]File{}
	for _, t := range f.Targets {
		part := parts[t.Model]
		part.Targets = append(part.Targets, t)
		parts[t.Model] = part
	}
	for _, e := range f.Evals {
		part := parts[e.Model]
		part.Evals = append(part.Evals, e)
		parts[e.Model] = part
	}
	models = slices.Sorted(maps.Keys(parts))
	for _, m := range models {
		files = append(files, parts[m])
	}
	return models, files
}

// WorkloadOf is the workload of a key, whichever tool measured it.
func WorkloadOf(k schema.Key) manifest.Workload {
	return manifest.Workload{Task: k.Task, ISL: k.ISL, OSL: k.OSL, Concurrency: k.Concurrency, Rate: k.Rate,
		Dims: k.Dims}
}
