package render

import (
	"cmp"
	"fmt"
	"slices"

	"al.essio.dev/pkg/shellescape"
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

// Plain implements Block.
func (c ChangeCard) Plain() []Block {
	facts := &Table{Caption: c.Title, Layout: KeyValue, Cols: []Col{col("What"), col("Of this change")}}
	for _, f := range c.Facts {
		facts.row(head(f.Name, ""), Cell{Text: f.Text, Href: f.Href})
	}
	out := []Block{Prose{c.Title}, facts}
	for _, w := range c.Ways {
		out = append(out, Prose{w.What + ": " + w.Cost + "."}, Commands{w.Cmd})
	}
	return out
}

// mostCards is how many changes have a card on the front page.
const mostCards = 3

// changeCards are the cards of the worst regressions among some changes, and the others.
func (r *Report) changeCards(list []judge.Change) (cards []Block, others []judge.Change) {
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
func (r *Report) waysOf(c *judge.Change) []Way {
	var out []Way
	release := r.Releases[r.Newest()].Name
	if r.Ingest != "" || c.State == judge.StateAccepted {
		return nil
	}
	out = append(out, Way{acceptIt,
		shellescape.QuoteCommand([]string{"ttreport", "accept", release, "--change", c.ID}) + ` --reason "…"`,
		"all of it; kept in ttreport.yaml; later releases are compared with the new level"})
	s, began := middleOf(c), judge.Named(r.Releases, c.Since)
	good, bad, of := r.endsOf(r.Gate.Before(began), began)
	load := gate.Gap{System: s.System(), Key: s.Key}
	searchable := slices.Contains([]string{"ttft", "tpot", "e2el", "output_tps"}, s.Metric) && !s.Tail()
	if good == "" || s.Device == schema.Simulated || !load.Loadable() || !searchable {
		return out
	}
	argv := []string{"ttreport", "bisect", "--good", good, "--bad", bad, "--model", s.Model, "--device", s.Device,
		"--workload", WorkloadFlag(s.Key), "--metric", s.Metric}
	return append(out, Way{findCommit, shellescape.QuoteCommand(argv) + " --build '…' --server '…'",
		of + "; a step measures two builds in turns" + r.took(release, s.System(), []schema.Key{s.Key, s.Key})})
}
