package render

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/compare"
	"github.com/ttreport/ttreport/targets/curve"
)

// Prices are what a device costs an hour, by its name.
type Prices struct {
	Currency string             `yaml:"currency"`      // "USD"
	Hour     map[string]float64 `yaml:"per_hour"`      // of the device as it is named
	ChipHour map[string]float64 `yaml:"per_chip_hour"` // of one of its accelerators
}

// Of is what a device with so many accelerators costs an hour; 0 where that is not known.
func (p Prices) Of(device string, chips int) float64 {
	if v, ok := p.Hour[device]; ok {
		return v
	}
	return p.ChipHour[device] * float64(chips)
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
	Currency  string       `json:"currency,omitempty"`

	found map[planeID]*PlaneLine
	left  map[string]int // points that are not drawn, by reason
}

// planeID is a line: a configuration under a workload but for its load, in which the lines of a plane differ.
type planeID struct {
	Device    string `json:"device"` // or the release
	Look      int    `json:"look"`   // of the device or release: its colour and mark
	Engine    string `json:"engine,omitempty"`
	Precision string `json:"precision,omitempty"`
	Parallel  string `json:"parallel,omitempty"`
	Impl      string `json:"impl,omitempty"`
	Tool      string `json:"tool,omitempty"`
	Workload  string `json:"workload"`
	Chips     int    `json:"chips,omitempty"` // 0 when unknown
	rate      bool   // the load is a rate, not a concurrency
}

// PlaneLine is one configuration under one workload.
type PlaneLine struct {
	Name string `json:"name"`
	planeID
	Price  float64      `json:"price,omitempty"` // of the deployment an hour; 0 when unknown
	IO     float64      `json:"io,omitempty"`    // tokens that are read for one that is written; 0 when unknown
	Median bool         `json:"median,omitempty"`
	Href   Address      `json:"href"`
	Points []PlanePoint `json:"points"` // by load
	// Bands are the joint 95 % bands of output over each other value: levels, each with its low and high end.
	Bands [planeValues - 1][][3]float64 `json:"bands,omitzero"`
	// Paths are points of the curves between the measured ones, over each other value.
	Paths  [planeValues - 1][][2]float64 `json:"paths,omitzero"`
	byLoad map[string]*PlanePoint        // while the points are found
	fitted map[int]*curve.Curve          // by value
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

// The values of a point of a plane.
const (
	planeOutput = iota // tok/s of the whole deployment
	planeSpeed         // tok/s of a user
	planeTTFT          // ms
	planeE2EL          // ms
	planeTail          // P90 of TTFT, ms
	planeValues
)

// split parts a key into the workload without its load and the configuration in its dimensions.
func split(k schema.Key) (workload schema.Key, configuration string) {
	workload, dims := k.Parts()
	_, workload = workload.Load()
	workload.Tool = ""
	return workload, configured(dims)
}

// configured names the configuration in the dimensions of a workload; "" for none.
func configured(dims map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(dims)) {
		parts = append(parts, strings.ReplaceAll(name, "_", " ")+" "+dims[name])
	}
	return strings.Join(parts, ", ")
}

// listed joins the texts that are not empty.
func listed(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), separator)
}

// planeWorkload names a workload without its load.
func planeWorkload(k schema.Key) string {
	return cmp.Or(words.WorkloadOverLoads(k), "one workload")
}

