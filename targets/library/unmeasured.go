package library

import (
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// deviceOfAll is how people read [anyDevice].
const deviceOfAll = "any device"

// Unmeasured are the models and devices that have targets and no run, in order, under the names that runs have for
// them: files name a model by any of its weights. Targets that hold on every device wait only for the model.
func (l *Library) Unmeasured(runs []columns.RunHead) []schema.Pair {
	models, devices, measured := map[string]string{}, map[string]string{}, map[schema.Pair]bool{}
	for i := range runs {
		h := &runs[i]
		for _, name := range []string{h.Model.Name, h.Model.ID, h.Model.Key} {
			if key := l.Key(name); name != "" && models[key] == "" {
				models[key] = h.Model.Name
			}
		}
		devices[schema.FoldDevice(h.Device)] = h.Device
		measured[schema.Pair{Model: h.Model.Name, Device: h.Device}] = true
		measured[schema.Pair{Model: h.Model.Name, Device: deviceOfAll}] = true
	}
	var out []schema.Pair
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
		if !measured[p] && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
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
