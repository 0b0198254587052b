package render

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/compare"
	"github.com/ttreport/ttreport/targets/judge"
)

// Comparison is two sides beside each other, as every output shows them.
type Comparison struct {
	*compare.Result
	Lost int // documents of the history that could not be read
	// Against is what the pages of the site say of the two sides, where they are an earlier and a later release.
	Against *compare.Against
}

// Head stands above the rows: conditions and loads that differ, and what B was judged.
func (c *Comparison) Head() []string {
	if c.Against != nil {
		return append(unlikeLoadsText(c.Result), againstText(c.Against)...) // Notes have the means
	}
	var out []string
	for _, s := range c.Settings {
		out = append(out, fmt.Sprintf("%s differs: %s → %s", s.Name, s.A, s.B))
	}
	return append(out, unlikeLoadsText(c.Result)...)
}

// Tables are those of numbers and of scores, where there are any.
func (c *Comparison) Tables() (out []*Table) {
	if len(c.Rows) > 0 || len(c.Scores) == 0 {
		out = append(out, c.table())
	}
	if len(c.Scores) > 0 {
		out = append(out, c.scoreTable())
	}
	return out
}

// scoreTable has one row a score, in the order of tasks.
func (c *Comparison) scoreTable() *Table {
	type row = *compare.Score
	var rows []row
	for i := range c.Scores {
		rows = append(rows, &c.Scores[i])
	}
	value := func(s *schema.Score) Cell {
		v, _ := s.Value.Get()
		return text(words.Number(v))
	}
	return tableOf("Scores", "", rows, []Column[row]{
		{col("Task"), func(x row) Cell {
			return text(nameOfScore(x))
		}},
		{col("N"), func(x row) Cell { return stated(x.B.N) }},
		{col(shortSide(c.A, c.B)), func(x row) Cell { return value(x.A) }},
		{col(shortSide(c.B, c.A)), func(x row) Cell { return value(x.B) }},
		{col("Difference"), func(x row) Cell {
			if x.Why != "" {
				return text("not compared: " + x.Why)
			}
			return text(spanText(x.D, x.Lo, x.Hi, x.Relative, x.Test == schema.TestPaired))
		}},
		{col("Test"), func(x row) Cell {
			if x.Why != "" {
				return text("")
			}
			return text(fmt.Sprintf("p = %.3f", x.P))
		}},
		{col("Verdict"), func(x row) Cell {
			switch {
			case x.Why != "":
				return text("")
			case x.Outcome() != schema.Inconclusive:
				return text(x.Outcome().String())
			case x.Items > 0:
				return text("~ (needs " + questions(x.Items, x.Answers) + ")")
			}
			return text("~")
		}},
	})
}

func nameOfScore(x *compare.Score) string {
	return listed(", ", x.A.Task, fewshotText(x.A), x.A.Metric, words.FilterBeside(x.A.Filter), x.System)
}

// scoreNotes say by what scores differ, and name the items that one side answered better than the other.
func (c *Comparison) scoreNotes() (out []string) {
	if len(c.Scores) > 1 {
		out = append(out, fmt.Sprintf("scores: regressed and improved are by Holm's procedure over all %d; one comparison "+
			"in twenty has a wrong one", len(c.Scores)))
	}
	if c.ScoresA+c.ScoresB > 0 {
		out = append(out, fmt.Sprintf("not compared: %s only in %s, %d only in %s", words.Plural(c.ScoresA, "score"), c.A,
			c.ScoresB, c.B))
	}
	type said struct{ of, text string }
	var by groups[string, said] // several scores of a task may say the same of its items
	for i := range c.Scores {
		x := &c.Scores[i]
		var parts []string
		for _, side := range []struct {
			ids []string
			how string
		}{{x.Lost, "worse"}, {x.Gained, "better"}} {
			if len(side.ids) > 0 {
				const most = 20
				text := words.Count(len(side.ids)) + " that B answers " + side.how + ": " + words.Few(side.ids, most)
				if len(side.ids) > most {
					text += " (--format json has all)"
				}
				parts = append(parts, text)
			}
		}
		if len(parts) > 0 {
			text := strings.Join(parts, "; ")
			s, _ := by.of(text)
			*s = said{listed(" and of ", s.of, nameOfScore(x)), text}
		}
	}
	for _, s := range by.list {
		out = append(out, "items of "+s.of+", by id: "+s.text)
	}
	return out
}