// whole is a concurrency as people write it.
func whole(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// perSecond ends a load that is a rate.
const perSecond = "/s"

// load is how much was asked at once: a concurrency, or a rate.
func load(k schema.Key) string {
	switch {
	case k.Concurrency != nil:
		return whole(*k.Concurrency)
	case k.Rate != nil:
		return whole(*k.Rate) + perSecond
	}
	return ""
}

// eachNewest calls do with the runs of a model, newest first: of a history with releases the newest one of each device,
// of builds alone all.
func (r *Report) eachNewest(model string, do func(p Pair, run int)) {
	for _, p := range r.shownOf[model] {
		releases := r.with[p.Pair]
		if r.Graded() {
			releases = []int{p.Newest}
		}
		var runs []int
		for _, at := range slices.Backward(releases) {
			for _, run := range slices.Backward(r.runs[p.Pair][at]) {
				runs = append(runs, run)
			}
		}
		slices.SortStableFunc(runs, func(a, b int) int { // those without a date come by their files, not by chance
			return strings.Compare(r.Columns.Runs[a].First, r.Columns.Runs[b].First)
		})
		for _, run := range runs {
			do(p, run)
		}
	}
}

// plane is what is known of a model on all its devices; nil when nothing can be drawn. Of a history with releases it
// has the newest one of each device, of builds alone the newest run of each point.
func (r *Report) plane(model string) *Plane {
	p := &Plane{Model: words.OrUnknown(model), Currency: r.Prices.Currency}
	devices := map[string]bool{} // of all of the site: each has one colour and one mark on every page
	for _, p := range r.Pairs {
		devices[p.Device] = true
	}
	looks := slices.SortedFunc(maps.Keys(devices), r.compareDevices)
	r.eachNewest(model, func(pair Pair, run int) {
		of := planeID{Device: cmp.Or(pair.Device, noDevice), Look: slices.Index(looks, pair.Device)}
		r.gather(p, run, of, PairPath(model, pair.Device), !r.Graded())
	})
	return p.of(func(a, b PlaneLine) int { return r.compareDevices(a.Device, b.Device) })
}

// releasePlane is a model on a device in its newest releases, the newest first; nil where none of them measured a
// workload at three loads, and where nothing states that all are of one system. It has the workloads that were measured
// at most loads.
func (r *Report) releasePlane(pair Pair) *Plane {
	const releases, workloads = 4, 2
	if pair.Model == "" || pair.Device == "" {
		return nil
	}
	p := &Plane{ID: "releases", Model: words.OnDevice(pair.Model, pair.Device), Of: "Release", Currency: r.Prices.Currency}
	list := newestFirst(r.with[pair.Pair])
	for age, i := range list[:min(releases, len(list))] {
		at := r.with[pair.Pair][i]
		for _, run := range slices.Backward(r.runs[pair.Pair][at]) {
			r.gather(p, run, planeID{Device: r.nameOf(at), Look: age}, ReleasePath(r.Releases[at].Name), false)
		}
	}
	drawn := map[string]int{} // loads of the line that has most of them
	for id, l := range p.found {
		drawn[id.Workload] = max(drawn[id.Workload], len(l.byLoad))
	}
	names := slices.SortedFunc(maps.Keys(drawn), func(a, b string) int {
		return cmp.Or(drawn[b]-drawn[a], schema.NaturalCompare(a, b))
	})
	names = slices.DeleteFunc(names[:min(workloads, len(names))], func(s string) bool { return drawn[s] < fewestSizes })
	maps.DeleteFunc(p.found, func(id planeID, _ *PlaneLine) bool { return !slices.Contains(names, id.Workload) })
	p.left = nil
	return p.of(func(a, b PlaneLine) int { return a.Look - b.Look })
}

// of makes the plane of the lines that were found, in an order; nil for none.
func (p *Plane) of(order func(a, b PlaneLine) int) *Plane {
	if len(p.found) == 0 {
		return nil
	}
	inOrder := func(a, b planeID) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) } // of lines with one name
	for _, id := range slices.SortedFunc(maps.Keys(p.found), inOrder) {
		p.found[id].finish()
		p.Lines = append(p.Lines, *p.found[id])
	}
	p.name()
	slices.SortStableFunc(p.Lines, func(a, b PlaneLine) int {
		return cmp.Or(order(a, b), schema.NaturalCompare(a.Name, b.Name), schema.NaturalCompare(a.Workload, b.Workload))
	})
	p.arrange()
	p.limits()
	p.scaling()
	return p
}

// compareDevices is the order of devices in lists.
func (r *Report) compareDevices(a, b string) int {
	return cmp.Or(r.Devices.place(a)-r.Devices.place(b), schema.NaturalCompare(a, b))
}

// noDevice is what a line is called that states nothing else.
const noDevice = "device not stated"

// finish puts the points of a line in the order of their loads, each with the means of its repeats.
func (l *PlaneLine) finish() {
	for _, p := range l.byLoad {
		for i, list := range p.repeats {
			sum := 0.
			for _, v := range list {
				sum += v
			}
			if len(list) > 0 {
				v := round(sum / float64(len(list)))
				p.Values[i] = &v
			}
		}
		l.Points = append(l.Points, *p)
	}
	slices.SortFunc(l.Points, func(a, b PlanePoint) int { return cmp.Compare(a.At, b.At) })
	if p := l.Points[0]; p.isl != nil && p.osl != nil && *p.osl > 0 {
		l.IO = round(*p.isl / *p.osl)
	}
	l.trace()
}

// isOf reports whether a workload without its load is that of a line, with the configuration that it states.
func (id *planeID) isOf(k schema.Key, rate bool) bool {
	workload, configured := split(k)
	return rate == id.rate && k.Tool == id.Tool && planeWorkload(workload) == id.Workload && configured == id.Parallel &&
		(k.Dims["precision"] == "" || k.Dims["precision"] == id.Precision)
}

// addBands says how sure the curves of a plane are, by the repeats of their releases and of those before.
func (r *Report) addBands(model string, p *Plane) {
	axis := map[string]int{compare.AxisSpeed: planeSpeed, compare.AxisWait: planeTTFT, compare.AxisTail: planeTail}
	for i := range p.Lines {
		l := &p.Lines[i]
		at := slices.IndexFunc(r.shownOf[model], func(p Pair) bool { return cmp.Or(p.Device, noDevice) == l.Device })
		if len(l.Points) < fewestSizes || !r.Graded() || at < 0 {
			continue
		}
		pair := r.shownOf[model][at]
		runs := func(release int) []int { // of the configuration of the line, as far as they state it
			return slices.DeleteFunc(slices.Clone(r.runs[pair.Pair][release]), func(run int) bool {
				h := &r.Columns.Runs[run]
				return h.Chips != l.Chips || h.Impl != l.Impl || h.Engine != l.Engine ||
					h.Model.Precision != "" && h.Model.Precision != l.Precision
			})
		}
		for _, b := range compare.ReleaseBands(r.Gate.Judgement, pair.Newest, runs, l.isOf) {
			into := &l.Bands[axis[b.Axis]-1]
			for _, x := range b.Levels {
				*into = append(*into, [3]float64{round(x.Level), round(x.Band[0]), round(x.Band[1])})
			}
		}
	}
}

