package ingest

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/schema/naming"
)

var (
	islInName = lazyregexp.New(`(?i)(?:^|[^a-z0-9])(?:isl|itkns)[-_=]?(\d+)`)
	oslInName = lazyregexp.New(`(?i)(?:^|[^a-z0-9])(?:osl|otkns)[-_=]?(\d+)`)
	conInName = lazyregexp.New(`(?i)(?:^|[^a-z0-9])(?:conc|concurrency|maxcon|max_concurrency)[-_=]?(\d+)`)
	inOut     = lazyregexp.New(`(?i)(?:^|[^a-z0-9])in[-_]?(\d+)[-_]out[-_]?(\d+)`)
)

// lengthsInName reads lengths from a file's name where they are unambiguous: isl1024_osl128; or in128_out2048 if the
// measured lengths agree within 10 %.
func lengthsInName(name string, p *schema.Point) manifest.Workload {
	var w manifest.Workload
	number := func(re *lazyregexp.Regexp, i int) *float64 {
		m := re.FindStringSubmatch(name)
		if m == nil || len(m[i]) > 9 {
			return nil
		}
		x, err := strconv.ParseFloat(m[i], 64)
		if err != nil || x <= 0 {
			return nil
		}
		return &x
	}
	w.ISL, w.OSL = number(islInName, 1), number(oslInName, 1)
	in, out := number(inOut, 1), number(inOut, 2)
	if in != nil && out != nil && measured(p, "isl", *in) && measured(p, "osl", *out) {
		w.ISL, w.OSL = in, out
	}
	if w.ISL == nil || w.OSL == nil {
		return manifest.Workload{}
	}
	if p.Key.Concurrency == nil {
		w.Concurrency = number(conInName, 1)
	}
	return w
}

// measured reports whether the mean length in tokens is the requested one, within 10 %.
func measured(p *schema.Point, metric string, asked float64) bool {
	got, ok := p.Value(metric, "mean")
	return ok && math.Abs(got-asked) <= .1*asked
}

// labelOf returns a label for a workload without stated lengths: the file's stem, or the folder's name if the tool
// gives every file the same name, without what the key states already: a sweep whose files are named after their load
// is one workload at several loads. A folder that names the release, the model, the device or a build is not the
// workload's: the same measurement of the next one is in another folder. Nor is that of the repository, which is called
// as somebody likes. Without the name of a build, measured lengths keep two workloads apart. What a pattern reads from
// the path is stated, and no part of the label.
func (r *result) labelOf(p *schema.Point) string {
	s, k, lengths, stem := r.source, &p.Key, "", r.stem()
	dir, base := path.Dir(cmp.Or(r.rest, s.shown())), path.Base(s.rel)
	if r.rest != "" {
		stem = decode.Stem("_" + path.Base(r.rest)) // all of the name may have been read
	}
	if sweepRun.MatchString(base) || base == "summary.json" && perFolder.MatchString(path.Base(dir)) {
		// the key has the varied parameters
		return cmp.Or(plainLabel(path.Base(sweepRoot(path.Dir(dir)))), "sweep")
	}
	if model := path.Base(r.facts.Model.ID); len(model) > 3 { // clients write it into names: of another one it is the same
		stem = strings.ReplaceAll(stem, model, "")
	}
	stem = withoutDay(naming.WithoutRandom(stem), r.facts.Start)
	if label := plainLabel(withoutCount(naming.WithoutLoad(stem, k), k)); label != "" && !s.hasOwnFolder() {
		return label
	}
	for ; dir != "." && dir != "/" && dir != r.root.Clone; dir = path.Dir(dir) {
		if r.isIdentity(path.Base(dir)) {
			continue
		}
		if oneBuild.MatchString(path.Base(dir)) {
			lengths = lengthsOf(p)
			continue
		}
		if name := plainLabel(naming.WithoutLoad(withoutDay(path.Base(dir), r.facts.Start), k)); name != "" {
			return name + lengths
		}
	}
	return s.stem() + lengths
}

