package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Workload is one measurement to make.
type Workload struct {
	ISL, OSL, Concurrency, Requests int     // lengths are 0 where the dataset has its own
	Rate                            float64 // requests a second; 0: closed loop
	Dataset                         string  // "" for random prompts
	Path                            string  // file of the dataset, where it is one
	// Dims are further dimensions of the workload, such as the degree of parallelism. They are part of its name in
	// history.
	Dims map[string]string
	// Extra are arguments for the tool that makes the load.
	Extra []string
}

// Same reports whether two workloads are the same load, whatever their numbers of requests.
func (w Workload) Same(o Workload) bool {
	return w.ISL == o.ISL && w.OSL == o.OSL && w.Concurrency == o.Concurrency && w.Rate == o.Rate &&
		w.Dataset == o.Dataset && slices.Equal(w.Extra, o.Extra) && maps.Equal(w.Dims, o.Dims)
}

// join appends workloads that are not in a list yet.
func join(list []Workload, more ...Workload) []Workload {
	for _, w := range more {
		if !slices.ContainsFunc(list, w.Same) {
			list = append(list, w)
		}
	}
	return list
}

// Text returns a workload in the form that --workload and plan files take: "isl=128,osl=128,n=8,c=1". It omits Dims
// and Extra.
func (w Workload) Text() string {
	var parts []string
	if w.Dataset != "" {
		parts = append(parts, "dataset="+w.Dataset)
	}
	if w.Path != "" {
		parts = append(parts, "path="+w.Path)
	}
	for _, p := range []struct {
		name string
		v    int
	}{{"isl", w.ISL}, {"osl", w.OSL}, {"n", w.Requests}, {"c", w.Concurrency}} {
		if p.v > 0 {
			parts = append(parts, p.name+"="+strconv.Itoa(p.v))
		}
	}
	switch {
	case w.Rate > 0:
		parts = append(parts, "rate="+strconv.FormatFloat(w.Rate, 'g', -1, 64))
	case w.Concurrency == 0:
		parts = append(parts, "rate=inf")
	}
	return strings.Join(parts, ",")
}

// MarshalText implements encoding.TextMarshaler, for plan files.
func (w Workload) MarshalText() ([]byte, error) {
	if len(w.Dims)+len(w.Extra) > 0 {
		return nil, fmt.Errorf("workload %s has arguments of its tool, which a plan file cannot state", w)
	}
	return []byte(w.Text()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler. It reads what [Workload.Text] writes. If the number of requests
// is not stated, it is four waves, at least eight; rate=inf sends all at once.
func (w *Workload) UnmarshalText(text []byte) error {
	var out Workload
	burst := false
	for _, part := range strings.Split(string(text), ",") {
		if part == "rate=inf" {
			burst = true
		} else if err := out.set(part); err != nil {
			return fmt.Errorf("workload %q: %w", text, err)
		}
	}
	noLength := out.Dataset == "" && (out.ISL == 0 || out.OSL == 0)
	if noLength || !burst && out.Concurrency == 0 && out.Rate == 0 {
		return fmt.Errorf("workload %q: expected isl, osl and c or rate, as in isl=128,osl=128,c=1,n=8", text)
	}
	*w = out.WithRequests()
	return nil
}

// WithRequests returns the workload with a number of requests where none is stated: four waves, at least eight.
func (w Workload) WithRequests() Workload {
	if w.Requests == 0 {
		w.Requests = max(8, 4*w.Concurrency)
	}
	return w
}

func (w *Workload) set(part string) error {
	name, value, _ := strings.Cut(part, "=")
	switch name {
	case "dataset":
		w.Dataset = value
		return nil
	case "path":
		w.Path = value
		return nil
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || !(v > 0) || v > 1e9 {
		return fmt.Errorf("%q is not a number above zero", part)
	}
	if name == "rate" {
		w.Rate = v
		return nil
	}
	at := map[string]*int{"isl": &w.ISL, "osl": &w.OSL, "c": &w.Concurrency, "n": &w.Requests}[name]
	if at == nil {
		return fmt.Errorf("%q is none of isl, osl, c, n, rate, dataset, path", name)
	}
	if *at = int(v); float64(*at) != v {
		return fmt.Errorf("%q is not a whole number", part)
	}
	return nil
}

// String describes a workload.
func (w Workload) String() string {
	s := fmt.Sprintf("ISL %d OSL %d", w.ISL, w.OSL)
	if w.Dataset != "" {
		s = w.Dataset
		if w.OSL > 0 {
			s += fmt.Sprintf(" OSL %d", w.OSL)
		}
	}
	if w.Rate > 0 {
		return s + fmt.Sprintf(" at %g req/s", w.Rate)
	}
	if w.Concurrency == 0 {
		return s + " all at once"
	}
	return s + fmt.Sprintf(" concurrency %d", w.Concurrency)
}

// Manifest returns a workload in the form of sidecars and manifests.
func (w Workload) Manifest() manifest.Workload {
	isl, osl := float64(w.ISL), float64(w.OSL)
	out := manifest.Workload{Task: "text", Dataset: "random", Dims: w.Dims}
	if w.Dataset != "" {
		out.Dataset = w.Dataset
	}
	if w.ISL > 0 {
		out.ISL = &isl
	}
	if w.OSL > 0 {
		out.OSL = &osl
	}
	if w.Concurrency > 0 {
		c := float64(w.Concurrency)
		out.Concurrency = &c
	}
	if w.Rate > 0 {
		out.Rate = &w.Rate
	}
	return out
}

// fileName returns a workload as part of a file name.
func (w Workload) fileName() string {
	s := fmt.Sprintf("isl%d-osl%d", w.ISL, w.OSL)
	if w.Dataset != "" {
		s = fileSafe(w.Dataset)
		if w.OSL > 0 {
			s += fmt.Sprintf("-osl%d", w.OSL)
		}
	}
	switch {
	case w.Rate > 0:
		return s + "-rate" + strconv.FormatFloat(w.Rate, 'g', -1, 64)
	case w.Concurrency > 0:
		return s + fmt.Sprintf("-c%d", w.Concurrency)
	}
	return s + fmt.Sprintf("-n%d", w.Requests)
}

// fileSafe returns a name without characters that separate folders.
func fileSafe(name string) string {
	return strings.NewReplacer("/", "_", "\\", "_", ":", "_").Replace(name)
}

// WorkloadList reads workloads from text, one at a time: it is a value of a flag that may be repeated.
type WorkloadList []Workload

// Set adds a workload.
func (l *WorkloadList) Set(text string) error {
	var w Workload
	if err := w.UnmarshalText([]byte(text)); err != nil {
		return err
	}
	*l = append(*l, w)
	return nil
}

// Type names the value for a command's help.
func (l *WorkloadList) Type() string { return "workload" }

// String is the list as it was given.
func (l *WorkloadList) String() string {
	var out []string
	for _, w := range *l {
		out = append(out, w.Text())
	}
	return strings.Join(out, " ")
}