// round keeps what can be seen: the script has to load the rest.
func round(v float64) float64 {
	return latency.Round(v, 5)
}

// fewestTokens is how many a request must write for its rate to say how fast a device writes: of fewer, reading the
// prompt is most of what was measured.
const fewestTokens = 32

// brief reports whether a point writes too little.
func (p *PlanePoint) brief() bool { return p.osl != nil && *p.osl < fewestTokens }

// arrange lists the workloads, those with most points first, and last those that write too little.
func (p *Plane) arrange() {
	points := map[string]int{}
	for _, l := range p.Lines {
		if l.Points[0].brief() {
			points[l.Workload] -= 1e6
		}
		if len(l.Points) > 1 {
			points[l.Workload] += 1000 // a curve says more than marks
		}
		points[l.Workload] += len(l.Points)
	}
	p.Workloads = slices.SortedFunc(maps.Keys(points), func(a, b string) int {
		return cmp.Or(cmp.Compare(points[b], points[a]), schema.NaturalCompare(a, b))
	})
}

// Scaling is one value over one size of the load, a line a configuration.
type Scaling struct {
	Title string        `json:"title"` // "TTFT by ISL"
	X     string        `json:"x"`     // "ISL, tok; OSL 128, concurrency 1"
	Y     string        `json:"y"`     // "TTFT, ms, lower is better"
	Lines []ScalingLine `json:"lines"`
}

// ScalingLine is a configuration.
type ScalingLine struct {
	Line   int          `json:"line"`   // of the plane, for its look
	Points [][2]float64 `json:"points"` // by x
}

// scalingKind is what a chart of sizes is made of.
type scalingKind struct {
	title, x, y string
	value       int
	over, fixed func(PlanePoint) *float64
	fixedName   string
}

// scaling adds a chart for each size that was varied over at least three values while the others stayed the same, and
// one of output over concurrency in the workload that is drawn.
func (p *Plane) scaling() {
	isl, osl := func(x PlanePoint) *float64 { return x.isl }, func(x PlanePoint) *float64 { return x.osl }
	for _, k := range []scalingKind{
		{"TTFT by ISL", "ISL, tok", "TTFT, ms, lower is better", planeTTFT, isl, osl, "OSL"},
		{"E2EL by OSL", "OSL, tok", "E2EL, ms, lower is better", planeE2EL, osl, isl, "ISL"},
	} {
		if s := p.scalingOf(k); len(s.Lines) > 0 {
			p.Scaling = append(p.Scaling, s)
		}
	}
	s := Scaling{Title: "Output by concurrency", X: "concurrency; " + p.Workloads[0],
		Y: "output, tok/s, higher is better"}
	for i, l := range p.Lines {
		if l.Workload != p.Workloads[0] || len(l.Points) < fewestSizes || strings.HasSuffix(l.Points[0].Load, perSecond) {
			continue
		}
		line := ScalingLine{Line: i}
		for _, x := range l.Points {
			line.Points = append(line.Points, [2]float64{x.At, *x.Values[planeOutput]})
		}
		s.Lines = append(s.Lines, line)
	}
	if len(s.Lines) > 0 {
		p.Scaling = append(p.Scaling, s)
	}
}

// fewestSizes is how many values of a size make a line.
const fewestSizes = 3

// scalingOf finds the other size and the load at which a size was varied most, lower loads first.
func (p *Plane) scalingOf(k scalingKind) Scaling {
	type fixed struct {
		size       float64
		load, rest string
		at         float64
	}
	type lineOf struct {
		fixed
		name string
	}
	sizes, first := map[lineOf]map[float64]float64{}, map[string]int{} // by size; the first line of a name
	for i, l := range p.Lines {
		if _, ok := first[l.Name]; !ok {
			first[l.Name] = i
		}
		for _, x := range l.Points {
			size, other, v := k.over(x), k.fixed(x), x.Values[k.value]
			if size == nil || other == nil || v == nil {
				continue
			}
			of := lineOf{fixed{*other, x.Load, x.rest, x.At}, l.Name}
			if sizes[of] == nil {
				sizes[of] = map[float64]float64{}
			}
			sizes[of][*size] = *v
		}
	}
	maps.DeleteFunc(sizes, func(_ lineOf, list map[float64]float64) bool { return len(list) < fewestSizes })
	drawn := map[fixed]int{} // points
	for of, list := range sizes {
		drawn[of.fixed] += len(list)
	}
	if len(drawn) == 0 {
		return Scaling{}
	}
	f := slices.MinFunc(slices.Collect(maps.Keys(drawn)), func(a, b fixed) int {
		return cmp.Or(cmp.Compare(drawn[b], drawn[a]), cmp.Compare(a.at, b.at), cmp.Compare(a.size, b.size),
			strings.Compare(a.load, b.load), strings.Compare(a.rest, b.rest))
	})
	s := Scaling{Title: k.title, Y: k.y, X: k.x + "; " + k.fixedName + " " + whole(f.size) + ", " + loadText(f.load)}
	if f.rest != "" {
		s.X += ", " + f.rest
	}
	for _, name := range sortedNames(first) {
		list, line := sizes[lineOf{f, name}], ScalingLine{Line: first[name]}
		for _, x := range slices.Sorted(maps.Keys(list)) {
			line.Points = append(line.Points, [2]float64{x, list[x]})
		}
		if len(list) > 0 {
			s.Lines = append(s.Lines, line)
		}
	}
	return s
}

