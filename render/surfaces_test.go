package render_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/rows"
	"github.com/ttreport/ttreport/render/terminal"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// In ten histories every surface says the same of a change: its size, its beginning and how many numbers it has.
func TestEverySurfaceSaysTheSame(t *testing.T) {
	t.Parallel()
	const at, releases = 12, 16
	size := regexp.MustCompile(`[+−]?\d+\.\d %( slower| faster)? since v\d+`)
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 9))
		h := judgetest.History{}
		slower := 4 + int(seed)*2
		for rel := range releases {
			row := make([]float64, 24)
			for w := range row {
				row[w] = 20 * float64(w+1) * math.Exp(.01*r.NormFloat64())
				if w < slower && rel >= at {
					row[w] *= 1.1
				}
			}
			h.TTFT = append(h.TTFT, row)
		}
		report := reportOf(t, h.Columns(), render.ModeRelease)
		for release := at + 1; release < releases; release++ {
			g := report.Gate.Review(release, "", "")
			worst := -1
			for i := range g.Changes {
				c := &g.Changes[i]
				if c.Since == fmt.Sprintf("v%d", at) && (worst < 0 || len(c.Numbers) > len(g.Changes[worst].Numbers)) {
					worst = i
				}
			}
			if worst < 0 {
				t.Fatalf("seed %d, v%d: no change since v%d", seed, release, at)
			}
			c := &g.Changes[worst]
			want, share := words.ChangeSize(c)+" since "+c.Since, words.ChangeShare(c)
			var screen, json bytes.Buffer
			card := report.Card(&g)
			terminal.Check(&screen, &g, card, false)
			if err := rows.CheckJSON(&json, &g, card, nil); err != nil {
				t.Fatal(err)
			}
			page := report.GatePage(g, false)
			word := words.Decide(g.Result).Word
			if h := words.Heading(&g, word); len(strings.Fields(word+" "+h)) > 20 {
				t.Errorf("a heading of more than 20 words: %s: %s", word, h)
			}
			for surface, text := range map[string]string{
				"headline": words.Headline(&g), "terminal": screen.String(), "json": json.String(),
				"markdown": page.Lead.Text + strings.Join(page.Lead.Paras, " "),
			} {
				text = strings.ReplaceAll(text, words.Thin, " ")
				said := strings.ReplaceAll(want, words.Thin, " ")
				if !strings.Contains(text, strings.TrimPrefix(said, "is ")) || !strings.Contains(text, share) {
					t.Errorf("seed %d, v%d, %s does not say %q of %s:\n%.600s", seed, release, surface, said, share, text)
				}
				for _, other := range size.FindAllString(text, -1) {
					if strings.HasSuffix(other, " since "+c.Since) && other != said {
						t.Errorf("seed %d, v%d, %s says %q, and elsewhere %q", seed, release, surface, other, said)
					}
				}
			}
		}
		changes := report.ChangesPage()
		for _, s := range append(report.Landing().Sections, changes.Sections...) {
			for _, b := range s.Blocks {
				card, ok := b.(render.ChangeCard)
				if !ok {
					continue
				}
				for _, c := range report.Gate.Changes(releases - 1) {
					if card.ID == "change-"+c.ID && (!strings.Contains(card.Title, words.ChangeSize(&c)+" since "+c.Since) ||
						card.Course.Size != c.Effect || !strings.Contains(card.Facts[0].Text, words.ChangeSize(&c))) {
						t.Errorf("seed %d: a card has %+v", seed, card)
					}
				}
			}
		}
		blocks := changes.Sections[0].Blocks
		table, ok := blocks[len(blocks)-1].(*render.Table)
		if !ok { // all have cards
			continue
		}
		for _, row := range table.Rows {
			for _, c := range report.Gate.Changes(releases - 1) {
				if row.Anchor == "change-"+c.ID && (row.Cells[2].Text != words.ChangeSize(&c) || row.Cells[0].Text != c.Since) {
					t.Errorf("seed %d: the page of changes has %+v", seed, row.Cells)
				}
			}
		}
	}
}
