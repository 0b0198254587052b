package ingest

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/table"
)

// measuredLine matches a line that states a latency, a throughput or a score of a model.
var measuredLine = regexp.MustCompile(`(?i)(\b(ttft|tpot|itl|e2el)\b|time to first token|inter.token latency|` +
	`time per output token|tok(en)?s?/s|tok(en)?s? per sec|throughput|req(uest)?s?/s|` +
	`(mean|median|avg|average|p\d\d)[ _](e2e[ _])?latency|latency[ _](mean|median|avg|average|p\d\d)).{0,60}\d|` +
	`\b(accuracy|exact[ _]match|pass@\d+|perplexity|ppl)\s*[:=]\s*\d`)

// heading matches a column with such numbers, or with scores of an eval.
var heading = regexp.MustCompile(`(?i)ttft|tpot|tok(en)?s?[ _/]*(per[ _]|/)s|\bt/s\b|throughput|latency|` +
	`first.token|\btps\b|perplexity|\bppl\b|` + evals)

// knownEval matches a row with such scores.
var knownEval = regexp.MustCompile("(?i)" + evals)

// evals are names that leaderboards have in their headings.
const evals = `\b(?:mmlu|gsm8k|hellaswag|truthful_?qa|winogrande|humaneval|mbpp|gpqa|bbh|ifeval|aime|musr|mt-bench|` +
	`arc[-_ ]?(?:c|e|challenge|easy)|livecodebench|math[-_ ]?(?:500|lvl)|swe-bench)\b`

// engineLine matches what a server logs of itself while it runs, which is no result of a measurement.
var engineLine = regexp.MustCompile(`(?i)avg (prompt|generation) throughput|engine \d+:|decode batch|running:? \d+`)

// mostSearched is how much of a file is searched for words of a benchmark.
const mostSearched = 1 << 20

// unreadNumbers reports what no reader takes and what has numbers of a benchmark in it, by their names: whoever looks
// for them must not read that there is no problem.
func unreadNumbers(f *decode.File, m schema.Match) []schema.Problem {
	p := schema.Problem{
		Severity: schema.SevWarning, Path: f.Path, Code: codeBenchmarkText, Used: "nothing of it",
		Expected: "a format that is read",
	}
	text, ext := f.Data[:min(len(f.Data), mostSearched)], extension(f.Path)
	switch {
	case f.Form == decode.Binary:
		isOther := func(w string) bool { return !table.IsMeasured(w) }
		names := joinedNames(slices.DeleteFunc(word.FindAllString(string(text), -1), isOther))
		if names == "" {
			return nil
		}
		p.Code, p.Found = "unread-numbers", "a database or a table in binary form with columns called "+names
		if p.Hint = "say under tables: in ttreport.yaml what the columns hold"; !table.IsParquet(f.Path) {
			p.Hint = "export it as CSV or JSON lines, and " + p.Hint
		}
	case f.Form == decode.JSON && m.Format == NotResult && m.Detail == nothingLike:
		if !unreadJSON(&p, f) {
			return nil
		}
	case f.Form != decode.Text:
		return nil
	case ext == ".csv" || ext == ".tsv":
		first, _, _ := bytes.Cut(f.Data, []byte("\n"))
		if !heading.Match(first) || !bytes.ContainsAny(first, ",;\t") {
			return nil
		}
		p.Found = "a table with columns of a benchmark: " + measuredColumns(first)
		p.Hint = mappingHint(f)
	case slices.Contains(programs, ext) || !unreadText(&p, text, ext):
		return nil
	}
	return []schema.Problem{p}
}

// measuredColumns lists the first columns of a line of headings that are called like a number of a benchmark.
func measuredColumns(head []byte) string {
	var names []string
	for name := range strings.FieldsFuncSeq(string(head), func(r rune) bool { return strings.ContainsRune(",;\t", r) }) {
		if name = strings.Trim(name, "\" \r"); heading.MatchString(name) && len(names) < 4 {
			names = append(names, name)
		}
	}
	return plaintext.Short(strings.Join(names, ", "), 120)
}