// name gives each line the parts of its configuration in which lines differ, and its chips where nothing else tells it
// from a line with other numbers of them.
func (p *Plane) name() {
	parts := func(l *PlaneLine) []string {
		return append(append(setupOf(l.Impl, l.Engine, l.Precision), strings.Split(l.Parallel, ", ")...), l.Tool)
	}
	common := parts(&p.Lines[0])
	for i := range p.Lines {
		common = slices.DeleteFunc(common, func(s string) bool { return !slices.Contains(parts(&p.Lines[i]), s) })
	}
	for i := range p.Lines {
		l := &p.Lines[i]
		own := slices.DeleteFunc(parts(l), func(s string) bool { return slices.Contains(common, s) })
		if l.Name = listed(", ", append([]string{l.Device}, own...)...); l.Device == noDevice && len(own) > 0 {
			l.Name = listed(", ", own...)
		}
	}
	alike := slices.Clone(p.Lines)
	for i := range p.Lines {
		l := &p.Lines[i]
		other := func(o PlaneLine) bool { return o.Name == l.Name && o.Chips != l.Chips }
		if l.Chips > 0 && slices.ContainsFunc(alike, other) {
			l.Name += ", " + words.Plural(l.Chips, "chip")
		}
	}
}

// headline says which device serves a model best within the limit that is drawn first; where no limit lies between two
// points, the highest output that was measured.
func (p *Plane) headline() string {
	best := slices.DeleteFunc(p.ranked(), func(b rankedBest) bool { return b.Output <= 0 })
	if p.Limit < 0 || len(best) == 0 {
		var top *PlaneLine
		var at PlanePoint
		for i := range p.Lines {
			for _, x := range p.Lines[i].Points {
				if top != nil && x.brief() && !at.brief() {
					continue
				}
				if top == nil || at.brief() && !x.brief() || *x.Values[planeOutput] > *at.Values[planeOutput] {
					top, at = &p.Lines[i], x
				}
			}
		}
		on := ", on " + top.Name
		if top.Device == noDevice {
			on = strings.TrimSuffix(", with "+top.Name, " with "+noDevice)
		}
		return fmt.Sprintf("%s: the highest output is %s tok/s%s at %s.", p.Model, words.Number(*at.Values[planeOutput]), on,
			loadText(at.Load))
	}
	text := fmt.Sprintf("%s on %s: %s serves %s", p.Limits[p.Limit].Text, p.Model, best[0].line.Name,
		best[0].serves(" tok/s"))
	if best[0].line.Name == noDevice {
		text = fmt.Sprintf("%s: %s serves %s", p.Limits[p.Limit].Text, p.Model, best[0].serves(" tok/s"))
	}
	if len(best) == 1 {
		return text + "."
	}
	// Another device says more than another setting of the same one.
	other := max(1, slices.IndexFunc(best, func(b rankedBest) bool { return b.line.Device != best[0].line.Device }))
	return words.Fitting("", fmt.Sprintf("%s and %s %s.", text, best[other].line.Name, best[other].serves("")), text+".")
}

// lead is the headline, in which the names of lines are links.
func (p *Plane) lead() Lead {
	l := Lead{Text: p.headline()}
	for i := range p.Lines {
		l.Links = append(l.Links, Link{p.Lines[i].Name, p.Lines[i].Href})
	}
	return l
}

func loadText(load string) string {
	if strings.HasSuffix(load, "/s") {
		return strings.TrimSuffix(load, "/s") + " req/s"
	}
	return "concurrency " + load
}

// planeScript draws planes.
const planeScript = "plane.js"

// ModelNames are the models that lists show, in their order.
func (r *Report) ModelNames() []string {
	seen := map[string]bool{}
	var out []string
	for _, p := range r.shown {
		if !seen[p.Model] {
			seen[p.Model], out = true, append(out, p.Model)
		}
	}
	return out
}

