package repeat

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/ingest/schema/naming"
)

// Separate makes dimensions of what differs between points with equal keys, in place, and returns a problem for each
// kind of difference. How many devices share the model, as file and folder names state it, is always a dimension: other
// numbers of them are often measured in other runs, or later. Dimensions of an earlier call are taken back first: the
// same points always get the same keys, whichever were there before.
func Separate(points []schema.Point) []schema.Problem {
	for i := range points {
		TakeBack(&points[i])
		if foreign(&points[i]) {
			for dim, value := range naming.Parallelism(points[i].Source.Path) {
				add(&points[i], dim, value, schema.FromDerived)
			}
		}
	}
	var out []schema.Problem
	for _, group := range byKey(points) {
		if len(group) > 1 {
			out = append(out, separate(group)...)
		}
	}
	return out
}

func byKey(points []schema.Point) [][]*schema.Point {
	all := make([]*schema.Point, len(points))
	for i := range points {
		all[i] = &points[i]
	}
	return schema.Alike(all, keyOf)
}

func keyOf(p *schema.Point) string { return p.Key.String() }

// TakeBack removes the dimensions that an earlier call of [Separate] added. Points may share maps.
func TakeBack(p *schema.Point) { takeBack(p, schema.FromDerived) }

// Bare removes also those that [SeparateRows] added.
func Bare(p *schema.Point) { takeBack(p, schema.FromDerived, schema.FromRows) }

func takeBack(p *schema.Point, added ...schema.From) {
	for name, from := range p.Stated {
		if dim, ok := strings.CutPrefix(name, schema.StatedDim); ok && slices.Contains(added, schema.From(from)) {
			p.Key.Dims, p.Stated = maps.Clone(p.Key.Dims), maps.Clone(p.Stated)
			delete(p.Key.Dims, dim)
			delete(p.Stated, name)
		}
	}
	if len(p.Key.Dims) == 0 {
		p.Key.Dims = nil
	}
	if len(p.Stated) == 0 {
		p.Stated = nil
	}
}