// lengthsOf is how long the requests of a point were, as a part of its label: prompts to two digits, and answers where
// all are equally long, since others vary from run to run.
func lengthsOf(p *schema.Point) (out string) {
	if isl, ok := p.Value("isl", "mean"); ok && isl > 0 {
		out = " in " + strconv.FormatFloat(latency.Round(isl, 2), 'f', -1, 64)
	}
	if osl, ok := p.Value("osl", "mean"); ok && osl > 0 && osl == math.Trunc(osl) {
		out += " out " + strconv.FormatFloat(osl, 'f', -1, 64)
	}
	return out
}

// isIdentity reports the name of a folder that says what was measured, and not how.
func (r *result) isIdentity(name string) bool {
	isName := func(fact string) bool { return fact != "" && strings.EqualFold(fact, name) }
	return slices.ContainsFunc([]string{r.facts.Release, r.facts.Model.Name, r.facts.Device.Name}, isName)
}

// withoutDay is a name without the day of a measurement: ds-0904-gds, bench_20260904. A day either side counts, since
// the name may be in another time zone. 1024 and 0512 are lengths.
func withoutDay(name string, start time.Time) string {
	name = stamps.ReplaceAllString(name, "")
	parts := "-" + strings.NewReplacer("_", "-", ".", "-").Replace(name) + "-"
	for day := -1; day <= 1 && !start.IsZero(); day++ {
		for _, layout := range []string{"0102", "20060102", time.DateOnly} {
			mark := start.AddDate(0, 0, day).Format(layout)
			at := strings.Index(parts, "-"+mark+"-")
			if at < 0 || mark == "1024" || mark == "0512" || mark == strings.Trim(parts, "-") {
				continue
			}
			return strings.Trim(name[:at]+strings.TrimLeft(name[at+len(mark):], "-_."), "-_.")
		}
	}
	return name
}

// withoutCount is a name without a number at its end that is the concurrency: bench_16.json.
func withoutCount(stem string, k *schema.Key) string {
	i := strings.LastIndexAny(stem, "-_")
	if i > 0 && k.Concurrency != nil && stem[i+1:] == strconv.FormatFloat(*k.Concurrency, 'f', -1, 64) {
		return stem[:i]
	}
	return stem
}

var (
	perFolder = lazyregexp.New(`-?(BENCH|SERVE|WL)--|^BENCH|^SERVE`)
	loadPart  = lazyregexp.New(`(?i)(?:^|[-_])(?:(?:inf|[\d.]+)qps(?:-concurrency\d+)?|stage_\d+)(?:$|[-_])`)
	// oneBuild is the name of a folder that says which build it is of: its day, number, version or commit.
	oneBuild = lazyregexp.New(`(?i)^(?:(?:[a-z]+[-_])?\d{4}-?\d\d-?\d\d|` +
		`(?:build|nightly|weekly|ci|job|pr|release|run|rep|repeat|attempt)[-_#]?\d+|` +
		`(?:(?:release|version)[-_]|v)?\d+\.\d+\.\d+(?:[-_.+]?[a-z]+\d*)?|v\d+\.\d+|[0-9a-f]{7,40})$`)
	// repeatPart is the number of a repeat at the end of a name: caseA_rep2.
	repeatPart = lazyregexp.New(`(?i)[-_.](?:rep|repeat|repetition|run|trial|iter|iteration|attempt)[-_#]?\d+$`)
	// stamps are times in names.
	stamps = lazyregexp.New(`(?:\d{4}-?\d\d-?\d\d|(?:[0-3]\d[-_.]){2}20[0-3]\d)` +
		`[T_-]?\d\d[-:]?\d\d[-:]?\d\d(?:\.\d+)?Z?|\d{8}-\d{6}`)
	generic = lazyregexp.New(`(?i)^(results?|out|outputs?|raw|raw_data|data|bench(?:marks?)?|metrics|summary|report|` +
		`runs?|lifecycle_metrics|summary_lifecycle_metrics|profile_export(_aiperf)?|logs?|[-_.\d]*)$`)
)

