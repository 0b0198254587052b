package ingest

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/glob"
	"github.com/ttreport/ttreport/ingest/table"
)

// engineLine matches what a server logs of itself while it runs, which is no result of a measurement.
var engineLine = lazyregexp.New(`(?i)avg (prompt|generation) throughput|engine \d+:|decode batch|running:? \d+`)

// unreadNumbers reports what no reader takes and what has numbers of a benchmark in it, by their names: whoever looks
// for them must not read that there is no problem.
func unreadNumbers(f *decode.File, m schema.Match) []schema.Problem {
	const mostSearched = 1 << 20 // how much of a file is searched for words of a benchmark
	p := schema.Problem{
		Severity: schema.SevWarning, Path: f.Path, Code: codeBenchmarkText, Used: "nothing of it",
		Expected: "a format that is read",
	}
	text, ext := f.Data[:min(len(f.Data), mostSearched)], extension(f.Path)
	isTold := false
	switch {
	case f.Form == decode.Binary:
		isTold = unreadBinary(&p, text)
	case f.Form == decode.JSON && m.Format == NotResult && m.Detail == nothingLike:
		isTold = unreadJSON(&p, f)
	case f.Form != decode.Text:
	case strings.Contains(f.Path, ".xlsx/xl/"):
		isTold = unreadWorkbook(&p, text)
	case slices.Contains(settings, ext) || ext == ".js" && dataScript.Match(text):
		isTold = unreadSettings(&p, f, text)
	case !slices.Contains(programs, ext):
		isTold = (ext == ".csv" || ext == ".tsv") && unreadTable(&p, f, text) || unreadText(&p, text, ext)
	}
	if !isTold {
		return nil
	}
	return []schema.Problem{p}
}

// codeAside is the code of a problem about numbers of files that are not there.
const codeAside = "without-results"

// unreadAside reports the numbers of a file that counts for nothing beside the results that it is of; quietLogs drops
// that where there are any.
func unreadAside(f *decode.File, m schema.Match) []schema.Problem {
	if !m.Aside {
		return nil
	}
	list := unreadNumbers(f, schema.Match{Format: NotResult, Detail: nothingLike})
	for i := range list {
		p := &list[i]
		p.Code, p.Expected = codeAside, "the files that the tool wrote of the runs themselves"
		p.Found = strings.TrimPrefix(m.Detail, "not a result: ") + ", without the results themselves: " +
			strings.TrimSuffix(p.Found, ofNoFormat)
	}
	return list
}

// dataScript matches a script that holds data for a page, as github-action-benchmark writes it.
var dataScript = lazyregexp.New(`(?m)^window\.\w+\s*=\s*[\[{]`)

// cellText is a text in the sheet of a workbook.
var cellText = lazyregexp.New(`<t(?: [^>]*)?>([^<]+)</t>`)

// unreadWorkbook completes the problem of a part of a workbook with headings of a benchmark; false for any other.
func unreadWorkbook(p *schema.Problem, text []byte) bool {
	var names []string
	for _, m := range cellText.FindAllSubmatch(text, 1000) {
		if name := string(m[1]); table.IsMeasured(name) && len(name) < 60 {
			names = append(names, name)
		}
	}
	p.Code, p.Found = "unread-numbers", "a workbook with cells called "+joinedNames(names)
	p.Hint = "export its sheets as CSV, and say under tables: in ttreport.yaml what the columns hold"
	return len(names) > 0
}

// unreadTable completes the problem of a table with columns of a benchmark, or one whose name or title says of which
// number its cells are; false for any other.
func unreadTable(p *schema.Problem, f *decode.File, text []byte) bool {
	head := headOf(f.Data)
	if columns := measuredColumns(head); columns != "" {
		p.Found, p.Hint = "a table with columns of a benchmark: "+columns, mappingHint(f)
		return true
	}
	title, _, _ := bytes.Cut(text, []byte("\n"))
	if namesRows.Match(head) {
		names := measuredWordsIn(text[len(title):])
		p.Found, p.Hint = "a table with a row for each number, such as "+names, oneColumnEach
		return names != ""
	}
	if title = bytes.TrimSpace(title); !bytes.HasPrefix(title, []byte("#")) {
		title = nil
	}
	file := strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path))
	for _, name := range []string{strings.TrimLeft(string(title), "# "), file} {
		if table.IsMeasured(name) && len(name) < 200 && (ofUnit.MatchString(name) || ofNumbers.Match(head)) &&
			numberBesideText.Match(text) {
			p.Found = "a table called " + plaintext.Short(name, 120) + ", with a column for each of what was measured"
			p.Hint = oneColumnEach
			return true
		}
	}
	return false
}