// table has one row a number, largest regressions first.
func (c *Comparison) table() *Table {
	type row = *compare.Row
	difference, last := "Change", Column[row]{col("Verdict"), func(x row) Cell {
		switch {
		case x.Outcome() != schema.Inconclusive:
			return text(x.Outcome().String())
		case x.NeededEach > 0:
			return text(fmt.Sprintf("~ (needs %d+%d)", x.NeededEach, x.NeededEach))
		}
		return text("~")
	}}
	if c.OfTools {
		difference, last = "Difference", Column[row]{col("Definitions"), func(x row) Cell { return text(definitions(x)) }}
	}
	side := func(name string, of func(row) (mean, spread float64, n int)) Column[row] {
		return Column[row]{col(name), func(x row) Cell { // with half of the range of its repeats
			mean, spread, n := of(x)
			s := words.Quantity(mean, schema.Unit(x.Metric))
			if n > 1 {
				s += " ±" + words.Percent(spread)
			}
			return text(s)
		}}
	}
	all := []Column[row]{
		{col("Workload"), func(x row) Cell { // of a side that may have several systems
			return text(listed(" ", x.System, words.Workload(x.Key), x.Key.Tool))
		}},
		{col("Metric"), func(x row) Cell { return text(words.Metric(x.Metric, x.Stat)) }},
		side(shortSide(c.A, c.B), func(x row) (float64, float64, int) { return x.A, x.SpreadA, x.NA }),
		side(shortSide(c.B, c.A), func(x row) (float64, float64, int) { return x.B, x.SpreadB, x.NB }),
		{col(difference), func(x row) Cell { return text(words.Change(x.Change)) }},
	}
	if c.tested() {
		all = append(all, Column[row]{col("95 % interval"), func(x row) Cell {
			if math.IsNaN(x.Lo) {
				return text("")
			}
			return text(words.Change(x.Lo) + " to " + words.Change(x.Hi))
		}}, Column[row]{col("Test"), func(x row) Cell {
			n := fmt.Sprintf("n = %d+%d", x.NA, x.NB)
			if !math.IsNaN(x.P) {
				n = fmt.Sprintf("p = %.3f, ", x.P) + n
			}
			return text(n)
		}}, last)
	}
	if c.Against != nil { // against history: "regressed confirmed: +16.1 %, +10.5 % to +22.1 %"
		all = append(all, Column[row]{col("Verdict of " + shortSide(c.B, c.A)), func(x row) Cell {
			v := x.Judged
			if v == nil {
				return text(words.Absent)
			}
			out := strings.TrimSpace(v.Outcome.Words() + " " + v.Evidence.String())
			if e, ok := v.Effect.Get(); ok && v.Interval != nil { // both against one baseline, which the other columns are not
				out += ": " + words.Signed(v.Metric, e) + ", " + words.IntervalOf(*v)
			}
			return text(out)
		}})
	}
	if slices.ContainsFunc(c.Loads, (*compare.Loads).Differ) {
		all = append(all, Column[row]{col("Requests"), func(x row) Cell { return text(loadMark(x.Loads)) }})
	}
	var rows []row
	for i := range c.Rows {
		rows = append(rows, &c.Rows[i])
	}
	return tableOf(c.A+" and "+c.B, "", rows, all)
}

// tested reports whether tests of the rows are shown: not where none decides and B was judged, which says all.
func (c *Comparison) tested() bool {
	return c.Against == nil || c.Tests()[compare.Untested] < len(c.Rows)
}

// definitions are those of a metric by two tools.
func definitions(r *compare.Row) string {
	switch {
	case r.DefA == r.DefB && r.DefA == schema.DefNotStated:
		return "not stated"
	case r.DefA == r.DefB:
		return "the same: " + r.DefA
	}
	return r.DefA + " and " + r.DefB
}

