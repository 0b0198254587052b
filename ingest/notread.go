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

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/table"
)

// NotRead is the format of results of known tools whose numbers are not read.
const NotRead = "not-read"

// notRead returns the reading of a result that is known and not read, so that users do not look for a fault in the
// file; ok is false for any other file.
func notRead(f *decode.File) (r schema.Reading, ok bool) {
	what, hint := "", "ttreport help files lists what is read; measure with one of those tools, or ask for this one"
	switch v := f.First; {
	case v.Get("config").Kind() == decode.Object && v.Get("mm_processor_stats").Kind() == decode.Object:
		what = "vllm bench mm-processor: stages of preprocessing"
	case v.Has("commit_hash", "env_name") && v.Get("results").Kind() == decode.Object:
		// airspeed velocity writes a file a commit and environment: numbers of functions of a library
		what = "asv: timings of a library by commit, see ttreport help from-asv"
		hint = "ttreport help from-asv says what takes the place of each part of asv"
	default:
		return r, false
	}
	return schema.Reading{
		Format: NotRead, Detail: what, Problems: append(f.Problems, schema.Problem{
			Severity: schema.SevNote, Path: f.Path, Code: "not-read",
			Found: "a result of a tool that is not read (" + what + ")", Used: "nothing of it", Hint: hint,
		}),
	}, true
}

// measuredLine matches a line that states a latency or a throughput of a model.
var measuredLine = regexp.MustCompile(`(?i)(\b(ttft|tpot|itl|e2el)\b|time to first token|inter.token latency|` +
	`time per output token|tok(en)?s?/s|tok(en)?s? per sec|throughput|req(uest)?s?/s|` +
	`(mean|median|avg|average|p\d\d)[ _](e2e[ _])?latency|latency[ _](mean|median|avg|average|p\d\d)).{0,60}\d`)

// heading matches the first line of a table with such columns.
var heading = regexp.MustCompile(`(?i)ttft|tpot|tok(en)?s?[ _/]*(per[ _]|/)s|throughput|latency|first.token`)

// engineLine matches what a server logs of itself while it runs, which is no result of a measurement.
var engineLine = regexp.MustCompile(`(?i)avg (prompt|generation) throughput|engine \d+:|decode batch|running:? \d+`)

// benchmarkText reports a log or a table that no reader takes and that has numbers of a benchmark in it: whoever looks
// for them must not read that there is no problem.
func benchmarkText(f *decode.File) []schema.Problem {
	if f.Form != decode.Text {
		return nil
	}
	p := schema.Problem{
		Severity: schema.SevNote, Path: f.Path, Code: codeBenchmarkText, Used: "nothing of it",
		Expected: "a format that is read",
	}
	text := f.Data[:min(len(f.Data), 1<<20)]
	switch ext := strings.ToLower(path.Ext(strings.TrimSuffix(strings.TrimSuffix(f.Path, ".gz"), ".zst"))); ext {
	case ".csv", ".tsv":
		first, _, _ := bytes.Cut(f.Data, []byte("\n"))
		if !heading.Match(first) || !bytes.ContainsAny(first, ",;\t") {
			return nil
		}
		p.Found = "a table with columns of a benchmark"
		p.Hint = "if a row is a point, say what the columns hold under tables: in ttreport.yaml; see ttreport help files"
		if mapping := table.Propose(f.Path, first); mapping != "" {
			p.Hint = "if a row is a point, begin with this in ttreport.yaml, and correct it; see ttreport help files:\n" +
				mapping
		}
	case ".md", ".txt", ".log", ".out", "":
		if m := printed.FindSubmatch(text); m != nil && ext != "" {
			tool := cmp.Or(map[string]string{"": "llama-benchy"}[string(m[1])], "lm-eval")
			p.Found, p.Expected = "a table that "+tool+" prints", "the file that the tool writes"
			p.Hint = "keep the JSON that " + tool + " writes beside the table; ttreport help files lists what is read"
			break
		}
		lines := 0
		for line := range bytes.Lines(text) {
			if isMeasured(line) {
				lines++
			}
		}
		if lines < 2 || ext == ".md" {
			return nil
		}
		p.Found = fmt.Sprintf("a text with %d lines like those of a benchmark, of no tool whose output is read", lines)
		p.Hint = "ttreport help files lists what is read; let the tool write its result file, or keep the numbers in a table"
	default:
		return nil
	}
	return []schema.Problem{p}
}

// printed are the first columns of tables that tools print.
var printed = regexp.MustCompile(`(?m)^\|\s*(?:(Tasks|Groups)\s*\|\s*Version\s*\|` +
	`|model\s*\|\s*test\s*\|\s*t/s[^|\n]*\|\s*peak t/s[^|\n]*\|)`)

// isMeasured reports a line that states what a benchmark measured.
func isMeasured(line []byte) bool {
	return len(line) < 400 && mayBeMeasured(line) && measuredLine.Match(line) && !engineLine.Match(line)
}

// mayBeMeasured reports a line with a word that each match of measuredLine has: nearly all lines of a server's log have
// none, and looking for words costs a tenth of matching.
func mayBeMeasured(line []byte) bool {
	low := bytes.ToLower(line)
	for _, word := range []string{"ttft", "tpot", "itl", "e2el", "tok", "throughput", "req", "latency"} {
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
		if s.reading.Format == NotResult && withResults[path.Dir(s.shown())] {
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
