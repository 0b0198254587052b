package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// ChangeCard is a change with its course over the releases, what is known of it, and the ways out.
type ChangeCard struct {
	ID       string // of the change
	Title    string
	Outcome  schema.Outcome
	Evidence schema.Evidence
	Course   Course
	Facts    []CardFact
	Ways     []Way
	Series   Address // of the number in the middle
}

// Course is how the numbers of a change went, as a picture: see [judge.Course].
type Course struct {
	judge.Course
	Releases []string
	At       int     // in which the change began
	Size     float64 // the level since then, relative
	Limit    float64 // what matters, relative
	Label    string
}

// mostCards is how many changes have a card on the front page.
const mostCards = 3

// changeCards are the cards of the worst regressions among some changes, and the others.
func (r *Report) changeCards(list []judge.Change) (cards []ChangeCard, others []judge.Change) {
	byNumbers := slices.SortedStableFunc(slices.Values(list), func(a, b judge.Change) int {
		return cmp.Compare(len(b.Numbers), len(a.Numbers))
	})
	for i := range byNumbers {
		if c := &byNumbers[i]; c.Large() && len(cards) < mostCards {
			cards = append(cards, r.changeCard(c))
		} else {
			others = append(others, *c)
		}
	}
	return cards, others
}

// changeCard is the card of a change as the newest release sees it.
func (r *Report) changeCard(c *judge.Change) ChangeCard {
	newest, began := r.Newest(), judge.Named(r.Releases, c.Since)
	state := r.state(c)
	card := ChangeCard{ID: changeAnchor(c.ID), Outcome: schema.Regressed, Evidence: c.Evidence}
	card.Title = fmt.Sprintf("%s: %s since %s", words.ChangeOf(c), words.ChangeSize(c), r.nameOf(began))
	all := make([]int, newest+1)
	for i := range all {
		all[i] = i
	}
	card.Course = Course{r.Gate.Course(c, newest), r.namesOf(all), began, c.Effect, c.Limit, ""}
	card.Course.Label = fmt.Sprintf("Median of %s, each against its own level before %s: %s since then.",
		words.ChangeShare(c), c.Since, words.Change(c.Effect))
	size := fmt.Sprintf("%s, 95"+words.Thin+"%% interval %s; the limit is %s", words.ChangeSize(c),
		words.ChangeInterval(c), words.Percent(c.Limit))
	since := words.ChangeVotes(c)
	if at := r.Releases[began].Date; !at.IsZero() {
		since += ", " + day(at)
	}
	commits := r.commitRange(began)
	seen := words.ChangeEvidence(c)
	if c.Evidence == schema.Confirmed && gate.Open(c) && c.Since != r.Releases[newest].Name {
		seen += "; still there in " + r.nameOf(newest)
	}
	where := ChangesPath + "#" + Address(card.ID)
	for _, f := range []CardFact{
		{"Size", size, ""}, {"Since", since, ReleasePath(c.Since)}, {"Began with", elseChanged(c.What), ""},
		{"Commits", commits.Text, commits.Href}, {"Where", scopeText(c), where}, {"Evidence", words.Capital(seen), ""},
		{"State", state.Text + within(state.Sub), state.Href},
	} {
		if f.Text != "" {
			card.Facts = append(card.Facts, f)
		}
	}
	card.Ways, card.Series = r.waysOf(c), r.SeriesPath(middleOf(c))
	return card
}

// within puts a text into brackets behind another; "" stays "".
func within(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// scopeText says how many numbers, models and devices a change has.
func scopeText(c *judge.Change) string {
	out := words.ChangeShare(c)
	if c.Scope.Pairs > 1 {
		out += " of " + words.Plural(len(c.Scope.Models), "model") + " on " + words.Plural(len(c.Scope.Devices), "device")
	}
	return out
}

// waysOf are the commands that accept a change or search the build that it came with, at its number in the middle.
func (r *Report) waysOf(c *judge.Change) (out []Way) {
	if r.Ingest != "" || c.State == judge.StateAccepted {
		return nil
	}
	release := r.Releases[r.Newest()].Name
	out = append(out, Way{acceptIt, accepting(release, "--change", c.ID),
		"all of it; kept in ttreport.yaml; later releases are compared with the new level"})
	if s := middleOf(c); !s.Tail() && !c.What.OtherClient() {
		began := judge.Named(r.Releases, c.Since)
		line, cost := r.searching(s.System(), s.Key, s.Metric, release, r.Gate.Before(began), began, "")
		if line != "" {
			out = append(out, Way{findCommit, line, cost})
		}
	}
	return out
}

// has reports whether the card has what a way of the decision does: it accepts the change, or searches a build.
func (c *ChangeCard) has(w Way) bool {
	return slices.ContainsFunc(c.Ways, func(own Way) bool {
		return own.What == w.What && w.What == findCommit || strings.Contains(w.Cmd, " --change ") &&
			strings.Contains(w.Cmd, strings.TrimPrefix(c.ID, changeAnchor("")))
	})
}
