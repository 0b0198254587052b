package words

import (
	"slices"
	"strings"
)

// inHeadline is how many letters of a workload's name a headline has room for: the names of test functions are longer.
const inHeadline = 40

// Short is a name of at most so many letters: the end of it, which tells names of one file or folder apart, from where
// a part begins. ISL, OSL and concurrency at the beginning of a workload stay, however little room there is.
func Short(name string, most int) string {
	letters := []rune(name)
	if len(letters) <= most {
		return name
	}
	if load, rest, more := strings.Cut(name, " "); isLoad(load) {
		if !more {
			return name
		}
		return load + " " + Short(rest, max(most-len(load)-1, leastShort))
	}
	end := string(letters[len(letters)-most+1:])
	if at := strings.IndexAny(end, "/: ,"); at >= 0 && at < len(end)/2 {
		end = strings.TrimLeft(end[at:], "/: ,")
	}
	return "…" + end
}

// leastShort is how many letters of a name are left beside ISL, OSL and concurrency: the name of a metric.
const leastShort = 16

// isLoad reports ISL, OSL and concurrency as [schema.Key.Workload] writes them: "1024/128/32", "-/-/8".
func isLoad(s string) bool {
	parts := strings.Split(s, "/")
	return len(parts) == 3 && !slices.ContainsFunc(parts, func(p string) bool {
		return p == "" || strings.Trim(p, "0123456789.-") != ""
	})
}

// ShortApart is [Short] of several names, where different names stay different: of those that would be cut to the same
// text, what the others do not have stays.
func ShortApart(names []string, most int) []string {
	short, out := make([]string, len(names)), make([]string, len(names))
	for i, name := range names {
		short[i] = Short(name, most)
	}
	for i, name := range names {
		var alike []string
		for k := range names {
			if short[k] == short[i] && names[k] != name {
				alike = append(alike, names[k])
			}
		}
		if out[i] = short[i]; len(alike) > 0 {
			out[i] = Short(apart(name, alike), most)
		}
	}
	return out
}

// apart is a name without the parts that all others have: ISL, OSL and concurrency stay.
func apart(name string, others []string) string {
	load, rest, _ := strings.Cut(name, " ")
	if !isLoad(load) {
		load, rest = "", name
	}
	var own []string
	for part := range strings.SplitSeq(rest, ", ") {
		if slices.ContainsFunc(others, func(o string) bool { return !strings.Contains(o+",", part+",") }) {
			own = append(own, part)
		}
	}
	if len(own) == 0 {
		return name
	}
	return strings.TrimSpace(load + " …" + strings.Join(own, ", "))
}
