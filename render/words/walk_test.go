package words_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// Nothing that a page says of a release is contradicted by the pages that are built a release later: a year of
// releases with steps that stay and steps that go, slow values and re-runs is judged after each release, and what is
// said of each number is held against what was said before.
func TestNoSentenceIsContradicted(t *testing.T) {
	told := map[string]int{}
	for seed := range uint64(10) {
		h := eventfulYear(seed, 28)
		w := walk{
			t: t, told: told, releases: len(h.TTFT), said: map[string]map[string]schema.Verdict{},
			found: map[string]string{}, open: map[string]float64{},
		}
		for k := 1; k <= len(h.TTFT); k++ {
			upTo := h
			upTo.TTFT, upTo.Again = h.TTFT[:k], h.Again[:k]
			w.build(fmt.Sprintf("seed %d", seed), upTo)
		}
	}
	for _, sentence := range []string{
		"one run shows it", "suspected since", "first seen", "recovered", "not see it again",
	} {
		if told[sentence] == 0 {
			t.Errorf("no history has %q, so that it was not tested: %v", sentence, told)
		}
	}
}

// eventfulYear is a history of forty numbers.
func eventfulYear(seed uint64, releases int) (h judgetest.History) {
	const numbers = 40
	r := rand.New(rand.NewPCG(seed, 3))
	level := make([]float64, numbers)
	for k := range releases {
		values, again := make([]float64, numbers), make([]float64, numbers)
		rerun := r.Float64() < .2
		for c := range numbers {
			sd := .004 + .016*float64(c%4)/3
			if u := r.Float64(); k > 4 && u < .02 {
				level[c] += math.Log(1.12)
			} else if u > .97 {
				level[c] = 0
			}
			values[c] = 100 * math.Exp(level[c]+sd*r.NormFloat64())
			if r.Float64() < .02 {
				values[c] *= 1.15
			}
			if rerun {
				again[c] = 100 * math.Exp(level[c]+sd*r.NormFloat64())
			}
		}
		h.TTFT, h.Again = append(h.TTFT, values), append(h.Again, nil)
		if rerun {
			h.Again[k] = again
		}
	}
	return h
}

// walk holds what was said of each release and number.
type walk struct {
	t        *testing.T
	told     map[string]int
	releases int
	said     map[string]map[string]schema.Verdict // by release and number
	found    map[string]string                    // by release
	open     map[string]float64                   // level before a confirmed regression, by number
}

func (w *walk) build(name string, h judgetest.History) {
	w.t.Helper()
	c := h.Columns()
	g, err := gate.New(context.Background(), c, judge.Releases(c, nil), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	const back = 5 // releases whose pages are looked at again, and all at the end
	newest := len(h.TTFT) - 1
	for k := range h.TTFT {
		if k < newest-back && newest < w.releases-1 {
			continue
		}
		release := fmt.Sprintf("v%d", k)
		now := map[string]schema.Verdict{}
		for _, v := range g.History(k) {
			now[v.Key.String()] = v
		}
		for number, v := range now {
			at := fmt.Sprintf("%s, %s after v%d, %s", name, release, newest, number)
			if before, known := w.said[release][number]; known {
				w.same(at, before, v)
			}
			if k == newest {
				w.told[v.Outcome.String()]++
				w.newest(at, number, v)
			}
			w.followed(at, number, v)
		}
		w.said[release] = now
		w.lints(fmt.Sprintf("%s, %s after v%d", name, release, newest), release, g.Lints(k))
	}
}

// lints: what is found in the history of a release is not found otherwise later.
func (w *walk) lints(at, release string, list []lint.Lint) {
	w.t.Helper()
	text := ""
	for _, l := range list {
		text += words.Lint(l) + "\n"
	}
	if before, known := w.found[release]; known && before != text {
		w.t.Errorf("%s: found %s, then %s", at, before, text)
	}
	w.found[release] = text
}

// same: a page of a release says what it said, but for what a later release made of it.
func (w *walk) same(at string, before, now schema.Verdict) {
	w.t.Helper()
	if before.Follow.Release != "" && before.Follow != now.Follow {
		w.t.Errorf("%s: followed by %+v, then %+v", at, before.Follow, now.Follow)
	}
	now.Follow = before.Follow
	if reflect.DeepEqual(before, now) { // of the same, the same is said
		return
	}
	if a, b := words.Why(before), words.Why(now); a != b || before.Outcome != now.Outcome || before.ID != now.ID {
		w.t.Errorf("%s:\n%s %s, then %s %s", at, before.Outcome, a, now.Outcome, b)
	}
}

// newest holds what is said of the newest release against what was said of those before it.
func (w *walk) newest(at, number string, v schema.Verdict) {
	w.t.Helper()
	sentence := words.Why(v)
	for _, part := range []string{"one run shows it", "suspected since", "first seen"} {
		if strings.Contains(sentence, part) {
			w.told[part]++
		}
	}
	if v.First != "" {
		then, known := w.said[v.First][number]
		switch {
		case !known:
			w.t.Errorf("%s: %s: %s has no such number", at, sentence, v.First)
		case v.Outcome != schema.BelowLimit && then.Outcome == schema.Unchanged:
			w.t.Errorf("%s: %s: %s said %s", at, sentence, v.First, words.Why(then))
		case strings.Contains(sentence, "suspected since") && (then.Outcome != v.Outcome || then.Evidence == 0):
			w.t.Errorf("%s: %s: %s said %s: %s", at, sentence, v.First, then.Outcome, words.Why(then))
		}
	}
	last, known := w.said[v.Baseline][number]
	if strings.Contains(sentence, "one run shows it") && known && last.Outcome == v.Outcome &&
		last.Evidence == schema.Suspected && last.Follow.Release == "" {
		w.t.Errorf("%s: %s, after %s", at, sentence, words.Why(last))
	}
	w.returns(at, number, v)
}

// returns: a confirmed regression that is gone is said to have recovered, or improved, within three releases.
func (w *walk) returns(at, number string, v schema.Verdict) {
	w.t.Helper()
	effect, _ := v.Effect.Get()
	ref, _ := v.Ref.Get()
	value, _ := v.Value.Get()
	old, open := w.open[number]
	switch {
	case v.Outcome == schema.Regressed && v.Evidence == schema.Confirmed && effect > 0:
		w.open[number] = ref
	case v.Outcome == schema.Recovered || v.Outcome == schema.Improved:
		delete(w.open, number)
	case open && v.Outcome == schema.Unchanged && value < old*1.02 && ref < old*1.04:
		w.t.Errorf("%s: %s: the level is %.4g, that before the confirmed regression was %.4g, and nothing recovered",
			at, words.Why(v), ref, old)
	}
}

// followed: what a page says that a later release made of a change is what that release says.
func (w *walk) followed(at, number string, v schema.Verdict) {
	w.t.Helper()
	if v.Follow.Release == "" {
		return
	}
	if !v.Follow.Again {
		w.told["not see it again"]++
	}
	later, known := w.said[v.Follow.Release][number]
	way := func(v *schema.Verdict) schema.Outcome { // what recovers improves
		if v.Outcome == schema.Recovered {
			return schema.Improved
		}
		return v.Outcome
	}
	same := way(&later) == way(&v) && later.Evidence != schema.NoEvidence
	if known && same != v.Follow.Again {
		w.t.Errorf("%s: %s, and %s says %s %s: %s", at, words.Why(v), v.Follow.Release, later.Outcome, later.Evidence,
			words.Why(later))
	}
}