// ModelPage is a model on all its devices: which serves it best, how that scales, and what it scored.
func (r *Report) ModelPage(model string) Page {
	name := words.OrUnknown(model)
	p := r.page(ModelPath(model), "models", name, "", Link{"Models", "index.html#models"})
	pairs := r.shownOf[model]
	var runs []int
	p.Simulated = allSimulated
	for _, x := range pairs {
		runs = append(runs, r.runsOfPair(x)...)
		if x.Device != schema.Simulated {
			p.Simulated = ""
		}
	}
	p.Lead = Lead{Text: name + ": " + r.heldIn(runs)}
	if plane := r.plane(model); plane != nil {
		plane.ID = "plane-1"
		r.addBands(model, plane)
		p.Scripts = []string{planeScript}
		p.Lead = plane.lead()
		s := section("curves", "Output against what a user sees", r.planeIntro(), plane)
		if t := r.deviceCurves(model); t != nil {
			s.Blocks = append(s.Blocks, t)
		}
		p.add(s)
	}
	if rates := r.throughputs(model); len(rates) > 0 {
		if len(p.Sections) == 0 {
			what, v := "output", rates[0].out
			if v == 0 {
				what, v = "prefill", rates[0].in
			}
			p.Lead.Text = fmt.Sprintf("%s: the highest %s is %s tok/s, on %s.", name, what, words.Number(v),
				words.OrUnknown(rates[0].pair.Device))
		}
		p.add(section("throughput", "Throughput without a curve", "No latency or no load is stated for these rates. "+
			"Picture: among all rows, right is better.", throughputTable(rates)))
	}
	p.Description = p.Lead.Text
	const tasks = 8
	b := r.boardOf(tasks, pairs)
	if t := b.table(); t != nil {
		p.add(section("evals", "Evals", b.about(),
			t.cut("the page of evals has all").whole(&Link{"All evals", "evals/index.html"})).
			leading("all scores", "evals/index.html"))
	}
	p.add(Section{ID: "devices", Title: "Devices", Intro: "What was measured on each.",
		Blocks: []Block{r.pairsTable(pairs, true)}})
	return p
}

// planeIntro says which numbers a plane has.
func (r *Report) planeIntro() string {
	text := "Each line is a configuration, each mark a concurrency; "
	if r.Graded() {
		return text + "each device with its newest release. The page of a device has its history."
	}
	return text + "of each the newest run; of runs without a date, the first by name."
}

// planeSections are the planes of the models that were measured in most configurations, for the front page.
func (r *Report) planeSections() (out []Section, lead Lead) {
	const most = 2
	type ranked struct {
		model string
		plane *Plane
	}
	var list []ranked
	for _, m := range r.ModelNames() {
		if p := r.plane(m); p != nil {
			list = append(list, ranked{m, p})
		}
	}
	size := func(p *Plane) (n int) {
		for _, l := range p.Lines {
			n += len(l.Points)
		}
		return n
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return size(b.plane) - size(a.plane) })
	for i, x := range list[:min(most, len(list))] {
		x.plane.ID = fmt.Sprintf("plane-%d", i+1)
		r.addBands(x.model, x.plane)
		out = append(out, Section{ID: fmt.Sprintf("curves-%d", i+1), Title: x.plane.Model, Intro: r.planeIntro(),
			End: &Link{"all of " + x.plane.Model, ModelPath(x.model)}, Blocks: []Block{x.plane}})
	}
	if len(list) > 0 {
		lead = list[0].plane.lead()
	}
	return out, lead
}

// gather takes the points of a run into lines of a device or a release. Runs of one release are repeats; with once, a
// point counts in the newest run that has it.
func (r *Report) gather(p *Plane, run int, of planeID, href Address, once bool) {
	if p.found == nil {
		p.found, p.left = map[planeID]*PlaneLine{}, map[string]int{}
	}
	h := &r.Columns.Runs[run]
	of.Engine, of.Impl, of.Chips = h.Engine, h.Impl, h.Chips
	if !r.Graded() {
		of.Engine = strings.TrimSpace(h.Engine + " " + h.Version)
	}
	for i := h.FirstPoint; i < h.PointsEnd; i++ {
		row := &r.Columns.Points[i]
		k := r.Columns.Keys[row.Key]
		workload, parallel := split(k)
		values, median, why := r.planeValues(row)
		if load(k) == "" {
			why = "without a stated concurrency or request rate"
		}
		if why != "" {
			p.left[why]++
			continue
		}
		id := of
		id.Precision, id.Parallel, id.Tool = cmp.Or(h.Model.Precision, k.Dims["precision"]), parallel, k.Tool
		id.Workload, id.rate = planeWorkload(workload), k.Concurrency == nil
		l := p.found[id]
		if l == nil {
			l = &PlaneLine{planeID: id, Href: href, Price: r.Prices.Of(h.Device, h.Chips), byLoad: map[string]*PlanePoint{}}
			p.found[id] = l
		}
		x := l.byLoad[load(k)]
		if x == nil {
			x = &PlanePoint{Load: load(k), At: *cmp.Or(k.Concurrency, k.Rate), Run: RunPath(h.ID), isl: k.ISL, osl: k.OSL,
				run: run}
			if workload.Rate != nil || len(workload.Dims) > 0 { // it has more than lengths and load
				workload.ISL, workload.OSL = nil, nil
				x.rest = words.Workload(workload)
			}
			l.byLoad[load(k)] = x
		}
		if x.run != run && once {
			continue
		}
		l.Median = l.Median || median
		for i, n := range values {
			if v, ok := n.Get(); ok {
				x.repeats[i] = append(x.repeats[i], v)
			}
		}
	}
}

