package site

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/chart"
	"github.com/ttreport/ttreport/render/chart/echarts"
)

// runsBytes is about how large a script with details of runs may be: what a reader waits for who opens one of them. A
// release with more has several.
const runsBytes = 350_000

// runIndex says in which script the details of a run are, Files by number, Runs by the name in the address, and in
// which one its numbers are judged.
type runIndex struct {
	Files    []render.Address    `json:"files"`
	Of       []int               `json:"of"` // the release of each file
	Releases []render.ReleaseRef `json:"releases"`
	Runs     map[string]int      `json:"runs"`
}

// runs makes the details of all runs, some scripts a release, and the index of them. A file a run was six thousand
// files in a history of 50 releases, and most of the time of a build.
func (b *builder) runs() error {
	r := b.report
	parts := make([][]int, len(r.Releases)) // how many runs each script of a release has
	for i := range r.Releases {             // one after the other: pages are held until their script is written
		var err error
		if parts[i], err = b.runsOf(i); err != nil {
			return err
		}
	}
	index := runIndex{
		Files: []render.Address{}, Of: []int{}, Releases: []render.ReleaseRef{}, Runs: map[string]int{},
	}
	for i, rel := range r.Releases {
		index.Releases = append(index.Releases, render.ReleaseRef{Name: rel.Name, Shard: render.ReleaseShardPath(rel.Name)})
		left := rel.Runs
		for part, n := range parts[i] {
			for _, run := range left[:n] {
				name := render.RunName(r.Columns.Runs[run].ID)
				if _, taken := index.Runs[name]; taken {
					return fmt.Errorf("two pages are %s: names of runs that give one address; rename one",
						render.RunPath(r.Columns.Runs[run].ID))
				}
				index.Runs[name] = len(index.Files)
			}
			left, index.Files = left[n:], append(index.Files, render.RunShardPath(rel.Name, part))
			index.Of = append(index.Of, i)
		}
	}
	p := &part{b: b, step: stepRuns}
	if err := p.shard(render.RunIndexPath, "runs", index); err != nil {
		return err
	}
	return p.page(r.RunsPage())
}

// runsOf makes the details of the runs of a release, and returns how many each of its scripts has.
func (b *builder) runsOf(release int) (parts []int, err error) {
	rel := b.report.Releases[release]
	of := []string{"runs", rel.Name}
	for _, run := range rel.Runs {
		of = append(of, b.report.Columns.Runs[run].ID, b.report.Columns.Runs[run].SHA256)
	}
	kept, err := b.unit(stepRuns, "runs "+rel.Name, b.made(of...), func(p *part) (any, error) {
		parts, err = b.writeRuns(p, release)
		return parts, err
	})
	if err == nil && kept != nil {
		if err = json.Unmarshal(kept, &parts); err != nil {
			err = fmt.Errorf("facts of runs of %s in the site's record: %w", rel.Name, err)
		}
	}
	return parts, err
}

// writeRuns writes the scripts of a release.
func (b *builder) writeRuns(p *part, release int) (parts []int, err error) {
	rel := b.report.Releases[release]
	pack, size, pages := newPacker(), 0, object{}
	flush := func(last int) error {
		if last == 0 && len(parts) > 0 {
			return nil
		}
		path := render.RunShardPath(rel.Name, len(parts))
		parts = append(parts, last)
		text, err := pack.script(string(path), pages)
		if err != nil {
			return err
		}
		pack, size, pages = newPacker(), 0, object{}
		return p.put(path, text)
	}
	n := 0
	for _, run := range rel.Runs {
		h := &b.report.Columns.Runs[run]
		n++
		doc, problem := b.opt.Run(run)
		if problem != nil {
			b.mu.Lock()
			b.problems = append(b.problems, *problem)
			b.mu.Unlock()
			p.lacks = true
			continue
		}
		page := view(b, b.report.RunPage(&doc, h.ID))
		packed := append(packedPage(&page), packedInts(render.CommandOf(&doc)))
		size += pack.tally(packed)
		pages = append(pages, member{render.RunName(h.ID), packed})
		if size > runsBytes {
			if err := flush(n); err != nil {
				return nil, err
			}
			n = 0
		}
	}
	return parts, flush(n)
}

func newPacker() *packer {
	return &packer{count: map[string]int{}, place: map[string]int{}, heads: map[string]int{}}
}

