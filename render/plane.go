package render

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/render/words"
)

// Prices are what a device costs an hour, by its name.
type Prices struct {
	Currency string             // "USD"
	Hour     map[string]float64 // of the device as it is named
	ChipHour map[string]float64 // of one of its accelerators
}

// configuration is how a model was served: lines of a plane differ in it.
type configuration struct {
	device, impl, engine, precision, parallel, tool string

	chips int // 0 when unknown
}

// planeID is a line: a configuration under a workload but for its concurrency.
type planeID struct {
	configuration
	workload string
	rate     bool // the load is a rate, not a concurrency
}

// gathered is a line while its points are found.
type gathered struct {
	planeID
	href   Address
	median bool // some latency has no mean
	points map[string]*gatheredPoint
}

// gatheredPoint is one load of a line: values of the repeats of one run.
type gatheredPoint struct {
	key    schema.Key
	run    int
	values [planeValues][]float64
}

// The values of a point of a plane.
const (
	planeOutput = iota // tok/s of the whole deployment
	planeSpeed         // tok/s of a user
	planeTTFT          // ms
	planeE2EL          // ms
	planeValues
)

// isParallel reports names of dimensions that say how accelerators share the work: they make a configuration, not a
// workload.
func isParallel(name string) bool {
	switch name {
	case "tp", "pp", "dp", "ep", "cp", "dp_attention", "dcp_size", "pcp_size", "disagg", "num_prefill_gpu", "precision",
		"num_decode_gpu", "spec_decoding", "tensor_parallel_size", "replicas", "batch_size", "max_num_seqs":
		return true
	}
	return strings.HasPrefix(name, "prefill_") || strings.HasPrefix(name, "decode_")
}

// split parts a key into the workload without its load and the configuration in its dimensions.
func split(k schema.Key) (workload schema.Key, parallel string) {
	workload = k
	workload.Concurrency, workload.Tool, workload.Dims = nil, "", nil
	if k.Concurrency == nil {
		workload.Rate = nil // beside a concurrency, which is the load, a rate makes another workload
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(k.Dims)) {
		if isParallel(name) {
			parts = append(parts, strings.ReplaceAll(name, "_", " ")+" "+k.Dims[name])
			continue
		}
		if workload.Dims == nil {
			workload.Dims = map[string]string{}
		}
		workload.Dims[name] = k.Dims[name]
	}
	return workload, strings.Join(parts, ", ")
}

// planeWorkload names a workload without its load.
func planeWorkload(k schema.Key) string {
	return cmp.Or(strings.TrimSuffix(strings.Replace(words.Workload(k), "/- ", " ", 1), "/-"), "one workload")
}

// restOf names what a workload has besides lengths and load; "" for nothing.
func restOf(k schema.Key) string {
	workload, _ := split(k)
	if workload.Rate == nil && len(workload.Dims) == 0 {
		return ""
	}
	workload.ISL, workload.OSL = nil, nil
	return words.Workload(workload)
}

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

// planeGathering finds the lines of a model.
type planeGathering struct {
	*Report
	lines map[planeID]*gathered
	left  map[string]int // points that are not drawn, by reason
}

// gatherPlane finds the lines of a model: of a history with releases the newest one of each device, of builds alone
// the newest run of each point.
func (r *Report) gatherPlane(model string) *planeGathering {
	g := &planeGathering{Report: r, lines: map[planeID]*gathered{}, left: map[string]int{}}
	pairs, _ := r.listed()
	for _, p := range pairs {
		if p.Model != model {
			continue
		}
		releases := r.measuredIn(p.Model, p.Device)
		if r.graded() {
			releases = []int{p.Newest}
		}
		for _, at := range slices.Backward(releases) {
			for _, run := range slices.Backward(r.runs[p.Pair][at]) {
				g.run(p, run)
			}
		}
	}
	return g
}

// run takes the points of a run that no newer one has.
func (g *planeGathering) run(p Pair, run int) {
	h := &g.Columns.Runs[run]
	engine := h.Engine
	if !g.graded() {
		engine = strings.TrimSpace(engine + " " + h.Version)
	}
	for i := h.FirstPoint; i < h.PointsEnd; i++ {
		row := &g.Columns.Points[i]
		k := g.Columns.Keys[row.Key]
		workload, parallel := split(k)
		values, median, why := g.values(row)
		if load(k) == "" {
			why = "neither a concurrency nor a rate is stated"
		}
		if why != "" {
			g.left[why]++
			continue
		}
		precision := cmp.Or(h.Model.Precision, k.Dims["precision"])
		chips := cmp.Or(h.Chips, g.Chips[p.Device])
		id := planeID{
			configuration: configuration{p.Device, h.Impl, engine, precision, parallel, k.Tool, chips},
			workload:      planeWorkload(workload), rate: k.Concurrency == nil,
		}
		l := g.lines[id]
		if l == nil {
			l = &gathered{planeID: id, href: PairPath(p.Model, p.Device), points: map[string]*gatheredPoint{}}
			g.lines[id] = l
		}
		l.add(k, run, values, median)
	}
}