// planeValues are those of a point; why says what is missing that a plane needs.
func (r *Report) planeValues(row *columns.PointRow) (out [planeValues]schema.Number, median bool, why string) {
	if s := row.StatusWord(); s == schema.StatusFailed || s == schema.StatusInvalid {
		return out, false, "failed or invalid"
	}
	typical := func(metric string) schema.Number {
		for _, stat := range []string{"mean", "value", "median"} {
			n, _ := r.Columns.Value(row, metric, stat)
			if v, ok := n.Get(); ok && schema.Measurable(v) {
				median = median || stat == "median"
				return n
			}
		}
		return schema.Missing("not in the file")
	}
	out[planeOutput] = typical("output_tps")
	out[planeTTFT], out[planeE2EL] = typical("ttft"), typical("e2el")
	out[planeSpeed] = typical("tps_user")
	out[planeTail], _ = r.Columns.Value(row, "ttft", "p90")
	if tpot, ok := typical("tpot").Get(); ok && tpot > 0 {
		out[planeSpeed] = schema.Num(1000 / tpot)
	}
	switch {
	case !present(out[planeOutput]):
		return out, false, "without output tok/s"
	case !slices.ContainsFunc(out[planeSpeed:], present):
		return out, false, "without a latency"
	}
	return out, median, ""
}

// throughput is a rate of a device that has no place on a curve: no latency, or no load, stands beside it.
type throughput struct {
	pair    schema.Pair
	engine  string
	key     schema.Key
	run     Address
	in, out float64 // tok/s that are read, as in prefill, and written; 0 for none
}

// throughputs are the rates of a model that its plane does not draw, those that write most first, then those that read
// most: of each device its newest run.
func (r *Report) throughputs(model string) (list []throughput) {
	type id struct {
		pair schema.Pair
		key  string
		both [2]bool // what is read and what is written, which some tools write as two points of one workload
	}
	seen := map[id]bool{}
	r.eachNewest(model, func(p Pair, run int) {
		h := &r.Columns.Runs[run]
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			row := &r.Columns.Points[i]
			k := r.Columns.Keys[row.Key]
			_, _, why := r.planeValues(row)
			if s := row.StatusWord(); why == "" && load(k) != "" || s == schema.StatusFailed || s == schema.StatusInvalid {
				continue
			}
			x := throughput{pair: p.Pair, engine: strings.TrimSpace(h.Engine + " " + h.Version), key: k, run: RunPath(h.ID)}
			x.out, x.in = r.rate(row, "output_tps"), r.rate(row, "input_tps")
			of := id{p.Pair, k.String(), [2]bool{x.in > 0, x.out > 0}}
			if x.in+x.out > 0 && !seen[of] {
				seen[of], list = true, append(list, x)
			}
		}
	})
	slices.SortStableFunc(list, func(a, b throughput) int {
		return cmp.Or(cmp.Compare(b.out, a.out), cmp.Compare(b.in, a.in))
	})
	return list
}

// rate is a metric of a point; 0 where it has none.
func (r *Report) rate(row *columns.PointRow, metric string) float64 {
	for _, stat := range []string{"value", "mean", "median"} {
		n, _ := r.Columns.Value(row, metric, stat)
		if v, ok := n.Get(); ok && v > 0 && schema.Measurable(v) {
			return v
		}
	}
	return 0
}

// throughputTable has a row for each rate, with its place among all as a picture.
func throughputTable(list []throughput) *Table {
	rate := func(v float64) Cell {
		if v == 0 {
			return missing("not in the file")
		}
		return Cell{Text: words.Number(v), Sort: &v}
	}
	most, least := 0., list[0].out+list[0].in
	for _, x := range list {
		most, least = max(most, x.in, x.out), min(least, x.in+x.out)
	}
	return tableOf("Throughput without a curve", List, list, []Column[throughput]{
		{col("Configuration"), func(x throughput) Cell {
			c := head(words.OrUnknown(x.pair.Device), PairPath(x.pair.Model, x.pair.Device))
			c.Sub = x.engine
			return c
		}},
		{col("Workload"), func(x throughput) Cell { return Cell{Text: words.Workload(x.key), Sub: x.key.Tool, Href: x.run} }},
		{num("Prefill").in("input tok/s").sorted(), func(x throughput) Cell { return rate(x.in) }},
		{num("Output").in("tok/s").sorted(), func(x throughput) Cell { return rate(x.out) }},
		{medium("Among all"), func(x throughput) Cell {
			v := max(x.in, x.out)
			return Cell{Bullet: &Bullet{Label: fmt.Sprintf("%s tok/s, of %s to %s", words.Number(v), words.Number(least),
				words.Number(most)), Measured: v, Ticks: []BulletTick{{Value: least}, {Value: most}}}}
		}},
	})
}

// PlaneLimit is a service level: a value of a user that must not be missed.
type PlaneLimit struct {
	Axis  int     `json:"axis"` // index of the value: speed, TTFT or E2EL
	Value float64 `json:"value"`
	Text  string  `json:"text"`
	// Best are the best points within it, by line; Why says that there is none, or that it is not known.
	Best []PlaneBest `json:"best"`
}

// PlaneBest is the highest output of a line within a limit: measured, or between two measured points.
type PlaneBest struct {
	Why    string             `json:"why,omitempty"`
	Least  bool               `json:"least,omitempty"` // the line never leaves the limit: at least so much
	At     float64            `json:"at,omitempty"`    // concurrency, between the measured ones
	Output float64            `json:"output,omitempty"`
	Values [planeValues]maybe `json:"values"`

	between bool // two points: it was not measured
}

// maybe is a value that may be absent.
type maybe = *float64

