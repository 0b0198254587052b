package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/planfile"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/targets/gate"
)

// entries are the plans to run: of a file, of the gate, or of ttreport.yaml when no model is named; none for what the flags say alone.
func (o collectOptions) entries(ctx context.Context, ws *workspace.Workspace) ([]planfile.Entry, error) {
	switch {
	case o.planFile != "":
		data, err := namedFile(o.planFile)
		if err != nil {
			return nil, err
		}
		f, err := planfile.Read(o.planFile, data)
		if err != nil {
			return nil, failure{code: exitUsage, err: err, hint: "ttreport help plans lists every field"}
		}
		return f.Plans, nil
	case o.input != "":
		return nmEntries(o.input)
	case o.recheck:
		return o.rechecks(ctx, ws)
	case o.model == "":
		if err := planfile.Check(workspace.ConfigName, ws.Config.Plans); err != nil {
			return nil, failure{code: exitUsage, err: err, hint: "ttreport help plans lists every field"}
		}
		var out []planfile.Entry
		for _, e := range ws.Config.Plans {
			if o.device == "" || strings.EqualFold(o.device, e.Device) {
				out = append(out, e)
			}
		}
		return out, nil
	}
	return nil, nil
}

// nmEntries reads an nm-vllm configuration, or all that a list names.
func nmEntries(name string) ([]planfile.Entry, error) {
	names := []string{name}
	if strings.HasSuffix(name, ".txt") {
		data, err := namedFile(name)
		if err != nil {
			return nil, err
		}
		names = nil
		for _, n := range planfile.List(data) {
			if _, err := os.Stat(n); err != nil && !filepath.IsAbs(n) { // relative to the list, else to here
				n = filepath.Join(filepath.Dir(name), n)
			}
			names = append(names, n)
		}
	}
	var out []planfile.Entry
	for _, n := range names {
		data, err := namedFile(n)
		if err != nil {
			return nil, err
		}
		list, err := planfile.NM(n, data, gpus())
		if err != nil {
			return nil, failure{code: exitUsage, err: fmt.Errorf("collect: %w", err)}
		}
		out = append(out, list...)
	}
	return out, nil
}

// gpus counts what CUDA_VISIBLE_DEVICES leaves of what nvidia-smi lists.
func gpus() int {
	if v, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES"); ok {
		return len(strings.FieldsFunc(v, func(r rune) bool { return r == ',' }))
	}
	out, err := exec.Command("nvidia-smi", "-L").Output()
	if err != nil {
		return 0
	}
	return strings.Count(string(out), "GPU ")
}

// rechecks are the entries for what the gate saw once.
func (o collectOptions) rechecks(ctx context.Context, ws *workspace.Workspace) ([]planfile.Entry, error) {
	report, at, err := checkOptions{release: o.release, model: o.model, device: o.device}.judge(ctx, ws)
	if err != nil {
		return nil, err
	}
	g := report.Review(at, o.model, o.device)
	return recheckEntries(&g), nil
}

func recheckEntries(g *gate.Review) []planfile.Entry {
	var out []planfile.Entry
	for _, r := range g.Rechecks() {
		e := planfile.Entry{Model: r.Model, Device: r.Device, Impl: r.Impl, Release: r.Release, Only: "benchmarks", Why: "suspected regression: seen once"}
		for _, k := range r.Workloads {
			e.Workloads = append(e.Workloads, render.WorkloadFlag(k))
		}
		if r.Control != nil {
			e.Workloads = append(e.Workloads, render.WorkloadFlag(*r.Control))
			e.Why += "; the last workload is a control"
		} else {
			e.Why += "; without a control, because every other workload of it changed too or is one of another device's"
		}
		if r.Device == schema.Simulated {
			e.Server = "sim"
		}
		out = append(out, e)
	}
	return out
}

// namedFile reads a file that a flag, a list or a variable names.
func namedFile(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, failure{code: exitUsage, err: fmt.Errorf("collect: %w", err)}
	}
	return data, nil
}
