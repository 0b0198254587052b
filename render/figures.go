package render

import (
	"cmp"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/curve"
)

// Spark is a row's history: its last values in release order.
type Spark struct {
	Label  string
	Values []float64 // NaN where a release has none
}

// Strip is the distribution of a latency over requests, on a scale that it shares with others.
type Strip struct {
	Label     string
	Quantiles []float64 // 33, at i/32
	Low, High float64   // of the scale, above zero
}

// Plane is what every configuration of a model, or every release of one, gives against what one user sees. A script
// draws it, with switches; the table is there without script.
type Plane struct {
	ID        string       `json:"-"`
	Model     string       `json:"model"`
	Of        string       `json:"of,omitempty"` // what the lines are: "Release"; "" for configurations of devices
	Workloads []string     `json:"workloads"`    // the first is drawn
	Lines     []PlaneLine  `json:"lines"`
	Limits    []PlaneLimit `json:"limits"`
	Limit     int          `json:"limit"` // which is drawn first; -1 for none
	Scaling   []Scaling    `json:"scaling,omitempty"`
	Left      []string     `json:"-"` // what is not drawn
	Currency  string       `json:"currency,omitempty"`
}

// PlaneLine is one configuration under one workload.
type PlaneLine struct {
	Name      string       `json:"name"`
	Device    string       `json:"device"` // or the release
	Look      int          `json:"look"`   // of the device or release: its colour and mark
	Engine    string       `json:"engine,omitempty"`
	Precision string       `json:"precision,omitempty"`
	Parallel  string       `json:"parallel,omitempty"`
	Impl      string       `json:"impl,omitempty"`
	Tool      string       `json:"tool,omitempty"`
	Workload  string       `json:"workload"`
	Chips     int          `json:"chips,omitempty"` // 0 when unknown
	Price     float64      `json:"price,omitempty"` // of the deployment an hour; 0 when unknown
	IO        float64      `json:"io,omitempty"`    // tokens that are read for one that is written; 0 when unknown
	Median    bool         `json:"median,omitempty"`
	Href      Address      `json:"href"`
	Points    []PlanePoint `json:"points"` // by load
	// Bands are the joint 95 % bands of output over each other value: levels, each with its low and high end.
	Bands [planeValues - 1][][3]float64 `json:"bands,omitzero"`
	// Paths are points of the curves between the measured ones, over each other value.
	Paths  [planeValues - 1][][2]float64 `json:"paths,omitzero"`
	id     planeID
	byLoad map[string]*PlanePoint // while the points are found
	fitted map[int]*curve.Curve   // by value
}

// PlanePoint is one load.
type PlanePoint struct {
	Load   string             `json:"load"` // "32", or "4/s"
	At     float64            `json:"at"`
	Values [planeValues]maybe `json:"values"` // output tok/s, tok/s of a user; TTFT, E2EL and P90 of TTFT in ms
	Run    Address            `json:"run"`

	isl, osl *float64
	rest     string // of the workload, without lengths and load
	run      int    // the newest
	repeats  [planeValues][]float64
}

// Label is the figure in words.
func (p *Plane) Label() string {
	return p.Model + ", " + p.Workloads[0] + ": output tok/s against tok/s per user, a line a " +
		strings.ToLower(cmp.Or(p.Of, "Configuration")) + ". " + p.headline()
}

// keysOf are the workloads of points, in their order.
func keysOf(points []*columns.PointRow) []int32 {
	var seen groups[int32, int32]
	for _, p := range points {
		key, _ := seen.of(p.Key)
		*key = p.Key
	}
	return seen.list
}