// best finds the point of a line with the highest output within a limit. Between a point within and the next one
// without it is interpolated, as for a target at that level; beyond the last measured point nothing is known.
func (l *PlaneLine) best(limit *PlaneLimit) PlaneBest {
	var has []PlanePoint
	for _, p := range l.Points {
		if p.Values[limit.Axis] != nil {
			has = append(has, p)
		}
	}
	in := func(p PlanePoint) bool {
		v := *p.Values[limit.Axis]
		if limit.Axis == planeSpeed {
			return v >= limit.Value
		}
		return v <= limit.Value
	}
	switch {
	case len(has) == 0:
		return PlaneBest{Why: "not measured"}
	case !slices.ContainsFunc(has, in):
		return PlaneBest{Why: "no point is within the limit"}
	case in(has[len(has)-1]):
		top := (&PlaneLine{Points: slices.DeleteFunc(has, func(p PlanePoint) bool { return !in(p) })}).highest()
		top.Least = true
		return top
	}
	best := PlaneBest{Output: math.Inf(-1)}
	take := func(at float64, values [planeValues]maybe, between bool) {
		if out := *values[planeOutput]; out > best.Output {
			best = PlaneBest{At: round(at), Output: out, Values: values, between: between}
		}
	}
	for i, p := range has {
		if in(p) {
			take(p.At, p.Values, false)
		}
		if i > 0 && in(has[i-1]) != in(p) {
			before := has[i-1]
			a, b := *before.Values[limit.Axis], *p.Values[limit.Axis]
			share := (limit.Value - a) / (b - a)
			at, values := l.between(limit, before, p, share)
			take(at, values, true)
		}
	}
	return best
}

// between are the load and the values at a limit, a share of the way from a point to the next one; load and output are
// those of the curve, which leaves out loads that another one beats: between few loads a line is off by half.
func (l *PlaneLine) between(
	limit *PlaneLimit, before, p PlanePoint, share float64,
) (at float64, values [planeValues]maybe) {
	load, v := l.curve(limit.Axis).Reach(limit.Value)
	x, y := *before.Values[planeOutput], *p.Values[planeOutput]
	onCurve := v >= min(x, y) && v <= max(x, y)
	if onCurve {
		share = (load - before.At) / (p.At - before.At)
	}
	for k := range values {
		if x, y := before.Values[k], p.Values[k]; x != nil && y != nil {
			v := round(*x + share*(*y-*x))
			values[k] = &v
		}
	}
	if values[limit.Axis] = &limit.Value; onCurve {
		v = round(v)
		values[planeOutput] = &v
	}
	return before.At + share*(p.At-before.At), values
}

// curve is what the line gives over a value; without one, where fewer than three loads make it, nothing is known.
func (l *PlaneLine) curve(axis int) *curve.Curve {
	if _, done := l.fitted[axis]; !done {
		var points []curve.Point
		for _, p := range l.Points {
			if x := p.Values[axis]; x != nil {
				points = append(points, curve.Point{Load: p.At, X: *x, Output: *p.Values[planeOutput]})
			}
		}
		if l.fitted == nil {
			l.fitted = map[int]*curve.Curve{}
		}
		l.fitted[axis] = curve.Fit(points, axis != planeSpeed)
	}
	return l.fitted[axis]
}

// trace adds points of the line's curves between the loads.
func (l *PlaneLine) trace() {
	const parts = 4
	for axis := planeSpeed; axis < planeValues; axis++ {
		if !l.curve(axis).Whole() {
			continue
		}
		for i := 1; i < len(l.Points); i++ {
			a, b := l.Points[i-1].Values[axis], l.Points[i].Values[axis]
			for part := 1; part < parts && a != nil && b != nil && *a > 0 && *b > 0; part++ {
				level := *a * math.Pow(*b / *a, float64(part)/parts)
				if v := l.curve(axis).At(level); !math.IsNaN(v) {
					l.Paths[axis-1] = append(l.Paths[axis-1], [2]float64{latency.Round(level, 4), latency.Round(v, 4)})
				}
			}
		}
	}
}

// limits offers the round values that lie among what was measured, and draws the one first that most lines cross; of
// several the one nearest to 20 tok/s of a user.
func (p *Plane) limits() {
	drawn := func(l *PlaneLine) bool { return l.Workload == p.Workloads[0] }
	p.Limit = -1
	crossed := 0
	waits := []float64{20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000}
	for axis, of := range [planeValues]struct {
		text   string
		values []float64
	}{
		planeSpeed: {"At %s tok/s per user", []float64{5, 10, 20, 30, 50, 100, 200, 500}},
		planeTTFT:  {"At a TTFT of %s ms", waits},
		planeTail:  {"At a TTFT P90 of %s ms", waits},
		planeE2EL:  {"At an E2EL of %s ms", []float64{200, 500, 1000, 2000, 5000, 10000, 30000, 60000, 120000}},
	} {
		for _, v := range of.values {
			limit := PlaneLimit{Axis: axis, Value: v, Text: fmt.Sprintf(of.text, words.Count(int(v)))}
			n, use := 0, false
			for i := range p.Lines {
				b := p.Lines[i].best(&limit)
				limit.Best = append(limit.Best, b)
				if b.Why == "" && !b.Least { // it lies between two points of the line
					use = true
					n += truth(drawn(&p.Lines[i]))
				}
			}
			if !use {
				continue
			}
			p.Limits = append(p.Limits, limit)
			first := p.Limit < 0 || crossed == 0
			same := !first && p.Limits[p.Limit].Axis == axis // another axis is drawn first only where the speed has none
			if n > 0 && (first || same && (n > crossed || n == crossed && nearer(limit, p.Limits[p.Limit]))) {
				p.Limit, crossed = len(p.Limits)-1, n
			}
		}
	}
}