const oneColumnEach = "write it with a row for each measurement, and a column that is called after the number"

// What says that the cells of a table are of the number that it is called after: a unit, or headings that are numbers,
// such as loads; and a row of it with such a cell. Else each row may say of which number it is.
var (
	namesRows        = lazyregexp.New(`(?i)(?:^|[,;\t])\s*"?metric"?[,;\t].*\bvalue\b`)
	ofUnit           = lazyregexp.New(`(?i)[(_ ](?:ms|s|tok/s|tok_s|tps|t/s|req/s|%)(?:\W|$)`)
	ofNumbers        = lazyregexp.New(`^[^,;\t]*(?:[,;\t]\s*"?\w{0,3}\d+"?\s*)+$`)
	numberBesideText = lazyregexp.New(`(?m)^[^#\n][^\n]*[,;\t]\s*\d+\.?\d*\s*(?:[,;\t]|\r?$)`)
)

// headOf is the line of headings of a table: the first that is no comment.
func headOf(text []byte) []byte {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return line
		}
	}
	return nil
}

// measuredColumns lists the first columns of a line of headings that are called like a number of a benchmark; "" for
// none.
func measuredColumns(head []byte) string {
	var all, names []string
	for name := range strings.FieldsFuncSeq(string(head), func(r rune) bool { return strings.ContainsRune(",;\t", r) }) {
		name = strings.Trim(name, "\" \r")
		if all = append(all, strings.ToLower(name)); table.IsMeasured(name) && len(names) < 4 && len(name) < len(head) {
			names = append(names, name)
		}
	}
	if counted := tally(all); counted != "" && slices.Contains(all, "model") {
		names = append(names, counted)
	}
	return plaintext.Short(strings.Join(names, ", "), 120)
}

// code are files of programs, whose texts are no results: a test of a reader has one in quotes.
var code = strings.Fields(".py .go .mjs .ts .tsx .jsx .c .cc .cpp .h .hpp .cu .rs .java .kt .rb .css .scss .cmake " +
	".nix .patch .diff .lua .proto .bat .ps1")

// programs are these and other files that name numbers and hold none.
var programs = append(strings.Fields(".sh .js .lock .svg .j2 .tmpl .tpl .sql .json .jsonl .tex"), code...)

// settings are files of settings, in which numbers may have been kept.
var settings = strings.Fields(".yaml .yml .toml .ini .cfg .xml")

// fraction matches a setting that is no whole number, as what is measured; limits are whole, or are called so. whole
// matches one that is, as points in YAML may have.
var (
	fraction = lazyregexp.New(`([A-Za-z][\w/ .-]*)["']?\s*[:=>]\s*["']?\d+\.\d+(?:[^.\d]|\.\D|\.?$)`)
	whole    = lazyregexp.New(`(\w[\w/.-]*)["']?\s*:\s*\d+\s*(?:[,}#]|[\r\n]|$)`)
	ofLimit  = lazyregexp.New(
		`(?i)target|threshold|limit|slo|sla|min|max|tolerance|goal|weight|margin|expect|budget|timeout`)
)

// fractionsIn are the names of fractions in a text that are called like numbers of a benchmark.
func fractionsIn(text []byte) (names []string) {
	for _, m := range fraction.FindAllSubmatch(text, 1000) {
		if name := strings.TrimSpace(string(m[1])); table.IsMeasured(name) && !ofLimit.MatchString(name) {
			names = append(names, name)
		}
	}
	return names
}

// unreadSettings completes the problem of settings with fractions that are called like numbers of a benchmark, or of
// points in YAML with numbers of any kind; false for any other.
func unreadSettings(p *schema.Problem, f *decode.File, text []byte) bool {
	names := fractionsIn(text)
	isTwice, seen := false, map[string]bool{} // before the file is parsed, which takes long
	for _, m := range whole.FindAllSubmatch(text, 1000) {
		name := string(m[1])
		isTwice = isTwice || seen[name] && table.IsMeasured(name)
		seen[name] = true
	}
	var inner *decode.File
	if len(names) > 0 || isTwice {
		inner, _ = f.FromYAML()
	}
	if len(names) == 0 && inner != nil {
		names = namesOfPoints(inner)
	}
	p.Code, p.Found = "unread-numbers", "numbers called "+joinedNames(names)
	p.Hint = "keep them as JSON or CSV; ttreport help files lists what is read"
	if inner != nil {
		p.Hint = mappingHint(inner)
	}
	return len(names) > 0
}

