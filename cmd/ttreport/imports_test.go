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

// leaves are the packages that every room may import, those of ingest/schema included.
var leaves = []string{"ingest/schema", "ingest/durable", "ingest/redact"}

// rooms says which of our packages a folder may import, beside the leaves. The longest prefix decides.
var rooms = map[string][]string{
	"templates":                {},
	"static":                   {},
	"ingest":                   {"ingest"},
	"collect":                  {"collect"},
	"targets":                  {"targets"},
	"targets/regression":       {"targets/regression"},
	".ci/measure":              {"targets/regression"},
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
	"ingest/duplicate":         {"ingest/repeat"},
	"ingest/history":           {"ingest/repeat"},
	"ingest/repeat":            {},
	"render/words":             {"targets"},
	"render/chart":             {"render/words"},
	"render/chart/svg":         {"render/chart"},
	"collect/arrival":          {},
	"collect/server":           {"collect/server", "collect/plan", "collect/process"},
	"collect/server/sim":       {"collect/arrival"},
	"site/preview":             {},
	"site/watch":               {},
	"render/chart/echarts":     {"render/chart"},
	"collect/process":          {},
	"collect/tool":             {"collect/process", "collect/tool/builtin"},
	"collect/tool/builtin":     {"collect/arrival"},
	"collect/tool/environment": {"collect/process"},
	"collect/host":             {},
	"collect/plan":             {"collect/plan/spec", "collect/tool"},
	"collect/plan/spec":        {},
}

// owners says who alone may import a library.
var owners = map[string]string{
	"github.com/go-echarts/go-echarts": "render/chart/echarts",
	"github.com/gocarina/gocsv":        "render/tabular",
	"github.com/yuin/goldmark":         "render/markdown",
	"github.com/fsnotify/fsnotify":     "site/watch",
	"github.com/goccy/go-yaml":         "ingest/schema",
	"github.com/klauspost/compress":    "ingest",
	"github.com/joho/godotenv":         "cmd",
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
	switch {
	case from == "ingest/schema", from == "ingest/durable", from == "ingest/redact":
		return false // they import the standard library and libraries only
	case within(from, "ingest/schema"):
		return within(to, "ingest/schema") || to == "ingest/redact"
	}
	for _, leaf := range leaves {
		if within(to, leaf) {
			return from != "templates" && from != "static"
		}
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
		{"ingest/schema", "ingest/schema/decode"}, {"ingest/schema/draft", "ingest/durable"}, {"ingest/redact", "ingest/schema"}, {"ingest/vllm", "ingest/aiperf"}, {"render/chart/svg", "render"}} {
		if allowed(c[0], c[1]) {
			t.Errorf("%s may import %s", c[0], c[1])
		}
	}
}