// script is a script that hands run.js packed pages under an id: {"texts": […], "columns": […], "runs": {name: page}}.
func (p *packer) script(id string, pages object) ([]byte, error) {
	if err := p.write(pages); err != nil {
		return nil, fmt.Errorf("data of %s: %w", id, err)
	}
	runs := p.out
	texts, err := json.Marshal(append(list{}, p.texts...)) // escapes <, > and &
	if err != nil {
		return nil, fmt.Errorf("data of %s: %w", id, err)
	}
	return fmt.Appendf(nil, "ttreport.shard(%q,{\"texts\":%s,\"columns\":[%s],\"runs\":%s});\n", id, texts,
		strings.Join(p.cols, ","), runs), nil
}

// A packed page is a view as data, for run.js to paint: lists in place of objects, and texts that occur often only
// once, in a list of the file. A number in the place of a text is its place in that list. Where run.js reads a value,
// its name stands there beside the same position.
type (
	list   []any
	member struct {
		name  string
		value any
	}
	// object has only the members that are not empty.
	object []member
	// columns are those of a table: tables of a kind have the same, and they are in a file once.
	columns list
	// lone is a text that hardly occurs twice in a file.
	lone string
)

// packedPage is [title, tone, mark, word, text, eyebrow, simulated, crumbs, sections]; of a run, the place of each
// point's command follows.
func packedPage(p *render.Page) list {
	var crumbs, sections list
	for _, c := range p.Crumbs {
		crumbs = append(crumbs, list{c.Text, string(c.Href)})
	}
	for _, s := range p.Sections {
		var blocks list
		for _, b := range s.Blocks {
			blocks = append(blocks, packedBlock(b)...)
		}
		sections = append(sections, list{s.ID, s.Title, s.Intro, blocks})
	}
	l := p.Lead
	return list{p.Title, string(l.Tone), l.Mark.String(), l.Word, l.Text, p.Eyebrow, p.Simulated, crumbs, sections}
}

func packedInts(numbers []int) list {
	out := make(list, len(numbers))
	for i, n := range numbers {
		out[i] = n
	}
	return out
}

// packedBlock is one or more of ["table", …], ["p", text], ["pre", text], ["chart", id, title, summary, chart].
func packedBlock(b render.Block) list {
	var out list
	switch b := b.(type) {
	case *render.Table:
		return list{packedTable(b)}
	case render.Prose:
		for _, text := range b {
			out = append(out, list{"p", text})
		}
	case render.Commands:
		for _, line := range b {
			out = append(out, list{"pre", line})
		}
	case render.Distribution:
		return list{list{"chart", b.ID, b.Title(), b.Summary(), echarts.Of(b)[b.ID]}}
	default:
		for _, plain := range b.Plain() {
			out = append(out, packedBlock(plain)...)
		}
	}
	return out
}

// packedTable is ["table", layout, caption, columns, rows, more, anchor]. Columns are a place in the list of columns of
// the file, each [head, unit, number, length, statistics, flags of its cells, metric]; a row is its cells, or a
// heading. The anchor is what the addresses of rows begin with, before their number: "p".
func packedTable(t *render.Table) list {
	flags := make([]int, len(t.Cols))
	cols, rows := make(list, len(t.Cols)), make(list, 0, len(t.Rows))
	for i, c := range t.Cols {
		number := 0
		if c.Num {
			number = 1
		}
		for k := range t.Rows {
			if i < len(t.Rows[k].Cells) {
				flags[i] = cellFlags(&t.Rows[k].Cells[i])
				break
			}
		}
		cols[i] = list{c.Head, c.Unit, number, string(c.Length), c.Stats, flags[i], c.Metric}
	}
	anchor := ""
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Group != "" {
			rows = append(rows, r.Group)
			continue
		}
		anchor = strings.TrimRight(r.Anchor, "0123456789")
		cells := make(list, len(r.Cells))
		for k := range r.Cells {
			cells[k] = packedCell(&r.Cells[k], flags[k], t.Cols[k].Stats != "")
		}
		rows = append(rows, cells)
	}
	more := ""
	if t.More != "" {
		more = strconv.Itoa(len(t.Rows)) + " of " + strconv.Itoa(t.Total) + " rows; " + t.More + "."
	}
	return list{"table", string(t.Layout), t.Caption, columns(cols), rows, more, anchor}
}

// cellFlags are 1 for the row's identity, 2 for an identifier, 4 for strong, 8 for a sentence.
func cellFlags(c *render.Cell) int {
	n := 0
	for i, is := range [...]bool{c.Head, c.Code, c.Strong, c.Sentence} {
		if is {
			n |= 1 << i
		}
	}
	return n
}