// namesOfPoints are the names of numbers of a benchmark that several objects of a file have, as points do; those of
// bounds are left out.
func namesOfPoints(f *decode.File) (names []string) {
	left, objects := 5000, map[string]int{}
	var look func(v decode.Value)
	look = func(v decode.Value) {
		for _, m := range v.Members() {
			switch {
			case left < 0 || limits.MatchString(m.Key):
			case m.Val.Kind() == decode.Object || m.Val.Kind() == decode.Array:
				look(m.Val)
			case m.Val.Kind() == decode.Number && table.IsMeasured(m.Key) && !ofLimit.MatchString(m.Key):
				if objects[m.Key]++; objects[m.Key] == 2 {
					names = append(names, m.Key)
				}
			}
			left--
		}
		for x := range v.Items() {
			look(x)
		}
	}
	for v := range f.Values() {
		look(v)
	}
	return names
}

// unreadBinary completes the problem of a database, or of a table in binary form, with columns of a benchmark; false
// for any other.
func unreadBinary(p *schema.Problem, text []byte) bool {
	names := measuredWordsIn(text)
	p.Code, p.Found = "unread-numbers", "a database or a table in binary form with columns called "+names
	if p.Hint = "say under tables: in ttreport.yaml what the columns hold"; !table.IsParquet(p.Path) {
		p.Hint = "export it as CSV or JSON lines, and " + p.Hint
	}
	return names != ""
}

// measuredWordsIn lists the first words of a text that name a number of a benchmark; "" for none.
func measuredWordsIn(text []byte) string {
	isOther := func(w string) bool { return !table.IsMeasured(w) }
	return joinedNames(slices.DeleteFunc(word.FindAllString(string(text), -1), isOther))
}

// stores are the extensions of binary files in which tables are kept.
var stores = strings.Fields(".parquet .sqlite .sqlite3 .db .duckdb .arrow .feather .pkl")

// word is the name of a column in a binary file.
var word = lazyregexp.New(`[A-Za-z][\w/]{2,60}`)