// Doubtful returns a warning where points of one key, after [Separate], differ by more than repeats of one system do:
// they are of two systems, and nothing that was read says which. It names the fields in which the two differ.
func Doubtful(points []schema.Point) []schema.Problem {
	n, worst, says := 0, Chance, schema.Problem{}
	for _, group := range byKey(points) {
		widest := 1.
		for _, metric := range append(schema.Speeds(), "ttft", "e2el") {
			lo, hi, least, most := ends(group, metric)
			if lo == nil {
				continue
			}
			times := most / least
			if !slices.Contains(schema.Speeds(), metric) {
				times *= Chance / waits
			}
			widest = max(widest, times)
			if times > worst {
				worst, says = times, schema.Problem{
					Severity: schema.SevWarning, Path: hi.Source.Path, Code: schema.CodeRepeatsDiffer,
					Found: fmt.Sprintf("%d results of %s on one system, of which %s is from %.4g to %.4g", len(group),
						lo.Key.Workload(), metric, least, most),
					Expected: "repeats that differ by less than 1.5 x, waits by less than 20 x", Used: "none of them is judged",
					Hint: "state what differs in a manifest, or with {config}, {backend}, {release} or {model} in --pattern",
				}
				if !slices.Contains(schema.Speeds(), metric) {
					says.Used = "each as a repeat"
				}
				if lo.Source.Path != hi.Source.Path {
					says.Found += ", the least in " + lo.Source.Path
				}
				tellApart(&says, lo, hi)
			}
		}
		if widest > Chance {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	if n > 1 {
		says.Found += fmt.Sprintf("; the same holds for %d workloads in all", n)
	}
	return []schema.Problem{says}
}

// ends are the points of a group with the least and the most of a metric; nil where none was measured.
func ends(group []*schema.Point, metric string) (lo, hi *schema.Point, least, most float64) {
	for _, p := range group {
		x, ok := p.Value(metric, "value")
		if !ok {
			x, ok = p.Value(metric, "mean")
		}
		if !ok || x <= 0 || p.Status == schema.StatusFailed || p.Status == schema.StatusInvalid {
			continue
		}
		if lo == nil || x < least {
			lo, least = p, x
		}
		if hi == nil || x > most {
			hi, most = p, x
		}
	}
	return lo, hi, least, most
}

// waits is what [Chance] is for what a request waits: a cold start and a queue make it many times as long.
const waits = 20.

// fieldsOf are the short values of a point that no reader takes, and its conditions.
func fieldsOf(p *schema.Point) map[string]string {
	of := maps.Clone(p.Conditions)
	if of == nil {
		of = map[string]string{}
	}
	for name, raw := range p.Extra {
		if text := strings.Trim(string(raw), `"`); len(text) <= longestValue && settingText.Match(raw) {
			of[name] = text
		}
	}
	return of
}

// tellApart says in which fields two points differ.
func tellApart(out *schema.Problem, lo, hi *schema.Point) {
	a, b := fieldsOf(lo), fieldsOf(hi)
	var names, which []string
	for _, name := range differing([]map[string]string{a, b}) {
		x, err := strconv.ParseFloat(a[name], 64)
		y, err2 := strconv.ParseFloat(b[name], 64)
		isNumber := err == nil && err2 == nil && !counted.MatchString(name)
		isSet := x == math.Trunc(x) && y == math.Trunc(y) && max(x, y) > Chance*min(x, y)
		switch isVarying := varying.MatchString(name); {
		case !isNumber || isSet && !isVarying: // else it may be what a tool measured
			names = append(names, name)
		case isVarying:
			which = append(which, name)
		}
	}
	switch isOneFile := lo.Source.Path == hi.Source.Path; {
	case len(names) > 0:
		out.Found += "; they differ in " + strings.Join(names[:min(len(names), 3)], ", ")
	case isOneFile && len(which) > 0:
		out.Found += "; only " + which[0] + " tells them apart: " + a[which[0]] + " and " + b[which[0]]
		out.Hint = "one may be a cold start: leave it out of the file; or write what differs into files of their own"
	case isOneFile:
		out.Found += "; nothing in the file tells them apart"
	}
}

// add makes a dimension of a point.
func add(p *schema.Point, dim, value string, from schema.From) {
	if _, has := p.Key.Dims[dim]; value == "" || has {
		return
	}
	p.Key.Dims = With(p.Key.Dims, dim, value)
	p.Stated = With(p.Stated, schema.StatedDim+dim, string(from))
}

// With returns a copy of m with one more entry; readings may share maps.
func With(m map[string]string, name, v string) map[string]string {
	out := make(map[string]string, len(m)+1)
	maps.Copy(out, m)
	out[name] = v
	return out
}

// separate tells the points of one key apart: first by settings, then, among those that still have one key, by the
// names of their files.
func separate(group []*schema.Point) []schema.Problem {
	var out []schema.Problem
	values := make([]map[string]string, len(group))
	for i, p := range group {
		values[i] = Settings(p)
	}
	measures(group, values)
	for _, name := range differing(values) {
		for i, p := range group {
			add(p, name, values[i][name], schema.FromDerived)
		}
		out = append(out, schema.Problem{
			Severity: schema.SevNote, Path: group[0].Source.Path, Code: schema.CodeToldApart,
			Found:    fmt.Sprintf("%d results of one workload with different %s", len(group), name),
			Expected: "repeats to agree in what was set", Used: name + " as a part of the workload",
			Hint: "if it makes no difference, measure under the same value, or leave it out of the metadata",
		})
	}
	left := schema.Alike(group, keyOf)
	slices.SortFunc(left, func(a, b []*schema.Point) int { return strings.Compare(keyOf(a[0]), keyOf(b[0])) })
	for _, group := range left {
		if len(group) > 1 {
			out = append(out, separateFiles(group)...)
		}
	}
	return out
}

// ofBuild are names of columns that say what was measured with: what differs there is no other workload.
var ofBuild = lazyregexp.New(
	`(?i)version|driver|torch|cuda|rocm|kernel|firmware|image|revision|python|platform|\bos\b`)

// SeparateRows makes dimensions of the columns in which rows of one file differ that have one key and one system, in
// place: a row has the same workload, whichever others are of its run. Those of an earlier call are taken back. What
// no two days have in common is of the day, as a name of a run is.
func SeparateRows(points []*schema.Point, system func(i int) string) {
	type group struct{ system, key string }
	at := map[*schema.Point]string{}
	for i, p := range points {
		Bare(p)
		at[p] = system(i)
	}
	groups := schema.Alike(points, func(p *schema.Point) group { return group{at[p], keyOf(p)} })
	groups = slices.DeleteFunc(groups, func(rows []*schema.Point) bool { return len(rows) < 2 })
	set := setColumns(groups)
	for _, rows := range groups {
		values := make([]map[string]string, len(rows))
		for i, p := range rows {
			values[i] = Settings(p)
			for _, name := range set {
				if raw := p.Extra[name]; len(raw) > 0 {
					values[i][name] = string(raw)
				}
			}
		}
		for _, name := range differing(values) {
			if ofBuild.MatchString(name) || isOfDay(rows, values, name) {
				continue
			}
			for i, p := range rows {
				add(p, name, values[i][name], schema.FromRows)
			}
		}
	}
}

// setColumns are the columns of numbers that were set and not measured, whatever they are called.
func setColumns(groups [][]*schema.Point) []string {
	values := map[string][][]float64{} // by column, of each group that differs in it
	for _, rows := range groups {
		of := map[string][]float64{}
		for _, p := range rows {
			for name, raw := range p.Extra {
				x, err := strconv.ParseFloat(string(raw), 64)
				plain := between.ReplaceAllString(name, "_") // "Peak Memory (GB)"
				isUsed := used.MatchString(plain) && !ofBound.MatchString(plain)
				if err == nil && !isUsed && !varying.MatchString(plain) && !outcome.MatchString(plain) {
					of[name] = append(of[name], x)
				}
			}
		}
		for name, list := range of {
			slices.Sort(list)
			if distinct := slices.Compact(list); len(distinct) > 1 {
				values[name] = append(values[name], distinct)
			}
		}
	}
	isOther := func(name string) bool { return !areSet(values[name]) }
	return slices.DeleteFunc(slices.Sorted(maps.Keys(values)), isOther)
}

// areSet reports that the distinct numbers of a column, in each workload that has several, are the same in all, or
// double where there is one; numbers that follow each other from 0 or 1 on are not.
func areSet(lists [][]float64) bool {
	first := lists[0]
	isSame, isDoubling, isCount := len(lists) > 1, len(lists) == 1, first[0] == 0 || first[0] == 1
	for _, list := range lists {
		isSame = isSame && slices.Equal(list, first)
	}
	for i, x := range first {
		half, _ := math.Frexp(x)
		isDoubling, isCount = isDoubling && x >= 1 && half == .5, isCount && x == first[0]+float64(i)
	}
	return !isCount && (isSame || isDoubling)
}

// isOfDay reports a column that has one value on each day, and another one on each.
func isOfDay(rows []*schema.Point, values []map[string]string, name string) bool {
	days, of := map[string]string{}, map[string]string{}
	for i, p := range rows {
		day, v := p.Start.UTC().Format(time.DateOnly), values[i][name]
		if was, has := days[v]; has && was != day {
			return false
		}
		if was, has := of[day]; has && was != v {
			return false
		}
		days[v], of[day] = day, v
	}
	return true
}

// differing lists the settings that have several values in a group. A point without one differs from those with it.
func differing(values []map[string]string) []string {
	all := map[string]bool{}
	for _, v := range values {
		for name := range v {
			all[name] = true
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if slices.ContainsFunc(values, func(v map[string]string) bool { return v[name] != values[0][name] }) {
			out = append(out, name)
		}
	}
	return out
}

// foreign reports a point that no collector of ours describes.
func foreign(p *schema.Point) bool { return len(p.Client) == 0 || len(p.Command) == 0 }

// separateFiles tells points apart by the names of their files and folders, where no setting does. What a collector of
// ours measured is described in full beside it, and its names say nothing more.
func separateFiles(group []*schema.Point) []schema.Problem {
	if !slices.ContainsFunc(group, foreign) {
		return nil
	}
	paths := make([]string, len(group))
	for i, p := range group {
		paths[i] = naming.WithoutLoad(p.Source.Path, &p.Key)
	}
	dims := naming.Differences(paths)
	if dims == nil {
		return nil
	}
	names := map[string]bool{}
	for i, p := range group {
		for dim, value := range dims[i] {
			add(p, dim, value, schema.FromDerived)
			names[dim] = true
		}
	}
	list := slices.Sorted(maps.Keys(names))
	return []schema.Problem{{
		Severity: schema.SevWarning, Path: group[0].Source.Path, Code: schema.CodeToldApart,
		Found: fmt.Sprintf("%d results that state one workload, under names that differ by more than a date or a number",
			len(group)),
		Expected: "results that state what was different", Used: strings.Join(list, ", ") + " as a part of the workload",
		Hint: "state what differs in a manifest or with --pattern; repeats have one name and a number, such as x-1.json",
	}}
}

var (
	// varying are names under which people write which of several repeats a measurement is, and where and when it was
	// made: that differs between repeats of one workload.
	varying = lazyregexp.New(`(?i)(?:^|[_.-])(` +
		`id|uuid|run|runs|number|index|idx|iteration|iter|trial|attempt|repeat|seed|date|time|timestamp|start|end|` +
		`host|hostname|node|user|author|commit|sha|hash|git|branch|build|job|pipeline|workflow|ci|url|link|path|file|` +
		`dir|comment|comments|note|notes|description|reason|release|count|total)s?(?:$|[_.-])`)

	// counted are names of numbers that are set, not measured. Whole numbers alone count: tools write what they measure
	// under names of every kind, mostly with a fraction.
	counted = lazyregexp.New(`(?i)(?:^|[_.-])(` +
		`tp|pp|dp|ep|cp|dep|tep|dcp|pcp|parallel|parallelism|replicas|shards|gpus|chips|nodes|sparsity|quant|bits|` +
		`threads|cores|ctx|context|batch|block|page|chunk|chunked|window|lora|loras|turns|beams|draft|speculative|hidden|` +
		`layers|heads|images|height|width|temperature|top_k|beam|` +
		`max_tokens|max_new_tokens|max_model_len|max_num_seqs|max_num_batched_tokens)(?:$|[_.-]|s$)|` +
		`(?:^|[_.-])(?:batch|block|page|chunk|tensor|pipeline|data|expert|parallel|world)[a-z_]*size$`)

	// howMany are names of how many there were of what would else say where a measurement was made.
	howMany = lazyregexp.New(
		`(?i)^(?:(?:num|n|rpc|concurrent|parallel|total)[_.-]?)?(?:nodes|users|clients|workers|streams)$`)

	// outcome are names of how a measurement went.
	outcome = lazyregexp.New(`(?i)(?:^|[_.-])(?:elapsed|took|pass|passed|success|succeeded|successful|ok|correct|` +
		`valid|judge|verdict|outcome|below|above|exceeded|met|crashed|finished|completed|peak|used|usage|tps|toks?|` +
		`ttft|tpot|itl|e2el?|latency|throughput|speed|ms)(?:$|[_.-])`)

	// used are names of what a measurement took of its machine, and of how much it sent: two rows that differ in them
	// alone are repeats, whatever the numbers are. What bounds them was set.
	used = lazyregexp.New(`(?i)(?:^|_)(?:mem|memory|vram|ram|rss|[kmgt]i?b|bytes|power|watts?|energy|joules|` +
		`reqs?|requests?|prompts|samples|questions|errors?|failures|failed|preemptions)(?:_|$)`)
	ofBound = lazyregexp.New(`(?i)limit|max|cap|budget|utilization|fraction|size|req\w*_rate|offload|swap`)
	between = lazyregexp.New(`[^A-Za-z0-9]+`) // what stands between the words of a name

	// timed is how long something took: 26s.
	timed = lazyregexp.New(`(?i)^\d+(?:\.\d+)? ?(?:ms|s|sec|secs|seconds|min|m|h)$`)

	// fractions are names of fractions that are set.
	fractions = lazyregexp.New(
		`(?i)sparsity|temperature|utilization|fraction|(?:^|[^u])ratio|top_p|version|precision|scale`)

	// sampled are conditions that say how a point was sampled and not what was measured.
	sampled = lazyregexp.New(`^(num_prompts|incomplete|raw_file|tokenizer)$`)
)

// longestValue is how long a text may be that counts as a setting; what is longer is prose.
const longestValue = 60

// Settings is everything that a point says of how it was measured beside its key, by name.
func Settings(p *schema.Point) map[string]string {
	out := map[string]string{}
	for name, raw := range p.Extra {
		if v := setting(name, string(raw)); v != "" {
			out[name] = v
		}
	}
	for name, v := range p.Conditions {
		if !varying.MatchString(name) && !sampled.MatchString(name) && len(v) <= longestValue {
			out[name] = v
		}
	}
	return out
}

// settingText matches a short text, a truth, or a number, as they stand in a file.
var settingText = lazyregexp.New(`^(?:"([^\\\["]+)"|(true|false)|(\d.*))$`)

// setting is a foreign field of a point where it is one: a short text, a truth, or a number under a name that says what
// was set; "" for any other.
func setting(name, raw string) string {
	m := settingText.FindStringSubmatch(raw)
	if m == nil || name == "" || len(raw) > longestValue+2 || strings.HasPrefix(name, "spec_decode_") { // vLLM's counters
		return ""
	}
	text, number := m[1]+m[2], m[3]
	if number != "" {
		return setNumber(name, number)
	}
	x, err := strconv.ParseFloat(text, 64) // which a log may have measured
	isFraction := err == nil && strings.Contains(text, ".") && !fractions.MatchString(name)
	isMeasured := isFraction || err == nil && isWarm(name, x) || timed.MatchString(text)
	if isMeasured || varying.MatchString(name) || outcome.MatchString(name) {
		return ""
	}
	return text
}

// isWarm reports the temperature of a machine and not of a sampler.
func isWarm(name string, x float64) bool {
	const hottest = 5 // of samplers
	return x > hottest && strings.Contains(strings.ToLower(name), "temp")
}

// setNumber is a number under a name that says what was set; "" for any other.
func setNumber(name, number string) string {
	isMany := howMany.MatchString(name)
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !isMany && (varying.MatchString(name) || !counted.MatchString(name)) {
		return ""
	}
	if isWarm(name, x) || x != math.Trunc(x) && !fractions.MatchString(name) {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// measures are numbers that count as settings where a group differs in them by more than [Chance]: how many requests
// were sent, where neither a rate nor a concurrency limits them, and the lengths, where the key has none. A name alone
// does not make two measurements with prompts of 128 and 2048 tokens one workload.
func measures(group []*schema.Point, values []map[string]string) {
	first := &group[0].Key
	if first.Rate == nil && first.Concurrency == nil {
		isStated := false
		for i, p := range group {
			if n := p.Conditions["num_prompts"]; n != "" {
				values[i]["num_prompts"], isStated = n, true
			}
		}
		if !isStated {
			measure(group, values, "num_prompts", func(p *schema.Point) float64 {
				ok, _ := p.Value("requests_ok", "value")
				failed, _ := p.Value("requests_failed", "value")
				return ok + failed
			})
		}
	}
	for _, metric := range []string{"isl", "osl"} {
		if first.ISL == nil && first.OSL == nil {
			measure(group, values, metric+"_measured", func(p *schema.Point) float64 {
				mean, _ := p.Value(metric, "mean")
				return mean
			})
		}
	}
}

// Chance is the largest factor between two neighbouring numbers that may be one setting, and between the speeds of
// repeats.
const Chance = schema.RepeatsApart

// measure names the clusters of a number: it begins a new one where the next number is larger by more than [Chance].
func measure(group []*schema.Point, values []map[string]string, name string, of func(*schema.Point) float64) {
	numbers := make([]float64, len(group))
	for i, p := range group {
		numbers[i] = of(p)
	}
	sorted := slices.Sorted(slices.Values(numbers))
	begins := []float64{sorted[0]}
	for i, x := range sorted[1:] {
		if x > sorted[i]*Chance {
			begins = append(begins, x)
		}
	}
	if len(begins) == 1 {
		return
	}
	for i, x := range numbers {
		at, found := slices.BinarySearch(begins, x)
		if !found {
			at--
		}
		if x > 0 {
			values[i][name] = "about " + strconv.FormatFloat(latency.Round(begins[at], 2), 'f', -1, 64)
		}
	}
}
