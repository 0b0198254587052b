package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// variant is one of several ways in which a release has something: a setup of a system, a way to ask for an eval. What
// is stated of it tells it from others, in whatever case; what is not stated tells nothing.
type variant struct {
	states map[string]string
	of     []int  // results of the release, by their places in a list
	name   string // what tells it apart; "" for the first one of releases that had one
}

// inCommon counts what two statements have alike; -1 where they differ in something.
func inCommon(a, b map[string]string) (n int) {
	for name, v := range a {
		switch w, has := b[name]; {
		case has && strings.EqualFold(v, w):
			n++
		case has:
			return -1
		}
	}
	return n
}

// with is what is stated, and what else was.
func with(now, was map[string]string) map[string]string {
	out := maps.Clone(was)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, now)
	return out
}

// variantsOf parts so many results by what is stated of each. What states less is of the only variant that it has most
// in common with.
func variantsOf(n int, states func(i int) map[string]string) (list []*variant) {
	all := make([]*variant, n)
	for i := range all {
		all[i] = &variant{states: states(i), of: []int{i}}
	}
	slices.SortStableFunc(all, func(a, b *variant) int { return len(b.states) - len(a.states) })
	for _, x := range all {
		at := slices.IndexFunc(list, func(v *variant) bool { return maps.Equal(v.states, x.states) })
		if at < 0 {
			at = closest(list, func(v *variant) int { return inCommon(v.states, x.states) })
		}
		if at < 0 {
			list = append(list, x)
			continue
		}
		list[at].states, list[at].of = with(list[at].states, x.states), append(list[at].of, x.of...)
	}
	for _, v := range list {
		slices.Sort(v.of)
	}
	return list
}

// closest is the place of the only element of a list with the largest number, -1 where none has one of 0 or more.
func closest[T any](list []T, number func(T) int) int {
	at, most, several := -1, -1, false
	for i, x := range list {
		switch n := number(x); {
		case n > most:
			at, most, several = i, n, false
		case n == most:
			several = true
		}
	}
	if several {
		return -1
	}
	return at
}

// goesOn is the place of what one of a list of a release continues of what was before, by the number of statements
// that two share; -1 for nothing. What states nothing is continued by nobody where several could.
func goesOn[T comparable](before, list []T, now T, shares func(a, b T) int) int {
	if len(before) == 1 && len(list) == 1 {
		return 0
	}
	i := closest(before, func(b T) int { return shares(b, now) })
	if i < 0 || closest(list, func(x T) int { return shares(before[i], x) }) != slices.Index(list, now) {
		return -1
	}
	return i
}

// histories are the variants of each thing that earlier releases had.
type histories[K comparable] map[K][]*variant

// next says which variant of the history of a thing each one of a release is. Where releases have one each, another one
// is the same, and not comparable with what it was; a new one is named by what tells it from the others, in a name that
// none of them has. What serves as no baseline changes nothing of later releases.
func (h histories[K]) next(
	of K, list []*variant, serves bool, name func(v *variant, others []*variant) string,
) []*variant {
	before, out := h[of], slices.Clone(list)
	for k, now := range list {
		i := goesOn(before, list, now, func(a, b *variant) int { return inCommon(a.states, b.states) })
		switch {
		case i >= 0:
			if out[k] = before[i]; serves {
				out[k].states = with(now.states, out[k].states)
			}
			continue
		case serves:
			h[of] = append(h[of], now)
		}
		others := slices.DeleteFunc(slices.Concat(list, h[of]), func(o *variant) bool { return o == now })
		own := name(now, others)
		isTaken := func(o *variant) bool { return now.name != "" && o.name == now.name }
		now.name = own
		for n := 2; slices.ContainsFunc(others, isTaken); n++ {
			now.name = fmt.Sprintf("%s (%d)", own, n)
		}
	}
	return out
}
