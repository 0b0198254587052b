// Package script runs a benchmark of the user's own: a command line from ttreport.yaml that leaves one file of metrics.
//
// The command line has holes, {url} {model} {isl} {osl} {concurrency} {rate} {requests} {seed} {tokenizer} {out}; one that asks for a
// length, a concurrency or a rate is run for every workload, any other once.
package script

import (
	"fmt"
	"strings"

	shellquote "github.com/kballard/go-shellquote"

	"github.com/ttreport/ttreport/collect/tool"
)

// Result is the file that the command leaves below {out}: {"metrics": {"my_ms": {"value": 12.3, "unit": "ms", "better": "lower"}}}.
const Result = "metrics.json"

// Adapter is a tool of a name and a command line.
func Adapter(name, line string) (tool.Adapter, error) {
	words, err := shellquote.Split(line)
	if err != nil {
		return tool.Adapter{}, err
	}
	if len(words) == 0 {
		return tool.Adapter{}, fmt.Errorf("no command")
	}
	if !strings.Contains(line, "{out}") {
		return tool.Adapter{}, fmt.Errorf("the command does not say {out}, the folder in which it is to leave %s", Result)
	}
	if at := strings.IndexByte(hole(tool.Job{}, "", line), '{'); at >= 0 {
		return tool.Adapter{}, fmt.Errorf("an unknown hole at %.20q; there are {url} {model} {isl} {osl} {concurrency} {rate} {requests} {seed} {tokenizer} {out}", hole(tool.Job{}, "", line)[at:])
	}
	once := true
	for _, name := range []string{"{isl}", "{osl}", "{concurrency}", "{rate}"} {
		once = once && !strings.Contains(line, name)
	}
	return tool.Adapter{Name: name, Program: words[0], Once: once, Offline: !strings.Contains(line, "{url}"), Read: read,
		Command: func(j tool.Job, out string, _ tool.Flags) tool.Command {
			argv := make([]string, 0, len(words))
			for _, w := range words[1:] {
				argv = append(argv, hole(j, out, w))
			}
			return tool.Command{Argv: append(argv, j.Extra...), Conditions: j.Conditions()}
		}}, nil
}

func hole(j tool.Job, out, text string) string {
	return strings.NewReplacer("{url}", j.URL, "{model}", j.Model, "{isl}", tool.Int(j.ISL), "{osl}", tool.Int(j.OSL), "{concurrency}", tool.Int(j.Concurrency), "{rate}", tool.Float(j.Rate),
		"{requests}", tool.Int(j.Requests), "{seed}", tool.Seed(j.Seed), "{tokenizer}", j.Tokenizer, "{out}", out).Replace(text)
}

func read(out string) (tool.Summary, error) {
	s := tool.Summary{File: Result}
	var r struct {
		Metrics map[string]struct{ Value *float64 }
	}
	if err := tool.ReadJSON(out, Result, "the command left no "+Result, &r); err != nil {
		return s, err
	}
	for _, m := range r.Metrics {
		if m.Value != nil {
			s.Completed++
		}
	}
	if s.Completed == 0 {
		return s, fmt.Errorf(`%s holds no metric; expected {"metrics": {"my_ms": {"value": 12.3, "unit": "ms", "better": "lower"}}}`, Result)
	}
	return s, nil
}
