package render

import (
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// elseCell is what else changed with a level as two lines have room for, with a link to all of it where that is more.
func elseCell(c *levelChange, release string) Cell {
	whole := elseChanged(c.beside)
	cell := Cell{Text: shortElse(whole), Sentence: true}
	if cell.Text != whole {
		cell.Href = ChangesPath + "#" + Address(elseAnchor(c, release))
	}
	return cell
}

// shortElse has the end of each long word, where the name of an image has its tag, and the beginning of the whole.
func shortElse(whole string) string {
	const twoLines, longWord = 90, 30
	parts := strings.Fields(whole)
	for i, word := range parts {
		parts[i] = words.Short(word, longWord)
	}
	return opening(strings.Join(parts, " "), twoLines)
}

// elseAnchor is where all of what else changed with a level stands.
func elseAnchor(c *levelChange, release string) string {
	return "else-" + levelAnchor(release, c.Series.Pair(), c.regressed())
}

// elseSection has what the rows of changes have no room for, in their order; no section where they say all.
func elseSection(shown []levelChange) []Section {
	whole := elseOfLevels(shown)
	if len(whole.Rows) == 0 {
		return nil
	}
	return []Section{{ID: "else", Title: "What else changed, in full", Intro: "What the rows above have no room for.",
		Blocks: []Block{whole.cut("the page of the release has all")}}}
}

// elseOfLevels has all of what else changed, of the changes whose row has no room for it.
func elseOfLevels(list []levelChange) *Table {
	t := &Table{Caption: "What else changed, in full", Layout: List, Cols: []Col{
		{Head: "Since"}, {Head: "Model and device", Length: Medium}, {Head: "What else changed"},
	}}
	for i := range list {
		c := &list[i]
		if c.began == nil || elseCell(c, c.At).Href == "" {
			continue
		}
		t.Rows = append(t.Rows, Row{Anchor: elseAnchor(c, c.At), Cells: []Cell{
			{Text: c.At, Head: true, Href: ReleasePath(c.At)}, text(words.OnDevice(c.Series.Model, c.Series.Device)),
			{Text: elseChanged(c.beside), Sentence: true},
		}})
	}
	return t
}

// elseChanged says what differs between the two builds beside the number.
func elseChanged(c schema.Change) string {
	var parts []string
	for _, s := range []string{c.Differs, c.Build} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if c.SameBuild != "" {
		parts = append(parts, "the same build: "+c.SameBuild)
	}
	if c.SameCommit != "" {
		parts = append(parts, "the same "+c.SameCommit)
	}
	if len(parts) == 0 {
		return "Nothing else is stated to differ."
	}
	return words.Capital(strings.Join(parts, "; ")) + "."
}