// Notes follow the rows: geometric means by metric, tests used, what was left out, what the rows do not show.
func (c *Comparison) Notes() []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, m := range c.Means() {
		info, _ := schema.MetricByName(m.Metric)
		alike := ""
		if m.NAlike > 0 {
			alike = fmt.Sprintf("; %s over the %d that Requests does not mark", words.Change(m.Alike), m.NAlike)
		}
		add("%s (%s): geometric mean of %d changes %s, from %s to %s%s", info.Label, info.Better, m.N,
			words.Change(m.Change), words.Change(m.Low), words.Change(m.High), alike)
	}
	out = append(out, words.Curves(c.Result)...)
	for _, a := range c.All { // how all points changed that both sides measured in turns
		info, _ := schema.MetricByName(a.Metric)
		kept := ""
		if a.Kept {
			kept = "; both servers kept running, so that each started once"
		}
		add("in turns: %s (%s) of %s %s, 95%s%% interval %s to %s from %s%s", info.Label, info.Better,
			words.Plural(a.Points, "point"), words.Change(a.Change), words.Thin, words.Change(a.Lo), words.Change(a.Hi),
			words.Plural(a.Blocks, "block"), kept)
	}
	out = append(out, c.scoreNotes()...)
	tests := c.Tests()
	for _, t := range compare.TestNames() {
		if tests[t] > 0 && c.tested() {
			add("test: %s (%s)", t, words.Plural(tests[t], "row"))
		}
	}
	for _, m := range c.NoPairs {
		add("runs that name each other are not a pair in turns: %s", words.Mismatch(m))
	}
	if c.OnlyA+c.OnlyB > 0 {
		add("not compared: %d numbers only in %s, %d only in %s", c.OnlyA, c.A, c.OnlyB, c.B)
	}
	if c.BadA+c.BadB > 0 {
		add("left out: %d in %s and %d in %s that failed, are invalid, or are not a measurement: "+
			"zero, below, or beyond a hundred decades of one", c.BadA, c.A, c.BadB, c.B)
	}
	if c.Lost > 0 {
		add("%s of the history cannot be read and is ignored here; ttreport check names it",
			words.Plural(c.Lost, "document"))
	}
	if c.OfTools {
		add("two tools measure the same load at other times and count by other rules: a difference is not a verdict on " +
			"either; ttreport help glossary has the definitions")
		return out
	}
	n := tests[compare.Interleaved]
	if n > 0 {
		add("rows of paired blocks are tested as one family: one in twenty of those called changed may be unchanged")
	}
	if n+tests[compare.Untested] < len(c.Rows) {
		add("no correction for the number of rows: where there is a test, one in twenty unchanged rows is called changed")
	}
	return out
}

// shortSide is the name of a side in a head: of a long path the end that tells it from the other one.
func shortSide(name, other string) string {
	const long = 24
	if len(name) <= long {
		return name
	}
	parts, others := strings.Split(name, "/"), strings.Split(other, "/")
	n := 1
	for n < len(parts) && n < len(others) && slices.Equal(parts[len(parts)-n:], others[len(others)-n:]) {
		n++
	}
	if n == len(parts) || name == other {
		n = 1
	}
	return strings.Join(parts[len(parts)-n:], "/")
}

// beside is what is compared at first: of the models on devices that were measured twice, with something in common, the
// newest release and the one before. Where nothing was, at has two devices, tools or models with the same workloads.
func (r *Report) beside() (a, b, at string) {
	newest := r.Newest()
	if newest < 0 {
		return "", "", ""
	}
	first, second := -1, -1
	for _, p := range r.Pairs {
		list := r.with[p.Pair]
		last := list[len(list)-1]
		for _, at := range slices.Backward(list[:len(list)-1]) {
			if r.share(p.Pair, at, last) {
				if slices.Compare([]int{last, at}, []int{second, first}) > 0 {
					first, second = at, last
				}
				break
			}
		}
	}
	if first >= 0 {
		return r.Releases[first].Name, r.Releases[second].Name, ""
	}
	if one, two := r.opposed(); one.pair != (schema.Pair{}) {
		return r.Releases[one.release].Name, r.Releases[two.release].Name, choice(one, two)
	}
	return "", r.Releases[newest].Name, ""
}

// share reports whether two releases have a workload or a task of a model on a device in common.
func (r *Report) share(p schema.Pair, a, b int) bool {
	for _, x := range r.byTool(a, p) {
		for _, y := range r.byTool(b, p) {
			if x.tool == y.tool && x.setup() == y.setup() && shared(x, y) > 0 {
				return true
			}
		}
	}
	return false
}