// programs are files of programs and of their settings, which name numbers and hold none.
var programs = strings.Fields(".py .sh .go .js .mjs .ts .tsx .jsx .c .cc .cpp .h .hpp .cu .rs .java .kt .rb " +
	".css .scss .cfg .toml .ini .cmake .lock .svg .patch .diff .j2 .tmpl .tpl .bat .ps1 .lua .proto .sql " +
	".yaml .yml .json .jsonl .tex")

// stores are the extensions of binary files in which tables are kept.
var stores = strings.Fields(".parquet .sqlite .sqlite3 .db .duckdb .arrow .feather .pkl")

// word is the name of a column in a binary file.
var word = regexp.MustCompile(`[A-Za-z][\w/]{2,60}`)

// extension is that of a file's name without its compression, in lower case.
func extension(name string) string {
	return strings.ToLower(path.Ext(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")))
}

// mappingHint proposes the mapping of a table, or of JSON, that nothing reads.
func mappingHint(f *decode.File) string {
	mapping := ""
	if f.Form == decode.JSON {
		mapping = table.ProposeJSON(f.Path, f.First)
	} else {
		first, _, _ := bytes.Cut(f.Data, []byte("\n"))
		mapping = table.Propose(f.Path, first)
	}
	switch {
	case mapping != "":
		return "if a row is a point, begin with this in ttreport.yaml, and correct it; see ttreport help files:\n" + mapping
	case f.Form == decode.JSON:
		return "say under tables: in ttreport.yaml what they are, and rows: where they stand; see ttreport help files"
	}
	return "if a row is a point, say what the columns hold under tables: in ttreport.yaml; see ttreport help files"
}

// measuredRow is a row of a table in markdown that has a number, or the heading of its column, called like one of a
// benchmark; "" for none.
func measuredRow(text []byte) string {
	var head []byte
	for line := range bytes.Lines(text) {
		switch line = bytes.TrimSpace(line); {
		case !bytes.HasPrefix(line, []byte("|")):
			head = nil
		case head == nil:
			head = line
		case !numberCell.Match(line):
		case heading.Match(head) || table.IsMeasured(string(head)):
			return excerpt(head)
		case table.IsMeasured(string(line)) || knownEval.Match(line):
			return excerpt(line)
		}
	}
	return ""
}

// numberCell matches a cell of a table that is a number, perhaps with its unit or deviation.
var numberCell = regexp.MustCompile(`\|\s*[*~≈]*\d[\d.,]*\s*(?:%|[mµu]?s|x|tok/s|t/s)?\s*(?:±[^|]*)?[*]*\s*\|`)

// unreadText completes the problem of a text with numbers of a benchmark; false for any other.
func unreadText(p *schema.Problem, text []byte, ext string) bool {
	if row := measuredRow(text); row != "" || ext == ".md" {
		p.Found = fmt.Sprintf("a table with numbers of a benchmark, as in %q", redact.Text(row))
		p.Hint = "keep the files that the tool wrote beside it, or the numbers as CSV; ttreport help files says what is read"
		return row != ""
	}
	lines, first, words := 0, "", ""
	for line := range bytes.Lines(text) {
		if len(line) < 400 && mayBeMeasured(line) && measuredLine.Match(line) && !engineLine.Match(line) {
			if lines++; lines == 1 {
				first, words = excerpt(line), excerpt(line)
				if at := measuredLine.FindIndex(line)[0]; at > 40 { // behind the stamp of a log
					words = excerpt(line[at:])
				}
			}
		}
	}
	p.Found = fmt.Sprintf("a text with %s like those of a benchmark, the first %q, of no tool whose output is read",
		plaintext.Plural(lines, "line"), redact.Text(words))
	p.Hint = "ttreport help files lists what is read; let the tool write its result file, or keep the numbers in a table"
	return lines > 1 || lines == 1 && statedLine.MatchString(first)
}

// unreadJSON completes the problem of JSON, or of a notebook, with numbers of a benchmark; false for any other.
func unreadJSON(p *schema.Problem, f *decode.File) bool {
	names := measuredNames(f.First)
	if names == "" {
		return extension(f.Path) == ".ipynb" && unreadText(p, notebook(f.First), ".ipynb")
	}
	p.Code, p.Found = "unread-numbers", "numbers called "+names+", in JSON of no known format"
	p.Hint = mappingHint(f)
	return true
}

// statedLine matches a line whose number is that of a benchmark, where a text has no other.
var statedLine = regexp.MustCompile(`(?i)^[^.]{0,30}(ttft|tpot|itl|e2el|latency|throughput|tok(en)?s?/s)` +
	`[^.,;]{0,20}[:=]\s*\d|^[^.]{0,30}\b(perplexity|ppl)\s*[:=]\s*\d`)

// notebook is what the cells of a Jupyter notebook printed.
func notebook(v decode.Value) []byte {
	var text []byte
	for cell := range v.Get("cells").Items() {
		for output := range cell.Get("outputs").Items() {
			for line := range output.Get("text").Items() {
				text = append(append(text, strings.TrimSpace(line.Str())...), '\n')
			}
		}
	}
	return text
}

// measuredNames lists the first names of numbers of a benchmark in a value, each once; "" for none. Of a list the first
// items are searched: the others have the same names.
func measuredNames(v decode.Value) string {
	const deepest, mostItems = 8, 4
	left := 500
	var names []string
	var look func(v decode.Value, depth int)
	look = func(v decode.Value, depth int) {
		for _, m := range v.Members() {
			if left--; left < 0 {
				return
			}
			first := cmp.Or(m.Val.Index(0).Kind(), m.Val.Kind())
			if first == decode.Number && table.IsMeasured(m.Key) {
				names = append(names, m.Key)
			}
			if depth > 0 {
				look(m.Val, depth-1)
			}
		}
		n := 0
		for x := range v.Items() {
			if n++; n > mostItems || depth == 0 {
				return
			}
			look(x, depth-1)
		}
	}
	look(v, deepest)
	return joinedNames(names)
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

// mayBeMeasured reports a line with a word that each match of measuredLine has: nearly all lines of a server's log have
// none, and looking for words costs a tenth of matching.
func mayBeMeasured(line []byte) bool {
	low := bytes.ToLower(line)
	for _, word := range []string{"ttft", "tpot", "itl", "e2el", "tok", "throughput", "req", "latency", "accuracy",
		"exact", "pass@", "perplex", "ppl"} {
		if bytes.Contains(low, []byte(word)) {
			return true
		}
	}
	return false
}

// codeBenchmarkText is the code of a problem about a text or a table with numbers of a benchmark.
const codeBenchmarkText = "benchmark-text"

// quietLogs drops the notes on logs in whose folder, or below it, results were read: the log of a tool is beside its
// file.
func quietLogs(sources []*source) {
	withResults := map[string]bool{}
	for _, s := range sources {
		for dir := range foldersOf(s.shown()) {
			if !s.counts() || withResults[dir] {
				break
			}
			withResults[dir] = dir != "." && dir != "/"
		}
	}
	for _, s := range sources {
		isTable := slices.Contains([]string{".csv", ".tsv"}, extension(s.rel)) // of numbers that may be nowhere else
		if s.reading.Format == NotResult && !isTable && withResults[path.Dir(s.shown())] {
			s.reading.Problems = slices.DeleteFunc(s.reading.Problems, func(p schema.Problem) bool {
				return p.Code == codeBenchmarkText
			})
		}
	}
}

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

// mostUnread is how many runs of a folder are told of a file in it that could not be read: in a folder of hundreds
// nobody knows whose it was.
const mostUnread = 16

// tellOfUnread gives runs the errors of files in their folders from which nothing was read. The next build may not see
// these files, and what the run lacks would have no cause.
func (g *grouping) tellOfUnread(sources []*source) {
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
	if len(unread) == 0 {
		return
	}
	runs := map[string]map[string]bool{} // ids by folder
	for src, id := range g.runOf {
		at := path.Dir(src.shown())
		if runs[at] == nil {
			runs[at] = map[string]bool{}
		}
		runs[at][id] = true
	}
	for i := range g.runs {
		run := &g.runs[i]
		for _, at := range slices.Sorted(maps.Keys(unread)) { // the same order each time
			if runs[at][run.ID] && len(runs[at]) <= mostUnread {
				run.Problems = append(run.Problems, unread[at]...)
			}
		}
	}
}