// plainLabel returns a name without the time stamps, loads and numbers of repeats that are written into it, so that two
// measurements of one workload have the same label; "" when nothing is left.
func plainLabel(stem string) string {
	s := stamps.ReplaceAllString(stem, "")
	s = repeatPart.ReplaceAllString(loadPart.ReplaceAllString(s, "-"), "")
	s = strings.Trim(strings.ReplaceAll(s, "--", "-"), "-_. ")
	if generic.MatchString(s) {
		return ""
	}
	return s
}

// clock is the pattern of a time behind a day, which may be.
const clock = `(?:[T_ -]+([012]\d)[-:_h.]?([0-5]\d)(?:[-:_m.]?([0-5]\d))?)?(?:[^\d]|$)`

// dateName matches a day, and perhaps a time of it, as people and tools write them into names: 2026-03-16_15-33-00,
// 20260316-153300, 2026-03-16T15:33:00.
var dateName = lazyregexp.New(`(?:^|[^\d])(` + naming.Day + `)` + clock)

// yearLast matches a day whose year comes last, and perhaps a time of it: 12-20-2022-08-28-18.
var yearLast = lazyregexp.New(`(?:^|[^\d])([0-3]\d)[-_.]([0-3]\d)[-_.](20[0-3]\d)` + clock)

// dayAlone is the note of a day that is known without a time.
const dayAlone = "by a name, the day alone"

// dateIn reads the day and time that a name states, and how. A day with the year last may be read in two orders: it
// counts where only one of them is a date. Nothing of such a name is read in another way.
// apart says that the parts of the day are separated, as numbers of other kinds are, too.
func dateIn(name string) (layout, text, note string, apart bool) {
	note, layout = dayAlone, "20060102"
	var at []string // hour, minute, second
	if m := yearLast.FindStringSubmatch(name); m != nil {
		first, second := m[1], m[2]
		switch {
		case first > "12" && second <= "12":
			first, second = second, first
		case first <= "12" && second <= "12" && first != second:
			return "", "", "", false
		}
		apart, text, at = true, m[3]+first+second, m[4:7]
	} else if m := dateName.FindStringSubmatch(name); m != nil {
		text = strings.NewReplacer("-", "", "_", "", ".", "").Replace(m[1])
		apart, at = len(m[1]) > len(text), m[2:5]
	}
	if len(at) == 0 {
		return "", "", "", false
	}
	if at[0] != "" {
		layout, text, note = layout+"1504", text+at[0]+at[1], "by a name, zone not stated"
	}
	if at[2] != "" {
		layout, text = layout+"05", text+at[2]
	}
	return layout, text, note, apart
}

// dateInName reads when something was measured out of the name of its file, or of the nearest folder that has a date.
// A file's own time says when it was copied, and is not asked. What lies after the latest time is no date,
// nor is what begins with a number of the result itself, such as its ISL.
func dateInName(shown string, latest time.Time, own map[int]bool) (t time.Time, note string, ok bool) {
	for ; shown != "." && shown != "/" && shown != ".." && shown != ""; shown = path.Dir(shown) {
		layout, text, note, apart := dateIn(path.Base(shown))
		t, err := time.Parse(layout, text)
		if text != "" && err == nil && t.Before(latest) && !(own[t.Year()] && apart) {
			return t, note, true
		}
	}
	return time.Time{}, "", false
}

// ownNumbers are the numbers of a result's workloads that people write into names: lengths, loads and requests.
func (r *result) ownNumbers() map[int]bool {
	out := map[int]bool{}
	for i := range r.reading.Points {
		p := &r.reading.Points[i]
		for _, x := range []*float64{p.Key.ISL, p.Key.OSL, p.Key.Concurrency} {
			if x != nil {
				out[int(*x)] = true
			}
		}
		for _, metric := range []string{"isl", "osl"} {
			if x, ok := p.Value(metric, "mean"); ok {
				out[int(x)] = true
			}
		}
		if n, err := strconv.Atoi(p.Conditions["num_prompts"]); err == nil {
			out[n] = true
		}
	}
	return out
}

// tomorrow is the latest time that a name can state: clocks of other zones are up to a day ahead.
func tomorrow() time.Time { return time.Now().Add(24 * time.Hour) }