func (l *gathered) add(k schema.Key, run int, values [planeValues]schema.Number, median bool) {
	x := l.points[load(k)]
	if x == nil {
		x = &gatheredPoint{key: k, run: run}
		l.points[load(k)] = x
	}
	if x.run != run {
		return // a newer run has it
	}
	l.median = l.median || median
	for i, n := range values {
		if v, ok := n.Get(); ok {
			x.values[i] = append(x.values[i], v)
		}
	}
}

// values are those of a point; why says what is missing that a plane needs.
func (g *planeGathering) values(row *columns.PointRow) (out [planeValues]schema.Number, median bool, why string) {
	if s := row.StatusWord(); s == schema.StatusFailed || s == schema.StatusInvalid {
		return out, false, "failed or invalid"
	}
	for i := range out {
		out[i] = schema.Missing("not in the file")
	}
	typical := func(metric string) schema.Number {
		for _, stat := range []string{"mean", "value", "median"} {
			n, _ := g.Columns.Value(row, metric, stat)
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
	if tpot, ok := typical("tpot").Get(); ok && tpot > 0 {
		out[planeSpeed] = schema.Num(1000 / tpot)
	}
	if _, ok := out[planeOutput].Get(); !ok {
		return out, false, "without output tok/s"
	}
	for _, n := range out[planeSpeed:] {
		if _, ok := n.Get(); ok {
			return out, median, ""
		}
	}
	return out, false, "without a latency"
}

// mean of the repeats; NaN for none.
func mean(list []float64) float64 {
	sum := 0.
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// plane is what is known of a model on all its devices; nil when nothing can be drawn.
func (r *Report) plane(model string) *Plane {
	g := r.gatherPlane(model)
	if len(g.lines) == 0 {
		return nil
	}
	p := &Plane{Model: words.OrUnknown(model), Currency: r.Prices.Currency}
	for _, l := range g.lines {
		p.Lines = append(p.Lines, r.planeLine(l))
	}
	p.name()
	slices.SortFunc(p.Lines, func(a, b PlaneLine) int {
		return cmp.Or(r.Devices.place(a.Device)-r.Devices.place(b.Device), schema.NaturalCompare(a.Device, b.Device),
			schema.NaturalCompare(a.Name, b.Name), schema.NaturalCompare(a.Workload, b.Workload))
	})
	p.arrange()
	for _, why := range slices.Sorted(maps.Keys(g.left)) {
		p.Left = append(p.Left, words.Plural(g.left[why], "point")+" "+why)
	}
	p.limits()
	p.scaling()
	return p
}

// look is the place of a device among all of the site: it has one colour and one mark on every page.
func (r *Report) look(device string) int {
	var devices []string
	for _, p := range r.Pairs {
		if !slices.Contains(devices, p.Device) {
			devices = append(devices, p.Device)
		}
	}
	slices.SortFunc(devices, func(a, b string) int {
		return cmp.Or(r.Devices.place(a)-r.Devices.place(b), schema.NaturalCompare(a, b))
	})
	return slices.Index(devices, device)
}

// planeLine is a line with its points by load.
func (r *Report) planeLine(l *gathered) PlaneLine {
	out := PlaneLine{
		Device: cmp.Or(l.device, "device not stated"), Look: r.look(l.device), Engine: l.engine,
		Precision: l.precision, Parallel: l.parallel, Impl: l.impl,
		Tool: l.tool, Workload: l.workload, Chips: l.chips, Median: l.median, Href: l.href,
	}
	if v, ok := r.Prices.Hour[l.device]; ok {
		out.Price = v
	} else if v, ok := r.Prices.ChipHour[l.device]; ok && l.chips > 0 {
		out.Price = v * float64(l.chips)
	}
	for _, x := range l.points {
		p := PlanePoint{Load: load(x.key), At: loadOf(x.key), Run: RunPath(r.Columns.Runs[x.run].ID)}
		p.isl, p.osl, p.rest = x.key.ISL, x.key.OSL, restOf(x.key)
		for i := range p.Values {
			if len(x.values[i]) > 0 {
				v := round(mean(x.values[i]))
				p.Values[i] = &v
			}
		}
		out.Points = append(out.Points, p)
	}
	slices.SortFunc(out.Points, func(a, b PlanePoint) int { return cmp.Compare(a.At, b.At) })
	return out
}

func loadOf(k schema.Key) float64 {
	if k.Concurrency != nil {
		return *k.Concurrency
	}
	return *k.Rate
}

// round keeps what can be seen: the script has to load the rest.
func round(v float64) float64 {
	return latency.Round(v, 5)
}

// arrange lists the workloads, those with most points first.
func (p *Plane) arrange() {
	points := map[string]int{}
	for _, l := range p.Lines {
		if len(l.Points) > 1 {
			points[l.Workload] += 1000 // a curve says more than marks
		}
		points[l.Workload] += len(l.Points)
	}
	p.Workloads = slices.SortedFunc(maps.Keys(points), func(a, b string) int {
		return cmp.Or(cmp.Compare(points[b], points[a]), schema.NaturalCompare(a, b))
	})
}
