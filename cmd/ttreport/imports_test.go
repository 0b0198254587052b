package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ttreport/ttreport/"

// rooms says which of our packages a folder may import, beside ingest/schema and its leaves, which everybody may. The
// longest prefix decides.
var rooms = map[string][]string{
	"ingest/schema":            {"ingest/schema"},
	"templates":                {},
	"static":                   {},
	"ingest":                   {"ingest"},
	"collect":                  {"collect"},
	"targets":                  {"targets"},
	"render":                   {"render", "targets"},
	"site":                     {"site", "render", "targets", "templates", "static"},
	"cmd":                      {""},
	"ingest/vllm":              {},
	"ingest/vllmoffline":       {},
	"ingest/torchhud":          {},
	"ingest/aiperf":            {},
	"ingest/lmeval":            {},
	"ingest/ttis":              {},
	"ingest/trtllm":            {},
	"ingest/nmvllm":            {},
	"ingest/sglang":            {},
	"ingest/guidellm":          {},
	"ingest/inferenceperf":     {},
	"ingest/inferencex":        {},
	"ingest/llmd":              {},
	"ingest/inspect":           {},
	"ingest/ownmetrics":        {},
	"ingest/archive":           {},
	"ingest/history":           {},
	"render/words":             {"targets"},
	"render/chart":             {"render"},
	"collect/arrival":          {},
	"collect/server":           {"collect/arrival"},
	"site/preview":             {},
	"site/watch":               {},
	"render/chart/echarts":     {"render"},
	"collect/process":          {},
	"collect/tool":             {},
	"collect/tool/builtin":     {"collect/arrival"},
	"collect/tool/environment": {"collect/process"},
	"collect/tool/vllm":        {"collect/tool"},
	"collect/tool/aiperf":      {"collect/tool"},
	"collect/tool/guidellm":    {"collect/tool"},
	"collect/tool/lmeval":      {"collect/tool"},
	"collect/tool/lmmseval":    {"collect/tool"},
	"collect/tool/inspect":     {"collect/tool"},
	"collect/tool/genaiperf":   {"collect/tool"},
	"collect/tool/sglang":      {"collect/tool"},
	"collect/tool/trtllm":      {"collect/tool"},
	"collect/tool/script":      {"collect/tool"},
	"collect/tool/vllmoffline": {"collect/tool"},
	"collect/host":             {},
	"collect/spec":             {},
	"collect/planfile":         {"collect/sweep"},
	"collect/sweep":            {},
}

// owners says who alone may import a library.
var owners = map[string]string{
	"github.com/go-echarts/go-echarts": "render/chart/echarts",
	"github.com/gocarina/gocsv":        "render/tabular",
	"github.com/yuin/goldmark":         "render/markdown",
	"github.com/fsnotify/fsnotify":     "site/watch",
	"github.com/goccy/go-yaml":         "ingest/schema",
	"github.com/klauspost/compress":    "ingest",
}

// Imports go one way; ARCHITECTURE.md says which.
func TestImports(t *testing.T) {
	root := filepath.Join("..", "..")
	checked := 0
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		rel, _ := filepath.Rel(root, filepath.Dir(name))
		pkg := filepath.ToSlash(rel)
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			checked++
			for lib, owner := range owners {
				if strings.HasPrefix(path, lib) && !within(pkg, owner) {
					t.Errorf("%s imports %s, which only %s may", name, path, owner)
				}
			}
			ours, ok := strings.CutPrefix(path, module)
			if ok && !allowed(pkg, ours) {
				t.Errorf("%s imports %s, against the import rule of ARCHITECTURE.md", name, ours)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 100 {
		t.Fatalf("only %d imports checked: the walk is broken", checked)
	}
}

func allowed(from, to string) bool {
	if from == "ingest/schema" {
		return false // the vocabulary imports the standard library only
	}
	if within(to, "ingest/schema") {
		return from != "templates" && from != "static"
	}
	best, list := -1, []string(nil)
	for room, may := range rooms {
		if within(from, room) && len(room) > best {
			best, list = len(room), may
		}
	}
	for _, may := range list {
		if may == "" || within(to, may) {
			return true
		}
	}
	return false
}

func within(pkg, room string) bool { return pkg == room || strings.HasPrefix(pkg, room+"/") }

// The rule itself must be able to say no.
func TestImportRuleRefuses(t *testing.T) {
	for _, c := range [][2]string{{"render", "ingest"}, {"render", "ingest/history"}, {"targets", "ingest/history"}, {"collect", "ingest"}, {"ingest", "collect"}, {"site", "ingest"}, {"templates", "ingest/schema"},
		{"ingest/schema", "ingest/schema/decode"}, {"ingest/vllm", "ingest/aiperf"}, {"render/words", "render"}} {
		if allowed(c[0], c[1]) {
			t.Errorf("%s may import %s", c[0], c[1])
		}
	}
}
