package judge

import (
	"fmt"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/library"
)

// View narrows what is judged. The zero value leaves everything.
type View struct {
	Run      string // id: its release is judged by this run alone
	Release  string // name of the release that is judged; "" for the newest
	Baseline string // name of the newest release that may serve as a baseline
	// Newest makes Release the newest of all, whatever its files are dated: it is about to follow them.
	Newest bool
}

// UnknownRelease is returned for a release that does not exist.
type UnknownRelease struct {
	Name   string
	Newest []string // releases that exist, the newest first; eight at most
}

func (e *UnknownRelease) Error() string { return fmt.Sprintf("no release is called %q", e.Name) }

// NewUnknownRelease names the releases that exist instead.
func NewUnknownRelease(name string, list []Release) *UnknownRelease {
	e := &UnknownRelease{Name: name}
	for i := len(list) - 1; i >= 0 && len(e.Newest) < 8; i-- {
		e.Newest = append(e.Newest, list[i].Name)
	}
	return e
}

// Narrow leaves out the runs and releases that a view leaves out. The list is changed. The error is an
// [UnknownRelease] for a baseline that does not exist; a run that does not exist narrows nothing.
func Narrow(c *columns.Columns, list []Release, v View) ([]Release, error) {
	judged := v.Release
	if at := WithRun(c, list, v.Run); at >= 0 {
		judged = list[at].Name
		list[at].Runs = slices.DeleteFunc(slices.Clone(list[at].Runs), func(i int) bool { return c.Runs[i].ID != v.Run })
	}
	if at := Named(list, v.Release); v.Newest && at >= 0 {
		list = append(slices.Delete(slices.Clone(list), at, at+1), list[at])
	}
	if v.Baseline == "" {
		return list, nil
	}
	last := Named(list, v.Baseline)
	if last < 0 {
		return nil, NewUnknownRelease(v.Baseline, list)
	}
	if judged == "" {
		judged = list[len(list)-1].Name
	}
	var out []Release
	for i, r := range list {
		if i <= last || r.Name == judged {
			out = append(out, r)
		}
	}
	return out, nil
}

// Named is the index of a release; -1 for none.
func Named(list []Release, name string) int {
	return slices.IndexFunc(list, func(r Release) bool { return r.Name == name })
}

// WithRun is the index of the release that has a run; -1 for none.
func WithRun(c *columns.Columns, list []Release, id string) int {
	return slices.IndexFunc(list, func(r Release) bool {
		return slices.ContainsFunc(r.Runs, func(i int) bool { return c.Runs[i].ID == id })
	})
}

// NewestWith is the index of the newest release that measured a model on a device; "" for any; -1 for none.
func NewestWith(c *columns.Columns, list []Release, model, device string) int {
	for at := len(list) - 1; at >= 0; at-- {
		for _, i := range list[at].Runs {
			h := &c.Runs[i]
			if (schema.Pair{Model: h.Model.Name, Device: h.Device}).Selected(model, device) {
				return at
			}
		}
	}
	return -1
}

// TargetEntry is the targets of a model on a device, and [Contradiction] what they rule out among themselves: for
// writers, which need not know where targets are read.
type (
	TargetEntry   = library.Entry
	Contradiction = library.Contradiction
)

// Contradictions looks for contradictions among the targets of one model on one device.
func Contradictions(e TargetEntry) []Contradiction { return library.LintEntry(e) }
