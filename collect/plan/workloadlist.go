package plan

import "strings"

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

// GetSlice returns the workloads as they are given one at a time.
func (l *WorkloadList) GetSlice() []string { return strings.Fields(l.String()) }

// fileSafe returns a name without characters that separate folders.
func fileSafe(name string) string {
	return strings.NewReplacer("/", "_", "\\", "_", ":", "_").Replace(name)
}