// extension is that of a file's name without its compression, in lower case.
func extension(name string) string {
	return strings.ToLower(path.Ext(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")))
}

// mappingHint proposes the mapping of a table, or of JSON, that nothing reads.
func mappingHint(f *decode.File) string {
	mapping := ""
	if f.Form == decode.JSON {
		mapping = table.ProposeJSON(f.First)
	} else {
		mapping = table.Propose(headOf(f.Data))
	}
	switch {
	case mapping != "": // nameMappings says of which files
		return table.Hint("if a row is a point, begin with this in ttreport.yaml, and correct it; see ttreport help files:",
			table.Proposal{Files: f.Path, Rest: mapping})
	case f.Form == decode.JSON:
		return "say under tables: in ttreport.yaml what they are, and rows: where they stand; see ttreport help files"
	}
	return "if a row is a point, say what the columns hold under tables: in ttreport.yaml; see ttreport help files"
}

// unreadText completes the problem of a text with numbers of a benchmark; false for any other. Prose names numbers, so
// that in documents two lines must state one.
func unreadText(p *schema.Problem, text []byte, ext string) bool {
	isPage := slices.Contains([]string{".html", ".htm"}, ext)
	if isPage && (bytes.Contains(text, []byte("{%")) || bytes.Contains(text, []byte("{{"))) { // which a program fills in
		return false
	}
	page := text
	if isPage {
		text = tag.ReplaceAll(text, []byte(" "))
	}
	text = bytes.ReplaceAll(text, []byte("**"), nil) // of a document: what is printed bold, and as code
	text = bytes.ReplaceAll(text, []byte("`"), nil)
	text = bytes.ReplaceAll(text, []byte("│"), []byte("|")) // as AIPerf and others draw tables
	found := searched{isDocument: ext == ".md"}
	if found.search(text); found.row != "" {
		p.Found = fmt.Sprintf("a table with numbers of a benchmark, as in %q", redact.Text(found.row))
		p.Hint = "keep the files that the tool wrote beside it, or the numbers as CSV; ttreport help files says what is read"
		return true
	}
	p.Found = fmt.Sprintf("a text with %s like those of a benchmark, the first %q, of no tool whose output is read",
		plaintext.Plural(found.lines, "line"), redact.Text(found.first))
	p.Hint = "ttreport help files lists what is read; let the tool write its result file, or keep the numbers in a table"
	isOfRun := !found.isDocument || dateName.MatchString(path.Base(p.Path)) // as a date in its name says of a document
	return found.lines > 1 || found.lines == 1 && isOfRun || isPage && unreadPage(p, page)
}

// unreadPage completes the problem of a page whose scripts hold or draw numbers of a benchmark; false for any other.
func unreadPage(p *schema.Problem, page []byte) bool {
	var names []string
	for _, m := range chartText.FindAllSubmatch(page, 1000) {
		if name := string(m[1]); table.IsMeasured(name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 && !chart.Match(page) {
		names = nil
	}
	names = append(names, fractionsIn(page)...)
	p.Code, p.Found = "unread-numbers", "a page with charts or data of "+joinedNames(names)
	p.Hint = "keep the results that it was made of beside it"
	return len(names) > 0
}

// searched is what a search of a text for numbers of a benchmark found.
type searched struct {
	isDocument bool   // of prose, in which lines count that state nothing else
	lines      int    // that state a number
	first      string // of them, from what it names
	row        string // of a table with numbers: its headings if these name them, else itself
}

// search looks for a row of a table with numbers that its headings name, or itself, and for lines that state a number
// beside its name or with the unit of a throughput.
func (f *searched) search(text []byte) {
	rows := tableSearch{known: map[string]bool{}}
	isTitled := false // by a line such as "TTFT (s):", above lines that are indented
	for line := range bytes.Lines(text) {
		isBelow := line[0] == ' ' || line[0] == '\t'
		if line = bytes.TrimSpace(line); len(line) == 0 || rule.Match(line) {
			continue
		}
		may := mayBeMeasured(line)
		if f.row = rows.row(line, may || bytes.IndexByte(line, '|') >= 0); f.row != "" {
			return
		}
		isTitled = isTitled && isBelow
		if at := measuredAt(line, isTitled); at >= 0 && (may || isTitled) && !f.isProse(line) {
			if f.lines++; f.lines == 1 {
				f.first = excerpt(line[at:])
			}
		}
		isTitled = isTitled || may && isTitle(line)
	}
}

// isTitle reports a line that names the number of the lines below it.
func isTitle(line []byte) bool {
	return len(line) < 60 && line[len(line)-1] == ':' && table.IsMeasured(string(line))
}

// isProse reports a line that states no result, whatever it names: of prose, or of what a server logs while it runs.
func (f *searched) isProse(line []byte) bool {
	const longest, longestOfDocument = 400, 80
	isSentence := f.isDocument && (len(line) > longestOfDocument || line[len(line)-1] == '.')
	return len(line) > longest || isSentence || engineLine.Match(line)
}

// tableSearch goes through the lines of a text.
type tableSearch struct {
	head    []byte          // that the next line may be a row of
	named   int             // how many of its cells name a number
	isPiped bool            // its cells stand between bars
	known   map[string]bool // whether a cell names one: a text has few words, each of them many times
}

// row is the row of a table with numbers that a line is, or its headings if these name them; "" where it is none. may
// says that the line may name a number.
func (t *tableSearch) row(line []byte, may bool) string {
	least := 2 // cells, where these may be words of a sentence
	if isPiped := bytes.IndexByte(line, '|') >= 0; isPiped != t.isPiped {
		*t = tableSearch{isPiped: isPiped, known: t.known}
	}
	if !may && t.head == nil {
		return ""
	}
	if t.isPiped {
		least = 1
	}
	names, numbers := t.cellsOf(line, may)
	switch {
	case t.isPiped && t.head == nil, numbers == 0 && names >= least: // headings may have two lines
		t.head, t.named = line, names
	case t.head != nil && min(numbers, t.named) >= least:
		return excerpt(t.head)
	case t.isPiped && min(numbers, names) > 0:
		return excerpt(line)
	case !t.isPiped:
		t.head = nil
	}
	return ""
}

// cellsOf counts the cells of a line that name a number of a benchmark, where it may name one, and those that are
// numbers. They stand between bars, commas or blanks.
func (t *tableSearch) cellsOf(line []byte, may bool) (names, numbers int) {
	cells := strings.FieldsSeq(string(line))
	for _, separator := range []string{",", "|"} {
		if n := strings.Count(string(line), separator); n > 1 || n == 1 && separator == "|" {
			cells = strings.SplitSeq(string(line), separator)
		}
	}
	for cell := range cells {
		switch cell = strings.Trim(cell, " \t\""); {
		case numberCell.MatchString(cell):
			if numbers++; t.isPiped && may && withMeasuredUnit.MatchString(cell) { // whatever its heading says
				names++
			}
		case may && (t.isPiped || mayBeMeasured([]byte(cell))) && t.isName(cell):
			names++
		}
	}
	return names, numbers
}

// isName reports a cell that names a number of a benchmark.
func (t *tableSearch) isName(cell string) bool {
	const most = 1000
	is, known := t.known[cell]
	if !known {
		if is = table.IsMeasured(cell); len(t.known) < most {
			t.known[cell] = is
		}
	}
	return is
}

// measuredAt is where a line begins to state a number of a benchmark: at its name, which below a title is any, or at
// the first of a throughput; -1 for nowhere.
func measuredAt(line []byte, isTitled bool) int {
	for _, pair := range stated.FindAllStringSubmatchIndex(string(line), 20) {
		name := strings.TrimSpace(string(line[pair[2]:pair[3]]))
		if (isTitled || table.IsMeasured(name)) && !ofLimit.MatchString(name) {
			return pair[2]
		}
	}
	if at := withMeasuredUnit.FindIndex(line); at != nil {
		return at[0]
	}
	return -1
}

var (
	// stated matches a number behind its name, perhaps with labels, and a sign, or behind a name at the end of a line,
	// where it may be one of several.
	stated = lazyregexp.New(`([A-Za-z][\w/ .@^()%-]{0,58})(?:\{[^}]*\})?(?:["']?\s*[:=>]\s*["'~]?\d|` +
		`(?:\s+\d[\d.,/]*)+\s*\S{0,5}$)`)
	// withMeasuredUnit matches a throughput by its unit, or a score behind its name.
	withMeasuredUnit = lazyregexp.New(`(?i)\d[\d.,]*\s*(?:tok(?:en)?s?(?:/s|[ -]per[ -]sec)|t/s\b)|` +
		`\b(?:acc|accuracy)\s+[01]?\.\d\d`)
	// numberCell matches a cell of a table that is a number, perhaps with its unit or deviation.
	numberCell = lazyregexp.New(`(?i)^[*~≈]*\d[\d.,]*\s*(?:%|[mµu]?s|x|W|tok(?:en)?s?/s|t/s)?\s*(?:±.*)?[*;]*$`)
)

var (
	// tag matches what a page shows nothing of.
	tag = lazyregexp.New(`(?is)<script.*?</script>|<style.*?</style>|` +
		`</?(?:t\w+|span|b|i|strong|code)\b[^>]*>\s*|<[^>]*>`)
	// chart matches what draws a chart of a page, with numbers; chartText what it or its axes are called.
	chart     = lazyregexp.New(`(?s)(?:Plotly\.newPlot|new Chart|vegaEmbed|Highcharts\.chart)\(.*?[\[,:]\s*\d+\.\d`)
	chartText = lazyregexp.New(`\b(?:text|title|name|label)["']?\s*:\s*["']([^"'<>\\\n]{3,60})["']`)
	// rule matches a line that is drawn.
	rule = lazyregexp.New(`^[-=+|:_\s]*$`)
)

// unreadJSON completes the problem of JSON, or of a notebook, with numbers of a benchmark; false for any other.
func unreadJSON(p *schema.Problem, f *decode.File) bool {
	const mostLines = 40 // the others have the same names
	names, n := "", 0
	for v := range f.Values() {
		if names = measuredNames(v); names != "" || n == mostLines {
			break
		}
		n++
	}
	if names == "" {
		cells := f.First.Get("cells") // of a Jupyter notebook, whose cells printed something
		var text []byte
		for cell := range cells.Items() {
			for output := range cell.Get("outputs").Items() {
				for _, lines := range []decode.Value{
					output.Get("text"), output.At("data", "text/plain"), output.At("data", "text/html"),
				} {
					for line := range lines.Items() {
						text = append(append(text, strings.TrimSpace(line.Str())...), '\n')
					}
				}
			}
		}
		return cells.Kind() == decode.Array && unreadText(p, tag.ReplaceAll(text, []byte(" ")), ".ipynb")
	}
	p.Code, p.Found = "unread-numbers", "numbers called "+names+ofNoFormat
	p.Hint = mappingHint(f)
	return true
}

const ofNoFormat = ", in JSON of no known format"

// measuredNames lists the first names of numbers of a benchmark in a value, each once; "" for none. Of a list the first
// items are searched: the others have the same names. Of an object the first members are: to search 250,000 takes a
// second.
func measuredNames(v decode.Value) string {
	const deepest, mostItems = 24, 40
	left := 5000
	var names []string
	var look func(v decode.Value, depth int, hasModel, areLimits bool)
	look = func(v decode.Value, depth int, hasModel, areLimits bool) {
		hasModel = hasModel || v.HasAny("model", "model_name", "model_id")
		names = append(names, measuredMembers(v, hasModel, areLimits)...)
		names = append(names, columnsOf(v)...)
		n := 0
		each := func(x decode.Value, areLimits bool) bool {
			left--
			if depth > 0 && left > 0 {
				look(x, depth-1, hasModel, areLimits)
			}
			return left > 0
		}
		for _, m := range v.Members() {
			if !each(m.Val, areLimits || limits.MatchString(m.Key)) {
				return
			}
		}
		for x := range v.Items() {
			if n++; n > mostItems || !each(x, areLimits) {
				return
			}
		}
	}
	look(v, deepest, false, false)
	return joinedNames(names)
}

// limits matches the name of an object in which numbers of a benchmark are bounds.
var limits = lazyregexp.New(`(?i)^(?:slos?|slas?|targets?|thresholds?|limits?|alerts?|budgets?|goals?|expect\w*)$`)

// hasNumbers reports an object with a mean or a percentile, or with several fractions, as of each system.
func hasNumbers(v decode.Value) bool {
	fractions := 0
	for _, m := range v.Members() {
		stat, _ := schema.ParseStat(m.Key)
		if m.Val.Kind() == decode.Number && (stat == "mean" || stat == "median" || strings.HasPrefix(stat, "p")) {
			return true
		}
		if x := m.Val.Float0(); x != math.Trunc(x) {
			if fractions++; m.Key == "value" {
				return true
			}
		}
		if ofLimit.MatchString(m.Key) {
			return false
		}
	}
	return fractions > 1
}

// tally is what names of numbers say of answers of a model that were counted: "passed of total"; "" for anything else.
func tally(names []string) string {
	passed, total := "", ""
	for _, name := range names {
		switch low := strings.ToLower(name); {
		case passes(low):
			passed = name
		case totals(low):
			total = name
		}
	}
	if passed == "" || total == "" {
		return ""
	}
	return passed + " of " + total
}

var (
	passes = draft.Names("passed correct solved resolved n_correct num_correct num_passed")
	totals = draft.Names("total n count n_total num_total total_questions attempted num_samples")
)

// measuredMembers are the members of an object that are numbers of a benchmark by their names, or by one beside them,
// as in {"name": "Throughput", "value": 101.2}. hasModel says that what is counted in it is of a model, areLimits that
// its numbers are bounds.
func measuredMembers(v decode.Value, hasModel, areLimits bool) (names []string) {
	const most = 5000
	var numbers []string
	members := v.Members()
	members = members[:min(len(members), most)]
	isUntimed := slices.ContainsFunc(members, func(m decode.Member) bool { // a request whose first token nobody timed
		return m.Val.Kind() == decode.Null && table.IsMeasured(m.Key)
	})
	for _, m := range members {
		if isMeasurement(m, areLimits) {
			names = append(names, m.Key)
		}
		if m.Val.Kind() == decode.Number {
			numbers = append(numbers, m.Key)
		}
	}
	if isUntimed {
		isOther := func(name string) bool { return !strings.Contains(name, "tokens") }
		names = append(names, slices.DeleteFunc(slices.Clone(numbers), isOther)...)
	}
	if _, isGraded := v.Get("correct").Truth(); isGraded && v.HasAny("model", "response") { // an answer of a model
		names = append(names, "correct")
	}
	for _, key := range []string{"name", "metric", "label", "unit"} {
		if text := v.Get(key).Str(); len(numbers) > 0 && len(text) < 60 && table.IsMeasured(text) {
			names = append(names, text)
		}
	}
	if hasModel {
		if counted := tally(numbers); counted != "" {
			names = append(names, counted)
		}
	}
	return names
}

// isMeasurement reports a member with numbers, or a text of one with its unit, that is called like one of a benchmark.
func isMeasurement(m decode.Member, areLimits bool) bool {
	first := m.Val
	for first.Kind() == decode.Array && first.Len() > 0 { // a list of lists has an item for each step
		first = first.Index(0)
	}
	isText := first.Kind() == decode.String && withUnit.MatchString(m.Val.Text())
	isNumber := first.Kind() == decode.Number || !areLimits && hasNumbers(first)
	return (isNumber || isText) && table.IsMeasured(m.Key)
}

// withUnit matches a number with a unit, as a text, or a fraction that is printed bold.
var withUnit = lazyregexp.New(`^\s*\d[\d.,]*\s*(?:s|ms|µs|us|%|t/s|tok(?:en)?s?/s\S*|req/s)\s*$|^\*\*\d+\.\d+\*\*$`)

// columnsOf are the measured columns of a table in JSON: a list of names before lists of numbers, or beside one.
func columnsOf(v decode.Value) (names []string) {
	take := func(list decode.Value) {
		for x := range list.Items() {
			if text := x.Str(); len(text) < 60 && table.IsMeasured(text) {
				names = append(names, text)
			}
		}
	}
	isRow := func(list decode.Value) bool {
		for x := range list.Items() {
			if x.Kind() == decode.Number {
				return true
			}
		}
		return false
	}
	if head := v.Index(0); head.Kind() == decode.Array && isRow(v.Index(1)) {
		take(head)
	}
	var heads []decode.Value
	hasRows := false
	for _, m := range v.Members() {
		if m.Val.Index(0).Kind() == decode.String {
			heads = append(heads, m.Val)
		}
		hasRows = hasRows || m.Val.Index(0).Kind() == decode.Array && isRow(m.Val.Index(0))
	}
	if hasRows {
		for _, h := range heads {
			take(h)
		}
	}
	return names
}

// joinedNames lists the first of some names, each once; "" for none.
func joinedNames(names []string) string {
	const most = 4
	seen := map[string]bool{}
	names = slices.DeleteFunc(names, func(s string) bool {
		was := seen[s]
		seen[s] = true
		return was
	})
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return redact.Text(strings.Join(names, ", "))
}

// mayBeMeasured reports a line with a word that names of numbers of a benchmark have: nearly all lines of a log have
// none, and looking for words costs a tenth of matching.
func mayBeMeasured(line []byte) bool {
	low := bytes.ToLower(line)
	for _, word := range measuredWords {
		if bytes.Contains(low, []byte(word)) {
			return true
		}
	}
	return false
}

// measuredWords are such words; a request by itself is in most lines of a server's log.
var measuredWords = strings.Fields("ttft tpot itl e2el tok t/s throughput latency acc avg_ts q/s qs/s ts/s per_s " +
	"per-s qps exact pass score perplex ppl map rouge f1 bleu recall")

// codeBenchmarkText is the code of a problem about a text or a table with numbers of a benchmark.
const codeBenchmarkText = "benchmark-text"

// quietLogs drops the notes on logs of a tool beside its file: in a folder where results were read, or above them, what
// is called like one of the results, or like a log where no result is one. Of other texts there a note stays: they may
// say the same again.
func quietLogs(sources []*source) {
	withResults, stems, kinds := map[string]bool{}, map[string]bool{}, map[[2]string]bool{}
	for _, s := range sources {
		if !s.counts() {
			continue
		}
		stems[s.stem()], kinds[[2]string{path.Dir(s.shown()), extension(s.rel)}] = true, true
		for dir := range foldersOf(s.shown()) {
			if withResults[dir] {
				break
			}
			withResults[dir] = dir != "." && dir != "/"
		}
	}
	for _, s := range sources {
		s.quietAside(withResults, len(stems) > 0)
		isTable := slices.Contains([]string{".csv", ".tsv"}, extension(s.rel)) // of numbers that may be nowhere else
		if s.reading.Format != NotResult || isTable || !withResults[path.Dir(s.shown())] {
			continue
		}
		isLog := logName.MatchString(path.Base(s.rel)) && !kinds[[2]string{path.Dir(s.shown()), extension(s.rel)}]
		s.reading.Problems = slices.DeleteFunc(s.reading.Problems, func(p schema.Problem) bool {
			return p.Code == codeBenchmarkText && (isLog || stems[s.stem()])
		})
		for i := range s.reading.Problems {
			if p := &s.reading.Problems[i]; p.Code == codeBenchmarkText {
				p.Severity = schema.SevNote
			}
		}
	}
}

// quietAside drops the warning about a file that counts for nothing beside results, where results were read in or below
// one of the three folders around it.
func (s *source) quietAside(withResults map[string]bool, hasAny bool) {
	around, has := path.Dir(s.shown()), false
	for range 3 {
		has = has || withResults[around] || around == "." && hasAny
		around = path.Dir(around)
	}
	s.reading.Problems = slices.DeleteFunc(s.reading.Problems, func(p schema.Problem) bool {
		return p.Code == codeAside && has
	})
}

// nameMappings says of which files the mappings are that are proposed: of all that have one structure, by a pattern of
// their names. It may match others, since a mapping reads what has its columns; what is read without one is left out.
func nameMappings(sources []*source) {
	type structure struct{ ext, rest string }
	type proposal struct {
		file, text string
		of         *schema.Problem
	}
	proposals := map[structure][]proposal{}
	for _, s := range sources {
		for i := range s.reading.Problems {
			p := &s.reading.Problems[i]
			if text, list := table.Proposed(p.Hint); len(list) > 0 {
				k := structure{path.Ext(s.shown()), list[0].Rest}
				proposals[k] = append(proposals[k], proposal{s.shown(), text, p})
			}
		}
	}
	for k, of := range proposals {
		var files []string
		for _, p := range of {
			files = append(files, p.file)
		}
		pattern := patternOf(files)
		isTaken := func(s *source) bool { return s.counts() && glob.Match("**/"+pattern, s.shown()) }
		areApart := slices.ContainsFunc(sources, isTaken)
		for _, p := range of {
			if areApart {
				pattern = asName.ReplaceAllString(p.file, "?")
			}
			p.of.Hint = table.Hint(p.text, table.Proposal{Files: pattern, Rest: k.rest})
		}
	}
}

var (
	// asName matches what a pattern would not take as it stands in a name.
	asName = lazyregexp.New(`[*?{}\[\]\\"]`)
	// counters are what tells the files of one kind apart, dates and numbers, and what a pattern would take for its own.
	counters = lazyregexp.New(`\d[\d_.:T-]*\d|\d|[*?{}\[\]\\]+`)
)

// patternOf matches the names of some files: the name that all have, but for numbers, else how all begin, in their
// folder where they share one.
func patternOf(files []string) string {
	begin, form := path.Base(files[0]), counters.ReplaceAllString(path.Base(files[0]), "*")
	if !slices.ContainsFunc(files, func(f string) bool { return path.Base(f) != begin }) {
		return asName.ReplaceAllString(begin, "?")
	}
	ext, folder := path.Ext(begin), path.Base(path.Dir(files[0]))
	for _, f := range files {
		name := path.Base(f)
		if path.Base(path.Dir(f)) != folder {
			folder = ""
		}
		if counters.ReplaceAllString(name, "*") != form {
			form = ""
		}
		for !strings.HasPrefix(name, begin) {
			begin = begin[:len(begin)-1]
		}
	}
	whole := strings.TrimRightFunc(begin, func(r rune) bool { return !strings.ContainsRune("-_. ", r) })
	return cmp.Or(form, path.Join(asName.ReplaceAllString(folder, "?"), asName.ReplaceAllString(whole, "?")+"*"+ext))
}

// logName matches the name of what a program printed.
var logName = lazyregexp.New(
	`(?i)(?:^|[-_.])(?:logs?|out|err|stdout|stderr|console|output|server|nohup)(?:$|[-_.\d])`)

// ailing recognises files that version control left in a state in which they are no results, by what stands in them.
// ok is false for any other.
func ailing(f *decode.File) (r schema.Reading, ok bool) {
	ext := strings.ToLower(path.Ext(f.Path)) // pictures and models are pointers too, and nobody misses them
	if !slices.Contains(strings.Fields(".json .jsonl .ndjson .csv .txt .log .yaml .yml .gz .zst .zip .tar .tgz .eval "+
		".out .js .md"), ext) {
		return r, false
	}
	p := schema.Problem{Severity: schema.SevWarning, Path: f.Path, Used: "nothing of it"}
	switch {
	case f.Form == decode.Text && bytes.HasPrefix(f.Data, []byte("version https://git-lfs.github.com/spec/")):
		p.Code, p.Found, p.Expected = "lfs-pointer", "a pointer of Git LFS in place of the file", "the file"
		p.Hint = "git lfs pull"
	case hasConflict(f.Data):
		p.Severity, p.Code, p.Found = schema.SevError, "conflict", "the marks of a merge that was not finished (<<<<<<<)"
		p.Expected, p.Hint = "one version of the file", "git checkout --ours or --theirs for the file, then git add it"
	default:
		return r, false
	}
	return schema.Reading{Format: Unknown, Detail: p.Found, Problems: []schema.Problem{p}}, true
}

// hasConflict reports the three marks of a conflict, each at the beginning of a line and in their order.
func hasConflict(data []byte) bool {
	for _, mark := range []string{"\n<<<<<<< ", "\n=======", "\n>>>>>>> "} {
		at := bytes.Index(data, []byte(mark))
		if at < 0 && bytes.HasPrefix(data, []byte(mark[1:])) {
			at = 0
		}
		if at < 0 {
			return false
		}
		data = data[at+1:]
	}
	return true
}

// tellOfUnread gives runs the errors of files in their folders from which nothing was read. The next build may not see
// these files, and what the run lacks would have no cause.
func (g *grouping) tellOfUnread(sources []*source) {
	const mostUnread = 16                   // runs that are told: in a folder of hundreds nobody knows whose the file was
	unread := map[string][]schema.Problem{} // by folder
	for _, src := range sources {
		if n := src.measured(); n.points+n.scores > 0 {
			continue
		}
		for _, p := range src.reading.Problems {
			if p.Severity == schema.SevError {
				p.Code = schema.CodeUnread
				unread[path.Dir(src.shown())] = append(unread[path.Dir(src.shown())], p)
			}
		}
	}
	runs := map[string][]string{} // ids by folder
	for src, id := range g.runOf {
		if at := path.Dir(src.shown()); len(unread[at]) > 0 && !slices.Contains(runs[at], id) {
			runs[at] = append(runs[at], id)
		}
	}
	for i := range g.runs {
		run := &g.runs[i]
		for _, at := range slices.Sorted(maps.Keys(unread)) { // the same order each time
			if len(runs[at]) <= mostUnread && slices.Contains(runs[at], run.ID) {
				run.Problems = append(run.Problems, unread[at]...)
			}
		}
	}
}
