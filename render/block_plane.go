package render

import "strings"

// Plane is what every configuration of a model gives against what one user sees. A script draws it, with switches; the
// table is there without script.
type Plane struct {
	ID        string       `json:"-"`
	Model     string       `json:"model"`
	Workloads []string     `json:"workloads"` // the first is drawn
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
	Device    string       `json:"device"`
	Look      int          `json:"look"` // of the device: its colour and mark
	Engine    string       `json:"engine,omitempty"`
	Precision string       `json:"precision,omitempty"`
	Parallel  string       `json:"parallel,omitempty"`
	Impl      string       `json:"impl,omitempty"`
	Tool      string       `json:"tool,omitempty"`
	Workload  string       `json:"workload"`
	Chips     int          `json:"chips,omitempty"` // 0 when unknown
	Price     float64      `json:"price,omitempty"` // of the deployment an hour; 0 when unknown
	Median    bool         `json:"median,omitempty"`
	Href      Address      `json:"href"`
	Points    []PlanePoint `json:"points"` // by load
}

// PlanePoint is one load.
type PlanePoint struct {
	Load   string             `json:"load"` // "32", or "4/s"
	At     float64            `json:"at"`
	Values [planeValues]maybe `json:"values"` // output tok/s, tok/s of a user, TTFT and E2EL in ms
	Run    Address            `json:"run"`

	isl, osl *float64
	rest     string // of the workload, without lengths and load
}

// Kind implements Block.
func (p *Plane) Kind() string { return "plane" }

// Plain implements Block.
func (p *Plane) Plain() []Block {
	blocks := []Block{Prose{p.headline()}, p.table()}
	if s := p.notDrawn(); s != "" {
		blocks = append(blocks, Prose{s})
	}
	return blocks
}

// Label is the figure in words.
func (p *Plane) Label() string {
	return p.Model + ", " + p.Workloads[0] + ": output tok/s against tok/s per user, a line a configuration. " +
		p.headline()
}

// Table has the best points without script.
func (p *Plane) Table() *Table { return p.table() }

// NotDrawn says what is not drawn, and why.
func (p *Plane) NotDrawn() string { return strings.TrimSpace(p.notDrawn()) }
