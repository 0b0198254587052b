package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/collect/capacity"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema"
)

// Fields whose value is a number, and what is no field because it is a flag.
var (
	numberFields = []string{"isl", "osl", "c", "n", "rate", "speed", "block", schema.DimBurstiness, schema.DimPrefix,
		schema.DimPrefixes}
	flagFields = []string{"until", "ci", "tail", "most", "budget", "repeat", "seed"}
)

// set reads a field of a workload.
func (w *Workload) set(part string) error {
	name, value, _ := strings.Cut(part, "=")
	switch name {
	case "dataset":
		w.Dataset = value
		return nil
	case "path":
		w.Path = value
		return nil
	case schema.DimSLO:
		var err error
		w.SLO, err = capacity.ParseSLO(value)
		return err
	case schema.DimArrivals:
		var err error
		if w.Shape.Arrivals, err = traffic.ParseArrivals(value); err != nil {
			return fmt.Errorf("%s=%w", name, err)
		}
		return nil
	case schema.DimISL, schema.DimOSL:
		if strings.ContainsAny(value, "(abcdfghijklmnopqrstuvwxyz") { // e may be of a number
			return w.setLengths(name, value)
		}
	}
	if known, err := w.Shape.SetClient(name, value); known {
		return err
	}
	if err := unknown(part, name); err != nil {
		return err
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || !(v > 0) || v > 1e9 {
		return fmt.Errorf("%q is not a number above zero, as in %s=%s", part, name, exampleOf(name))
	}
	if at := map[string]*float64{
		"rate": &w.Rate, schema.DimBurstiness: &w.Shape.Burstiness, "speed": &w.Speed,
	}[name]; at != nil {
		*at = v
		return nil
	}
	at := map[string]*int{
		"isl": &w.ISL, "osl": &w.OSL, "c": &w.Concurrency, "n": &w.Requests, "block": &w.Block,
		schema.DimPrefix: &w.Shape.Prefix, schema.DimPrefixes: &w.Shape.Prefixes,
	}[name]
	if *at = int(v); float64(*at) != v {
		return fmt.Errorf("%q is not a whole number, as in %s=%s", part, name, exampleOf(name))
	}
	return nil
}

// unknown is the error about a part of a workload whose name is no field.
func unknown(part, name string) error {
	switch {
	case slices.Contains(flagFields, name):
		return fmt.Errorf("%q is a flag of its own, for all workloads: --until ci=2%% --budget 30m", name)
	case part != "" && !slices.Contains(numberFields, name):
		return fmt.Errorf("%q is none of %s, c, n, rate, dataset, path, speed, block, slo", name,
			strings.Join(shapeFields, ", "))
	}
	return nil
}

// setLengths reads a distribution. The mean stands for it where one number is needed.
func (w *Workload) setLengths(name, value string) error {
	l, err := traffic.ParseLengths(value)
	if err != nil {
		return fmt.Errorf("%s=%w", name, err)
	}
	if name == schema.DimISL {
		w.Shape.ISL, w.ISL = l, l.Mean()
	} else {
		w.Shape.OSL, w.OSL = l, l.Mean()
	}
	return nil
}

// exampleOf is a value of a numeric field.
func exampleOf(name string) string {
	switch name {
	case "isl", "osl":
		return "128"
	case "rate":
		return "2.5"
	case schema.DimPrefix, "block":
		return "512"
	case schema.DimBurstiness:
		return "0.5"
	}
	return "8"
}