// packedCell is a text where it is all that a cell has beside the flags of its column, else an object. Where the column
// has statistics, they follow the text: "75.4|74.6|86.7".
func packedCell(c *render.Cell, flags int, stats bool) any {
	var text any = c.Text
	if stats && c.Stats != "" {
		text = lone(c.Text + "|" + c.Stats)
	}
	f := cellFlags(c)
	plain := c.Sub+string(c.Href)+c.Tag+c.Missing == "" && c.Outcome == 0 && c.Evidence == 0
	if plain && f == flags && c.Strip == nil && c.Spark == nil {
		return text
	}
	o := object{
		{"s", c.Sub}, {"h", string(c.Href)}, {"o", c.Outcome.String()}, {"e", c.Evidence.String()}, {"g", c.Tag},
		{"m", c.Missing},
	}
	if f != flags {
		o = append(o, member{"f", f})
	}
	if c.Strip != nil {
		p := chart.NewStrip(c.Strip)
		o = append(o, member{"p", list{p.Low, p.Q1, p.Median, p.Q3, p.High, p.Max, p.Label}})
	}
	if c.Spark != nil {
		s := chart.NewSpark(c.Spark)
		p := list{s.Label, s.Last.X, s.Last.Y, strings.Join(s.Lines, "")}
		for _, dot := range s.Alone {
			p = append(p, dot.X, dot.Y)
		}
		o = append(o, member{"k", p})
	}
	return append(o, member{"t", text})
}

// packer writes packed values, with texts that occur often once.
type packer struct {
	count map[string]int
	place map[string]int
	texts list
	heads map[string]int
	cols  []string // columns, written
	out   []byte
}

// often reports whether a text is worth a place in the list.
func (p *packer) often(s string) bool { return len(s) > shortText && p.count[s] > 2 }

// shortText is the length of a text up to which its place in the list is hardly shorter.
const shortText = 5

// tally counts the texts of a value, and returns about how many bytes it adds.
func (p *packer) tally(v any) int {
	switch v := v.(type) {
	case lone:
		return len(v) + 3
	case string:
		if len(v) > shortText {
			p.count[v]++
		}
		if p.often(v) {
			return 5
		}
		return len(v) + 3
	case list:
		n := 2
		for _, x := range v {
			n += p.tally(x)
		}
		return n
	case object:
		n := 2
		for _, m := range v {
			if m.value != "" {
				n += 4 + p.tally(m.value)
			}
		}
		return n
	case columns:
		_ = p.tally(list(v)) // written once
	case echarts.Chart:
		return chartBytes
	}
	return 3
}

// chartBytes is about what a chart of 33 quantiles and a few lines takes.
const chartBytes = 12_000

// write appends a value.
func (p *packer) write(v any) error {
	switch v := v.(type) {
	case lone:
		return p.quoted(string(v))
	case string:
		return p.text(v)
	case int:
		p.out = strconv.AppendInt(p.out, int64(v), 10)
	case list:
		p.out = append(p.out, '[')
		for i, x := range v {
			if i > 0 {
				p.out = append(p.out, ',')
			}
			if err := p.write(x); err != nil {
				return err
			}
		}
		p.out = append(p.out, ']')
	case object:
		return p.object(v)
	case columns:
		return p.columns(v)
	default:
		data, err := json.Marshal(v)
		p.out = append(p.out, data...)
		return err
	}
	return nil
}

// columns appends the place of columns in the list of them.
func (p *packer) columns(c columns) error {
	start := len(p.out)
	if err := p.write(list(c)); err != nil {
		return err
	}
	text := string(p.out[start:])
	at, ok := p.heads[text]
	if !ok {
		at = len(p.cols)
		p.heads[text], p.cols = at, append(p.cols, text)
	}
	p.out = strconv.AppendInt(p.out[:start], int64(at), 10)
	return nil
}

func (p *packer) object(o object) error {
	open := byte('{')
	if len(o) == 0 {
		p.out = append(p.out, open)
	}
	for _, m := range o {
		if m.value == "" {
			continue
		}
		p.out = append(append(append(p.out, open, '"'), m.name...), '"', ':')
		open = ','
		if err := p.write(m.value); err != nil {
			return err
		}
	}
	p.out = append(p.out, '}')
	return nil
}

// text appends a text, or its place in the list.
func (p *packer) text(s string) error {
	if p.often(s) {
		at, ok := p.place[s]
		if !ok {
			at = len(p.texts)
			p.place[s], p.texts = at, append(p.texts, s)
		}
		p.out = strconv.AppendInt(p.out, int64(at), 10)
		return nil
	}
	return p.quoted(s)
}

// quoted appends a text as JSON that can stand in a script; most need no escapes.
func (p *packer) quoted(s string) error {
	if strings.ContainsAny(s, "\"\\<>&\u2028\u2029") || !utf8.ValidString(s) || strings.ContainsFunc(s, isControl) {
		data, err := json.Marshal(s)
		p.out = append(p.out, data...)
		return err
	}
	p.out = append(append(append(p.out, '"'), s...), '"')
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