func nearer(a, b PlaneLimit) bool {
	const usual = 20
	far := func(l PlaneLimit) float64 { return math.Abs(math.Log(l.Value / usual)) }
	return a.Axis == planeSpeed && (b.Axis != planeSpeed || far(a) < far(b))
}

// rankedBest is the best point of a line.
type rankedBest struct {
	PlaneBest
	line *PlaneLine
}

// serves is its output as a sentence has it, which says where nobody measured it: "concurrency 32 and 64", "10 and 20
// req/s".
func (b *rankedBest) serves(unit string) string {
	said := words.Number(b.Output) + unit
	switch {
	case b.Least:
		return "at least " + said
	case b.between:
		return "about " + said
	}
	return said
}

// bound is a number of a best point; with "≥" where its line never leaves the limit.
func (b *rankedBest) bound(v float64) Cell {
	if b.Least {
		return text("≥" + words.Thin + words.Number(v))
	}
	return text(words.Number(v))
}

// ranked are the best points, within the limit that is drawn first, of the lines that are, highest output first; of a
// line that never leaves the limit, its highest output, which it serves at least, and so of all without a limit.
func (p *Plane) ranked() (out []rankedBest) {
	for i := range p.Lines {
		l := &p.Lines[i]
		if l.Workload != p.Workloads[0] {
			continue
		}
		b := l.highest()
		if p.Limit >= 0 {
			b = p.Limits[p.Limit].Best[i]
		}
		out = append(out, rankedBest{b, l})
	}
	slices.SortStableFunc(out, func(a, b rankedBest) int { return cmp.Compare(b.Output, a.Output) })
	return out
}

// Table has the best point of each line within the limit that is drawn first; without a limit the highest output.
func (p *Plane) Table() *Table {
	of := cmp.Or(p.Of, "Configuration")
	caption := p.Model + ": highest measured output of each " + strings.ToLower(of)
	if p.Limit >= 0 {
		caption = p.Model + ", " + p.Workloads[0] + ": best point of each " + strings.ToLower(of) + ". " +
			p.Limits[p.Limit].Text
	}
	known := func(c Col, cell func(rankedBest) Cell) Column[rankedBest] {
		return Column[rankedBest]{c, func(b rankedBest) Cell {
			if b.Why != "" {
				return text(words.Absent)
			}
			return cell(b)
		}}
	}
	value := func(v *float64) Cell {
		if v == nil {
			return missing("not measured")
		}
		return text(words.Number(*v))
	}
	return tableOf(caption, List, p.ranked(), []Column[rankedBest]{
		{col(of), func(b rankedBest) Cell {
			name := head(b.line.Name, b.line.Href)
			if b.line.Median {
				name.Sub = "medians: there are no means"
			}
			return name
		}},
		{num("Concurrency"), func(b rankedBest) Cell {
			if b.Why != "" {
				return Cell{Text: b.Why, Missing: b.Why}
			}
			at := b.bound(b.At)
			if points := b.line.Points; len(points) > 0 && strings.HasSuffix(points[0].Load, perSecond) {
				at.Text += " req/s"
			}
			return at
		}},
		known(num("Output").in("tok/s"), func(b rankedBest) Cell { return b.bound(b.Output) }),
		known(num("Per chip").in("tok/s"), func(b rankedBest) Cell {
			if b.line.Chips == 0 {
				return missing("how many chips the device has is not stated")
			}
			return b.bound(b.Output / float64(b.line.Chips))
		}),
		known(num("Per user").in("tok/s"), func(b rankedBest) Cell { return value(b.Values[planeSpeed]) }),
		known(num("TTFT").in("ms"), func(b rankedBest) Cell { return value(b.Values[planeTTFT]) }),
	}).cut("Explore has all").whole(exploring("All in Explore"))
}

// highest is the point with the highest output that was measured.
func (l *PlaneLine) highest() PlaneBest {
	var best PlaneBest
	for _, p := range l.Points {
		if out := *p.Values[planeOutput]; out >= best.Output {
			best = PlaneBest{At: p.At, Output: out, Values: p.Values}
		}
	}
	return best
}

// NotDrawn says which points are missing from the plane, and why.
func (p *Plane) NotDrawn() string {
	var parts []string
	for _, why := range sortedNames(p.left) {
		parts = append(parts, words.Plural(p.left[why], "point")+" "+why)
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("Not drawn: %s.", strings.Join(parts, "; "))
}

// Label is the figure in words.
func (p *Plane) Label() string {
	return p.Model + ", " + p.Workloads[0] + ": output tok/s against tok/s per user, a line a " +
		strings.ToLower(cmp.Or(p.Of, "Configuration")) + ". " + p.headline()
}