// measured is what one release has of a model on a device with a tool in a configuration.
type measured struct {
	release    int
	pair       schema.Pair
	tool       string
	system     string          // implementation, engine and precision
	configured string          // the configuration in the dimensions of its workloads
	keys       map[string]bool // workloads and tasks, without tool and configuration
}

// setup is the whole configuration, as compare.js names it.
func (m *measured) setup() string { return listed(", ", m.system, m.configured) }

// choice is the address of two sides: what they choose differently is what is compared.
func choice(one, two *measured) string {
	v := url.Values{}
	for side, m := range map[string]*measured{"a": one, "b": two} {
		if one.pair.Model != two.pair.Model {
			v.Set(side+"model", words.OrUnknown(m.pair.Model))
		}
		if one.pair.Device != two.pair.Device {
			v.Set(side+"device", words.Device(m.pair.Device))
		}
		if one.setup() != two.setup() {
			v.Set(side+"setup", m.setup())
		}
		if one.tool != two.tool {
			v.Set(side+"tool", m.tool)
		}
	}
	return v.Encode()
}

// mostOpposed bounds the search for two sides, which looks at each two of what was measured.
const mostOpposed = 200

// opposed are the two measurements that have most in common and differ in the device alone; where there are none, in
// the configuration, the tool, or the model.
func (r *Report) opposed() (one, two *measured) {
	var all []*measured
	for _, p := range r.Pairs {
		for _, at := range r.with[p.Pair] {
			if len(all) < mostOpposed {
				all = append(all, r.byTool(at, p.Pair)...)
			}
		}
	}
	one, two = &measured{}, &measured{}
	best := []int{0, 0}
	for i, x := range all {
		for _, y := range all[i+1:] {
			if n := []int{opposition(x, y), shared(x, y)}; n[0] > 0 && n[1] > 0 && slices.Compare(n, best) > 0 {
				best, one, two = n, x, y
			}
		}
	}
	return one, two
}

// opposition ranks in what alone two measurements differ: the device, the configuration, the tool, the model; 0 for
// anything else.
func opposition(x, y *measured) int {
	rank := 0
	for i, d := range []bool{
		x.pair.Model != y.pair.Model, x.tool != y.tool, x.setup() != y.setup(), x.pair.Device != y.pair.Device,
	} {
		switch {
		case d && rank > 0:
			return 0
		case d:
			rank = i + 1
		}
	}
	if rank == 2 && x.release != y.release {
		return 0
	}
	return rank
}

func shared(x, y *measured) (n int) {
	for k := range x.keys {
		n += truth(y.keys[k])
	}
	return n
}

// byTool is what a release has of a model on a device, for each tool and configuration in the order of its points;
// scores have neither.
func (r *Report) byTool(release int, pair schema.Pair) (out []*measured) {
	at := map[[3]string]int{}
	add := func(tool, system, configured, key string) {
		i := place(at, [3]string{tool, system, configured}, &out, func() *measured {
			return &measured{release, pair, tool, system, configured, map[string]bool{}}
		})
		out[i].keys[key] = true
	}
	for _, run := range r.runs[pair][release] {
		h := &r.Columns.Runs[run]
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			k, dims := r.Columns.Keys[r.Columns.Points[i].Key].Parts()
			tool := k.Tool
			k.Tool = ""
			add(tool, listed(", ", setupOf(h.Impl, h.Engine, h.Model.Precision)...), configured(dims), k.String())
		}
		for _, s := range r.Columns.ScoresOf(run) {
			add("", "", "", strings.Join([]string{s.Task, fewshotText(&s.Score), s.Metric, s.Filter}, "\n"))
		}
	}
	return out
}

// setupOf are the parts of the configuration that a run states: its implementation, and what that does not name.
func setupOf(impl, engine, precision string) []string {
	parts := []string{impl}
	for _, fact := range []string{engine, precision} {
		if !strings.Contains(impl, fact) {
			parts = append(parts, fact)
		}
	}
	return parts
}

// elseChanged says what differs between the two builds beside the number.
func elseChanged(c schema.Change) string {
	var parts []string
	for _, x := range [][2]string{{"", c.Differs}, {"", c.Build}, {"the same build: ", c.SameBuild},
		{"the same ", c.SameCommit}} {
		if x[1] != "" {
			parts = append(parts, x[0]+x[1])
		}
	}
	if len(parts) == 0 {
		return "Nothing else is stated to differ."
	}
	return words.Capital(strings.Join(parts, "; ")) + "."
}

