// Package naming says what the names of files and folders tell apart.
//
// In: paths of results. Out: what differs between them beside dates, hashes and the numbers of repeats, and what a name
// states of the load and of how many devices share a model. It must not know formats: people and tools call files alike
// everywhere.
package naming

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
)

// File is the dimension of results that only the names of their files tell apart.
const File = "file"

// Stem is a path without its extensions.
func Stem(path string) string { return extensions.ReplaceAllString(path, "") }

// Day is the pattern of a day in a name, as tools write it: one separator throughout or none, a month, a day, a year
// that may be. "2048_1024" is an ISL and an OSL.
const Day = `20[0-3]\d(?:-[01]\d-[0-3]\d|_[01]\d_[0-3]\d|\.[01]\d\.[0-3]\d|[01]\d[0-3]\d)`

// yearLast is a day whose year comes last, with a time: 11-25-2022-05-54-21. Without one it may be numbers of a
// workload.
const yearLast = `(?:[01]\d[-_.][0-3]\d|[0-3]\d[-_.][01]\d)[-_.]20[1-3]\d` +
	`[Tt_. -]+[012]\d[-:_.h]?[0-5]\d(?:[-:_.m]?[0-5]\d)?`

var (
	// dates are times, hashes and long numbers in names: of a day, a second, a process.
	dates = lazyregexp.New(Day + `(?:[Tt_. -]*\d\d[-:_.h]?\d\d(?:[-:_.m]?\d\d)?(?:\.\d+)?s?` +
		`(?:Z|[+-]\d\d:?\d\d)?)?|` + yearLast + `|\d\d[-:h]\d\d[-:m]\d\ds?|\d{9,}|` +
		`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	hash = lazyregexp.New(`^[0-9a-f]{7,40}$`)
	// inspectName is what Inspect calls a log: a time, the task, and a random id.
	inspectName = lazyregexp.New(
		`(^|/)20\d\d-\d\d-\d\dT\d\d-\d\d-\d\d[+-]\d\d-\d\d[-_]([^/]*)[-_][0-9A-Za-z]{22}$`)
	// anyName is what people and tools call files and folders of results, whatever they are of.
	anyName = lazyregexp.New(`(?i)^(?:results?|outputs?|out|raw(?:_data)?|data|bench(?:mark)?s?|evals?|logs?|` +
		`reports?|artifacts?|tmp|metrics|summary|runs?|(?:summary_)?lifecycle_metrics|profile_export(?:_aiperf)?|[-_.\d]*)$`)
	// behindTime is a name that ends with a time and a number of its own.
	behindTime = lazyregexp.New(`([^/]` + Day + `[Tt_. -]*\d\d[-:_.h]?\d\d[-:_.m]?\d\d)[-_.]+(\d{3,})$`)
	extensions = lazyregexp.New(`(?i)(\.(json|jsonl|txt|log|csv|out|md|yaml|yml|gz|zst|pytorch))+$`)
	words      = lazyregexp.New(`[a-z]+|\d+(?:\.\d+)?|[^a-z\d]+`)
	parallel   = lazyregexp.New(`(?:^|[^a-z])(dep|tep|tp|ep|pp|dp|cp)[-_=]?(\d{1,4})(?:[^a-z\d]|$)`)
)

// precision matches a part of a name that says in how many bits a model's weights are: IQ4_NL, q8_0, w4a16, fp8. Q1
// to Q4 by themselves may be quarters.
var precision = lazyregexp.New(
	`(?i)(?:^|[^a-z\d])(i?q\d_(?:[01]|k|x{0,2}s|m|nl)(?:_(?:x?s|m|x?l|p))?|q[5-8]|w\d+a\d+|` +
		`(?:nv|mx)?fp(?:4|8|16|32)|bf16|int[48]|awq|gptq|[2-8]-?bit)(?:[^a-z\d]|$)`)

// Precision is what a name says of the bits of a model's weights, in lower case; "" for nothing.
func Precision(name string) string {
	if m := precision.FindStringSubmatch(name); m != nil {
		return strings.ToLower(m[1])
	}
	return ""
}

// WithoutPrecision is a name without what it says of bits.
func WithoutPrecision(name string) string { return precision.ReplaceAllString(name, ".") }

// counter are the words before a number that say which repeat it is; after any other word it is a setting.
const counter = " run rep repeat repetition iter iteration trial try attempt seed r part job build sample round " +
	"rerun copy pass take again recheck retry redo "

var (
	// numbered is such a word with its number, anywhere in a name: run1, rep_2, trial-3, seed43, iter=5, r4.
	numbered = lazyregexp.New(`(?i)(?:^|[-_. ~(])(?:` + strings.Join(strings.Fields(counter), "|") +
		`)[-_=#. ]?\(?\d+(?:of\d+)?\)?(?:$|[-_. ])`)
	// lastNumber is a number by itself at the end of a name: x_1, x-2, x (3), x~4, x#5.
	lastNumber = lazyregexp.New(`(?i)([a-z]*)(?:[-_ ~#]| ?\()(\d{1,3})\)?$`)
	// version is the number of a family of models at the end of a name, llama-3, or a day.
	version = lazyregexp.New(
		`(?i)(?:` + anyFamily + `|v|version|deepseek[-_]?r)[-_ ]?\d+$|` + Day + `$`)
)

// Families are what the names of models begin with.
const Families = `(?:llama|qwen|gemma|ministral|mistral|mixtral|devstral|deepseek|phi[-_]?\d|gpt[-_]?(?:oss|j|neo)|` +
	`glm|falcon|kimi|minimax|nemotron|hunyuan|olmo|granite|command[-_]?r|internlm|smollm|bloom|vicuna|exaone|ernie|` +
	`whisper)`

// anyFamily is also what begins other words, unless a number follows it.
const anyFamily = Families + `|claude|gpt|phi|yi`

// cut is a name without a part of it, and without the separator behind that.
func cut(name string, from, to int) string {
	return strings.Trim(name[:from]+strings.TrimLeft(name[to:], "-_. )"), "-_. (")
}

// withoutCounter is a name without the words and numbers that say which repeat it is.
func withoutCounter(name string) string {
	for at := numbered.FindStringIndex(name); at != nil; at = numbered.FindStringIndex(name) {
		from, to := at[0], at[1]
		if version.MatchString(strings.TrimRight(name[:to], "-_. /")) {
			break
		}
		if strings.ContainsAny(name[from:from+1], "-_. ~(") {
			from++ // the separator before it
		}
		name = cut(name, from, to)
	}
	return name
}

// unnumbered is the same, without a number by itself at the end. There numbers that are set are rounder, or belong to
// the word before them: tp_2, llama-3.
func unnumbered(name string) string {
	name = withoutCounter(name)
	m := lastNumber.FindStringSubmatchIndex(name)
	if m == nil || version.MatchString(name) || strings.Contains(settings, " "+strings.ToLower(name[m[2]:m[3]])+" ") {
		return name
	}
	number := name[m[4]:m[5]]
	n, _ := strconv.Atoi(number)
	isRound := n%8 == 0 || n%10 == 0 || n%25 == 0
	if number[0] == '0' || n < 10 || n < 100 && !isRound {
		return strings.TrimRight(name[:m[3]], "-_. (")
	}
	return name
}

// load matches a part of the load in a name: "c4", "concurrency=8", "qps_inf", "16qps", "isl128". Its ends are those of
// a word, so that "abc8" is none.
var load = lazyregexp.New(`(?i)(^|[-_./= ])(?:(?:max[-_]?)?` +
	`(isl|osl|concurrency|conc?|maxcon|num_concurrent|request_rate|rate|rps|qps|c)[-_=]?(\d+(?:\.\d+)?|inf)|` +
	`(\d+(?:\.\d+)?|inf)(qps|rps))($|[-_./ ])`)

// WithoutLoad is a name without the parts that its key has already.
func WithoutLoad(name string, k *schema.Key) string {
	for {
		short := load.ReplaceAllStringFunc(name, func(part string) string {
			m := load.FindStringSubmatch(part)
			what, number := m[2]+m[5], m[3]+m[4]
			if states(k, strings.ToLower(what), strings.ToLower(number)) {
				if m[6] == "" {
					return ""
				}
				return m[1] + strings.TrimLeft(m[6], "-_. ")
			}
			return part
		})
		if short == name {
			return name
		}
		name = short
	}
}

// states reports that a key has a load as a name states it. The rate inf is none.
func states(k *schema.Key, what, number string) bool {
	is := k.Concurrency
	switch what {
	case "isl":
		is = k.ISL
	case "osl":
		is = k.OSL
	case "rate", "request_rate", "qps", "rps":
		if is = k.Rate; number == "inf" {
			return is == nil
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	return err == nil && is != nil && *is == x
}

// stage is a load as inference-perf numbers it, and a rate with or without a limit.
var stage = lazyregexp.New(`(?i)(?:^|[-_])(?:(?:inf|[\d.]+)qps(?:-concurrency\d+)?|stage_\d+)(?:$|[-_])`)

// Label is what a name says of a workload: without the day of its start, other times, hashes, the load of its key, the
// facts of its run and the number of a repeat, so that two measurements of one workload have one label; "" where
// nothing is left.
func Label(name string, k *schema.Key, start time.Time, facts ...string) string {
	for _, fact := range facts {
		if at := part(name, fact); len(fact) > 2 && at >= 0 {
			name = cut(name, at, at+len(fact))
		}
	}
	name = WithoutLoad(withoutTimes(WithoutRandom(name), start), k)
	if i := strings.LastIndexAny(name, "-_"); i > 0 && k.Concurrency != nil &&
		name[i+1:] == strconv.FormatFloat(*k.Concurrency, 'f', -1, 64) {
		name = name[:i] // bench_16
	}
	name = unnumbered(stage.ReplaceAllString(name, "-"))
	name = strings.Trim(strings.ReplaceAll(name, "--", "-"), "-_. (")
	if anyName.MatchString(name) {
		return ""
	}
	return name
}

// part is where a text stands in a name as a part of it, in whatever case; -1 for nowhere.
func part(name, text string) int {
	isEnd := func(i int) bool { return i < 0 || i >= len(name) || strings.IndexByte("-_. /()", name[i]) >= 0 }
	for at := range max(0, len(name)-len(text)+1) {
		if isEnd(at-1) && isEnd(at+len(text)) && strings.EqualFold(name[at:at+len(text)], text) {
			return at
		}
	}
	return -1
}

// day is the day and the month of a day in a name, where they stand by themselves: ds-0904-gds. 1024 and 0512 are
// lengths.
var day = lazyregexp.New(`(?:^|[-_.])([01]\d[0-3]\d)(?:$|[-_.])`)

// withoutTimes is a name without times, hashes and the day of a measurement. A day either side counts, since the name
// may be in another time zone; another day is of something else.
func withoutTimes(name string, start time.Time) string {
	isDay := func(layout, text string) bool {
		for days := -1; days <= 1 && !start.IsZero(); days++ {
			if start.AddDate(0, 0, days).Format(layout) == text {
				return true
			}
		}
		return false
	}
	all := dates.FindAllStringIndex(name, -1)
	for _, at := range slices.Backward(all) {
		digits := strings.NewReplacer("-", "", "_", "", ".", "").Replace(name[at[0]:at[1]])
		if len(digits) != len("20060102") || isDay("20060102", digits) {
			name = cut(name, at[0], at[1])
		}
	}
	if m := day.FindStringSubmatchIndex(name); m != nil && isDay("0102", name[m[2]:m[3]]) {
		if text := name[m[2]:m[3]]; text != "1024" && text != "0512" && text != name {
			name = cut(name, m[2], m[3])
		}
	}
	return withoutHash(name)
}

// withoutHash is a name without a part that is a hash.
func withoutHash(name string) string {
	for _, text := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_. ", r) }) {
		if isHash(text) {
			at := part(name, text)
			return withoutHash(cut(name, at, at+len(text)))
		}
	}
	return name
}

// Parallelism returns the tensor parallelism that a path states, with the other kinds beside it; the name nearest to
// the file counts. By themselves, "pp512" and "ep3" are prompts and epochs.
func Parallelism(path string) map[string]string {
	parts := strings.Split(strings.ToLower(Stem(path)), "/")
	for _, name := range slices.Backward(parts) {
		out := map[string]string{}
		for {
			m := parallel.FindStringSubmatchIndex(name)
			if m == nil {
				break
			}
			out[name[m[2]:m[3]]] = name[m[4]:m[5]]
			name = name[m[5]:]
		}
		if out["tp"]+out["tep"]+out["dep"] != "" {
			return out
		}
	}
	return nil
}

// Differences returns a dimension for each path, from what differs in their names beside dates and counters; nil when
// nothing does.
func Differences(paths []string) []map[string]string {
	isAlike := func(names []string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return n != names[0] })
	}
	if isAlike(paths) { // as of one file with thousands of results
		return nil
	}
	names := belowShared(plain(paths))
	if isAlike(names) {
		return nil
	}
	out := make([]map[string]string, len(paths))
	rest := map[string]bool{}
	for i, n := range names {
		out[i] = map[string]string{}
		for _, m := range parallel.FindAllStringSubmatch(n, -1) {
			out[i][m[1]] = m[2]
		}
		rest[parallel.ReplaceAllString(n, "-")] = true
	}
	for i, n := range names {
		if len(rest) > 1 || len(out[i]) == 0 {
			out[i] = map[string]string{File: strings.Trim(n, "-_. /")}
		}
	}
	return out
}

// Parts returns what the parts of each path say beside dates, hashes and what numbers repeats, without those of which
// nothing is left.
func Parts(paths []string) [][]string {
	out := make([][]string, len(paths))
	for i, name := range plain(paths) {
		for part := range strings.SplitSeq(name, "/") {
			if part = strings.Trim(part, "-_. "); part != "" && !IsCount(part) && !anyName.MatchString(part) {
				out[i] = append(out[i], part)
			}
		}
	}
	return out
}

// plain returns paths without what numbers repeats.
func plain(paths []string) []string {
	split, isRandom := make([][]string, len(paths)), areRandom(paths)
	for i, p := range paths {
		if p = Stem(p); isRandom {
			p = WithoutRandom(p)
		}
		p = inspectName.ReplaceAllString(p, "$1$2")
		for _, part := range strings.Split(strings.ToLower(p), "/") {
			split[i] = append(split[i], tokens(part)...)
			split[i] = append(split[i], "/")
		}
	}
	for _, of := range schema.Alike(split, shapeOf) {
		for column := range of[0] { // empty the numbers that count repeats
			var values []string
			for _, name := range of {
				values = append(values, name[column])
			}
			if isOrdinal(of[0], column) && counts(values, wordBefore(of[0], column)) {
				for _, name := range of {
					name[column] = ""
				}
			}
		}
	}
	out := make([]string, len(paths))
	for i, t := range split {
		out[i] = strings.Trim(strings.Join(t, ""), "-_. /")
	}
	return likeFirst(out)
}

// WithoutRandom is a name without a number behind the time at its end.
func WithoutRandom(name string) string { return behindTime.ReplaceAllString(name, "$1") }

// areRandom reports that the numbers behind the times in names are drawn at random, or are of processes: what is set is
// rounder.
func areRandom(paths []string) bool {
	for _, p := range paths {
		m := behindTime.FindStringSubmatch(Stem(p))
		if m == nil {
			continue
		}
		if n, err := strconv.Atoi(m[2]); err != nil || n%8 != 0 && n%10 != 0 && n%25 != 0 {
			return true
		}
	}
	return false
}

// tokens splits one part of a path into words and numbers, without dates and hashes.
func tokens(part string) []string {
	return words.FindAllString(withoutHash(withoutCounter(dates.ReplaceAllString(part, ""))), -1)
}

// shapeOf is a name with its numbers and single letters as wildcards: names of one shape can be numbered repeats.
func shapeOf(tokens []string) string {
	var b strings.Builder
	for i, t := range tokens {
		if isOrdinal(tokens, i) {
			t = "#"
		}
		b.WriteString(t)
	}
	return b.String()
}

// isOrdinal reports a token that may be a counter: a number, or a letter that stands alone.
func isOrdinal(tokens []string, i int) bool {
	t := tokens[i]
	if t[0] >= '0' && t[0] <= '9' {
		return true
	}
	alone := func(j int) bool { // a counter that was emptied is none of these
		return j < 0 || j >= len(tokens) || tokens[j] != "" && strings.ContainsAny(tokens[j][:1], "-_. /(")
	}
	return len(t) == 1 && t[0] >= 'a' && t[0] <= 'z' && alone(i-1) && alone(i+1)
}

// wordBefore is the word that a number belongs to: the one right before it, across one separator.
func wordBefore(tokens []string, i int) string {
	for _, j := range []int{i - 1, i - 2} {
		if j < 0 || tokens[j] == "" || tokens[j] == "/" {
			return ""
		}
		if c := tokens[j][0]; c >= 'a' && c <= 'z' {
			if j == i-2 && !strings.Contains(counter+settings, " "+tokens[j]+" ") {
				return "" // x_2: the number stands by itself
			}
			return tokens[j]
		}
	}
	return ""
}

// settings are words whose number is a setting, also across a separator.
const settings = " tp pp dp ep dep tep c con conc concurrency maxcon bs batch isl osl in out input output n num " +
	"prompts qps rps rate users gpu gpus k len threads clients v so ctx size level scenario case config variant set " +
	"stage phase turn question query prompt task tier step epoch node "

// counts reports values that number repeats: any after a word such as run; by themselves only when they follow each
// other (1, 2, 3 and a, b, c, not 1, 2, 4, 8), or are all days of a year (1016, 1018).
func counts(values []string, word string) bool {
	if word != "" {
		return strings.Contains(counter, " "+word+" ")
	}
	var numbers []int
	days := true
	for _, v := range values {
		n, err := strconv.Atoi(v)
		if err != nil {
			if len(v) > 1 {
				return false
			}
			n = int(v[0]) - 'a'
		}
		numbers = append(numbers, n)
		days = days && len(v) == 4 && n/100 >= 1 && n/100 <= 12 && n%100 >= 1 && n%100 <= 31
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	return len(numbers) > 1 && (days || numbers[len(numbers)-1]-numbers[0] == len(numbers)-1)
}

// likeFirst makes one name of x, x_1 and x_run: the first of several repeats often has no number.
func likeFirst(names []string) []string {
	left := map[string]int{} // how many names are this one
	for _, n := range names {
		left[n]++
	}
	for i, n := range names {
		word := strings.TrimRight(n, "abcdefghijklmnopqrstuvwxyz")
		short := strings.TrimRight(word, "-_. (/")
		if short == word || left[short] == 0 || !strings.Contains(counter, " "+n[len(word):]+" ") {
			short = strings.TrimRight(strings.TrimRight(n, "123456789"), "-_. (/")
			if left[short] == 0 || len(n)-len(short) > 3 {
				continue
			}
		}
		left[n]--
		left[short]++
		names[i] = short
	}
	return names
}

// belowShared cuts the folders that all names have in common.
func belowShared(names []string) []string {
	for {
		first, _, ok := strings.Cut(names[0], "/")
		if !ok || slices.ContainsFunc(names, func(n string) bool { return !strings.HasPrefix(n, first+"/") }) {
			return names
		}
		for i := range names {
			names[i] = names[i][len(first)+1:]
		}
	}
}

// IsAgain reports a path with a folder that is called after a re-check. run2 and seed7 may be repeats of anything.
func IsAgain(path string) bool { return again.MatchString(path) }

var again = lazyregexp.New(`(?i)(?:^|/)(?:again|re-?check|re-?run|retry|redo)[-_ ]?\d*(?:/|$)`)

// IsCount reports a name that only numbers repeats: "1", "run2", "copy-3".
func IsCount(name string) bool {
	return !slices.ContainsFunc(tokens(name), func(t string) bool {
		return t[0] >= 'a' && t[0] <= 'z' && !strings.Contains(counter, " "+t+" ")
	})
}
