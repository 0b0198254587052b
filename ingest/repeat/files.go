package repeat

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Day is the pattern of a day in a name, as tools write it: one separator throughout or none, a month, a day, a year
// that may be. "2048_1024" is an ISL and an OSL.
const Day = `20[0-3]\d(?:-[01]\d-[0-3]\d|_[01]\d_[0-3]\d|\.[01]\d\.[0-3]\d|[01]\d[0-3]\d)`

var (
	// dates are times, hashes and long numbers in names: of a day, a second, a process.
	dates = regexp.MustCompile(Day + `(?:[Tt_. -]*\d\d[-:_.h]?\d\d(?:[-:_.m]?\d\d)?(?:\.\d+)?s?` +
		`(?:Z|[+-]\d\d:?\d\d)?)?|\d\d[-:h]\d\d[-:m]\d\ds?|\d{9,}|` +
		`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	hash       = regexp.MustCompile(`^[0-9a-f]{7,40}$`)
	extensions = regexp.MustCompile(`(?i)(\.(json|jsonl|txt|log|csv|out|md|yaml|yml|gz|zst|pytorch))+$`)
	words      = regexp.MustCompile(`[a-z]+|\d+(?:\.\d+)?|[^a-z\d]+`)
	parallel   = regexp.MustCompile(`(?:^|[^a-z])(dep|tep|tp|ep|pp|dp|cp)[-_=]?(\d{1,4})(?:[^a-z\d]|$)`)
)

// counter are the words before a number that say which repeat it is; after any other word it is a setting.
const counter = " run rep repeat repetition iter iteration trial try attempt seed r part job build sample round " +
	"rerun copy pass take "

// load matches a part of the load in a name: "c4", "concurrency=8", "qps_inf", "16qps", "isl128". Its ends are those of
// a word, so that "abc8" is none.
var load = regexp.MustCompile(`(?i)(^|[-_./= ])(?:(?:max[-_]?)?` +
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

// parallelism returns the tensor parallelism that the path of a point states, with the other kinds beside it; the name
// nearest to the file counts. By themselves, "pp512" and "ep3" are prompts and epochs.
func parallelism(p *schema.Point) map[string]string {
	if !foreign(p) {
		return nil
	}
	parts := strings.Split(strings.ToLower(extensions.ReplaceAllString(p.Source.Path, "")), "/")
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

// differences returns a dimension for each path, from what differs in their names beside dates and counters; nil when
// nothing does.
func differences(paths []string) []map[string]string {
	names := plain(paths)
	if !slices.ContainsFunc(names, func(n string) bool { return n != names[0] }) {
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
			out[i] = map[string]string{DimFile: strings.Trim(n, "-_. /")}
		}
	}
	return out
}

// plain returns the paths below the folder that they share, without what numbers repeats.
func plain(paths []string) []string {
	split := make([][]string, len(paths))
	for i, p := range paths {
		p = strings.ToLower(extensions.ReplaceAllString(p, ""))
		for _, part := range strings.Split(p, "/") {
			split[i] = append(split[i], tokens(part)...)
			split[i] = append(split[i], "/")
		}
	}
	shapes := map[string][]int{}
	for i, t := range split {
		shape := shapeOf(t)
		shapes[shape] = append(shapes[shape], i)
	}
	for _, of := range shapes {
		dropCounters(split, of)
	}
	out := make([]string, len(paths))
	for i, t := range split {
		out[i] = strings.Trim(strings.Join(t, ""), "-_. /")
	}
	return belowShared(unnumbered(out))
}

// tokens splits one part of a path into words and numbers, without dates and hashes.
func tokens(part string) []string {
	part = dates.ReplaceAllString(part, "")
	for _, name := range strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune("-_. ", r) }) {
		if hash.MatchString(name) && strings.ContainsAny(name, "0123456789") && strings.ContainsAny(name, "abcdef") {
			return tokens(strings.Replace(part, name, "", 1))
		}
	}
	return words.FindAllString(part, -1)
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
	alone := func(j int) bool { return j < 0 || j >= len(tokens) || strings.ContainsAny(tokens[j][:1], "-_. /(") }
	return len(t) == 1 && t[0] >= 'a' && t[0] <= 'z' && alone(i-1) && alone(i+1)
}

// dropCounters empties the numbers that count repeats among names of one shape.
func dropCounters(split [][]string, of []int) {
	for column := range split[of[0]] {
		if !isOrdinal(split[of[0]], column) {
			continue
		}
		var values []string
		for _, i := range of {
			values = append(values, split[i][column])
		}
		if counts(values, wordBefore(split[of[0]], column)) {
			for _, i := range of {
				split[i][column] = ""
			}
		}
	}
}

// wordBefore is the word that a number belongs to: the one right before it, across one separator.
func wordBefore(tokens []string, i int) string {
	for _, j := range []int{i - 1, i - 2} {
		if j < 0 || tokens[j] == "" || tokens[j] == "/" {
			return ""
		}
		if c := tokens[j][0]; c >= 'a' && c <= 'z' {
			if j == i-2 && !strings.Contains(counter, " "+tokens[j]+" ") && !isLoad(tokens[j]) {
				return "" // x_2: the number stands by itself
			}
			return tokens[j]
		}
	}
	return ""
}

// isLoad reports words whose number is a setting, also across a separator.
func isLoad(word string) bool {
	switch word {
	case "tp", "pp", "dp", "ep", "dep", "tep", "c", "con", "conc", "concurrency", "maxcon", "bs", "batch", "isl", "osl",
		"in", "out", "input", "output", "n", "num", "prompts", "qps", "rps", "rate", "users", "gpu", "gpus", "k", "len",
		"threads", "clients", "v", "so", "ctx", "size", "level":
		return true
	}
	return false
}

// counts reports values that number repeats: any after a word such as run; by themselves only when they follow each
// other (1, 2, 3 and a, b, c, not 1, 2, 4, 8), or are all days of a year (1016, 1018).
func counts(values []string, word string) bool {
	if strings.Contains(counter, " "+word+" ") && word != "" {
		return true
	}
	if word != "" {
		return false
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

// unnumbered makes one name of x, x_1 and x_run: the first of several repeats often has no number. The number of x_run1
// is gone already.
func unnumbered(names []string) []string {
	for i, n := range names {
		word := strings.TrimRight(n, "abcdefghijklmnopqrstuvwxyz")
		if short := strings.TrimRight(word, "-_. (/"); short != word && slices.Contains(names, short) &&
			strings.Contains(counter, " "+n[len(word):]+" ") {
			names[i] = short
			continue
		}
		if short := strings.TrimRight(strings.TrimRight(n, "123456789"), "-_. (/"); short != n {
			if slices.Contains(names, short) && len(n)-len(short) <= 3 {
				names[i] = short
			}
		}
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