// unlikeLoadsText says of how many workloads the two sides did not do the same work; their rows say what.
func unlikeLoadsText(c *compare.Result) []string {
	n := 0
	for _, l := range c.Loads {
		n += truth(l.Differ())
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("answers differ in length, or more than %s of requests failed, in %s of %s: see Requests",
		words.Percent(schema.MostFailures), words.Count(n), words.Plural(len(c.Loads), "workload"))}
}

// failed is how many requests of a side failed: "38 of 100"; absent where they are not counted.
func failed(l compare.Load) string {
	if l.Of == 0 {
		return words.Absent
	}
	return words.Of(int(l.Failed), int(l.Of))
}

// loadMark says of a row what its workload's requests did otherwise; "" where they did the same.
func loadMark(l *compare.Loads) string {
	if l == nil {
		return ""
	}
	var out []string
	if l.Lengths() {
		a, _ := l.A.OSL.Get()
		b, _ := l.B.OSL.Get()
		out = append(out, fmt.Sprintf("answers %s → %s tokens", words.Number(a), words.Number(b)))
	}
	if l.A.Failing() || l.B.Failing() {
		out = append(out, "failed "+failed(l.A)+" → "+failed(l.B))
	}
	return strings.Join(out, "; ")
}

// besideOf is the release that a release stands beside, with a number of one series in both; -1 for none.
func (r *Report) besideOf(at int) int {
	before := r.Gate.Before(at)
	if before >= 0 && r.Graded() && slices.ContainsFunc(r.Gate.Series, func(s judge.Series) bool {
		_, hasA := s.At(before)
		_, hasB := s.At(at)
		return hasA && hasB && !s.Tail()
	}) {
		return before
	}
	return -1
}

// Against is a release beside the one that it is compared with; nil where there is none. A score that one of them has
// in several ways is left out.
func (r *Report) Against(at int) *compare.Against {
	before := r.besideOf(at)
	if before < 0 {
		return nil
	}
	c, a := compare.Releases(r.Gate.Judgement, before, at), r.scoresByName(before)
	for name, now := range r.scoresByName(at) {
		if len(now) == 1 && len(a[name]) == 1 {
			c.Scores++
			c.Regressed += truth(now[0].Verdict == schema.Regressed)
			c.Improved += truth(now[0].Verdict == schema.Improved)
		}
	}
	return c
}

// AgainstText says what came of a comparison of two releases, conditions that differ first and means by metric last.
func AgainstText(c *compare.Against) []string {
	var means []string
	for _, m := range c.Means {
		info, _ := schema.MetricByName(m.Metric)
		means = append(means, fmt.Sprintf("%s %s (%s)", info.Label, words.Change(m.Change), info.Better))
	}
	out := againstText(c)
	if len(means) > 0 {
		out = append(out, "Geometric mean of the changes: "+strings.Join(means, ", ")+".")
	}
	return out
}

func againstText(c *compare.Against) (out []string) {
	if len(c.Differ) > 0 {
		var parts []string
		for _, x := range c.Differ {
			parts = append(parts, fmt.Sprintf("%s %s → %s (%s)", x.Name, x.A, x.B, words.Plural(x.N, "number")))
		}
		out = append(out, fmt.Sprintf("Conditions differ: %s. %s not compared.", words.Few(parts, 6),
			words.Plural(c.Unlike, "number")))
	}
	if c.Numbers+c.Scores+c.OnlyA+c.OnlyB == 0 {
		return out
	}
	numbers := words.Plural(c.Numbers, "number")
	if c.Scores > 0 {
		numbers += " and " + words.Plural(c.Scores, "score")
	}
	said := fmt.Sprintf("%s of %s and %s: %s regressed and %s improved, as %s was judged against its own baseline",
		numbers, c.A, c.B, words.Count(c.Regressed), words.Count(c.Improved), c.B)
	if c.OnlyA+c.OnlyB > 0 {
		said += fmt.Sprintf("; %s only in %s, %s only in %s", words.Count(c.OnlyA), c.A, words.Count(c.OnlyB), c.B)
	}
	return append(out, said+".")
}
