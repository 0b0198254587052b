package ingest

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/duplicate"
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
// gives every file the same name, without what the key and the facts state already: a sweep whose files are named after
// their load is one workload at several loads. A folder that names the release, the model, the device or a build is not
// the workload's: the same measurement of the next one is in another folder. Without the name of a build, measured
// lengths keep two workloads apart. What a pattern reads from the path is stated, and no part of the label.
func (r *result) labelOf(p *schema.Point) string {
	s, k, f, lengths, stem := r.source, &p.Key, &r.facts, "", r.stem()
	label := func(name string) string {
		return naming.Label(name, k, f.Start,
			path.Base(f.Model.ID), f.Model.Name, f.Impl, f.Stack.Engine, f.Device.Name, f.Release)
	}
	dir, base := path.Dir(cmp.Or(r.rest, s.shown())), path.Base(s.rel)
	if r.rest != "" {
		stem = decode.Stem("_" + path.Base(r.rest)) // all of the name may have been read
	}
	if sweepRun.MatchString(base) || base == "summary.json" && perFolder.MatchString(path.Base(dir)) {
		// the key has the varied parameters
		return cmp.Or(naming.Label(path.Base(sweepRoot(path.Dir(dir))), k, f.Start), "sweep")
	}
	if name := label(stem); name != "" && !s.hasOwnFolder() {
		return name
	}
	for _, folder := range slices.Backward(r.folders(dir)) {
		if naming.IsBuild(folder) {
			lengths = lengthsOf(p)
		} else if name := label(folder); name != "" {
			return name + lengths
		}
	}
	if r.rest != "" && path.Base(r.rest) != base { // what was read of the name is another one in each build
		return cmp.Or(naming.Label(stem, k, f.Start), k.Tool) + lengthsOf(p)
	}
	if known := r.labels[duplicate.Numbers(p)]; known != "" && r.rest == "" {
		return known
	}
	return cmp.Or(naming.Label(s.stem(), k, f.Start), s.stem()) + lengths // all of it is the model, and a repeat
}

// folders are the names of the folders of a result that may say what was measured. The first one is that of a
// repository, or of what was given to read, and called as somebody likes, base or candidate; but where nothing names
// the model, it may be all that tells two models apart.
func (r *result) folders(dir string) []string {
	given, names := 0, strings.Split(dir, "/")
	if r.root.Name != "" && r.root.Name != "." {
		given = strings.Count(r.root.Name, "/") + 1
	}
	isPacked := r.root.Only != "" && r.rel != r.root.Only
	if isPacked {
		given += strings.Count(r.root.Only, "/") + 1
	}
	names = names[min(given, len(names)):]
	if stem, _, _ := strings.Cut(path.Base(r.root.Only), "."); isPacked && len(names) > 0 && names[0] == stem {
		names = names[1:]
	}
	names = append(strings.Split(r.root.Folders, "/"), names...)
	if (r.root.Repository || r.facts.Model.Name != "") && !naming.IsBuild(names[0]) {
		return names[1:]
	}
	return names
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

var perFolder = lazyregexp.New(`-?(BENCH|SERVE|WL)--|^BENCH|^SERVE`)

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

// ownNumbers are the numbers of a source's workloads that people write into names: lengths, loads and requests.
func (s *source) ownNumbers() map[int]bool {
	out := map[int]bool{}
	for i := range s.reading.Points {
		p := &s.reading.Points[i]
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
