package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ttreport/ttreport/"

// leaves are the packages that every room may import, beside ingest/schema and what is below it.
var leaves = []string{
	"ingest/durable", "ingest/folderlock", "ingest/lazyregexp", "ingest/plaintext", "ingest/redact",
	"ingest/rootfs", "ingest/userdir",
}

// rooms says which of our packages a folder may import, beside the leaves; what is below a folder may be imported with
// it. The longest prefix decides. A name that ends in "." is that package alone.
var rooms = map[string][]string{
	"templates": {},
	"static":    {},

	"ingest":            {"ingest"},
	"ingest/vllm":       {},
	"ingest/aiperf":     {},
	"ingest/lmeval":     {},
	"ingest/ttis":       {},
	"ingest/trtllm":     {},
	"ingest/nmvllm":     {},
	"ingest/format":     {},
	"ingest/guidellm":   {},
	"ingest/answers":    {"ingest/lmeval"},
	"ingest/archive":    {},
	"ingest/duplicate":  {"ingest/repeat"},
	"ingest/console":    {},
	"ingest/llamabench": {},
	"ingest/table":      {},
	"ingest/history":    {"ingest/repeat"},
	"ingest/repeat":     {},

	"collect":             {"collect"},
	"collect/arrival":     {},
	"collect/credentials": {},
	"collect/doctor": {
		"collect/credentials", "collect/plan.", "collect/server.", "collect/tool.",
	},
	"collect/engine":            {"collect/plan.", "collect/process"},
	"collect/engine/kubernetes": {"collect/engine.", "collect/engine/transfer", "collect/plan."},
	"collect/engine/transfer":   {},
	"collect/engine/slurm":      {"collect/engine.", "collect/plan."},
	"collect/host":              {"collect/origin"},
	"collect/plan": {
		"collect/plan/spec", "collect/precision", "collect/tool", "collect/traffic",
	},
	"collect/plan/spec": {},
	"collect/precision": {},
	"collect/process":   {},
	"collect/progress":  {"collect.", "collect/engine", "collect/plan."},
	"collect/origin":    {},
	"collect/server":    {"collect/server", "collect/plan", "collect/process", "collect/origin"},
	"collect/registry":  {"collect/origin"},
	"collect/session": {
		"collect.", "collect/credentials", "collect/origin", "collect/plan", "collect/server.", "collect/tool.",
		"collect/traffic",
	},
	"collect/server/sim": {"collect/process", "collect/traffic"},
	"collect/tool":       {"collect/origin", "collect/process", "collect/tool/builtin", "collect/traffic"},
	"collect/tool/builtin": {
		"collect/arrival", "collect/origin", "collect/process", "collect/server/sim", "collect/traffic",
	},
	"collect/traffic": {},

	"targets/library":    {},
	"targets/decision":   {},
	"targets/regression": {"targets/regression"},
	"targets/board":      {"targets/regression"},
	"targets/curve":      {"targets/regression"},
	"targets/judge": {
		"targets/library", "targets/decision", "targets/regression", "targets/board", "targets/curve",
	},
	"targets/gate":      {"targets/judge", "targets/decision", "targets/gate/lint"},
	"targets/gate/lint": {"targets/regression/proportion"},
	"targets/compare":   {"targets/judge", "targets/regression", "targets/curve"},

	"render":       {"render", "targets/gate", "targets/judge", "targets/compare", "targets/curve"},
	"render/words": {"targets/gate", "targets/judge", "targets/compare", "targets/curve"},
	"render/chart": {"render.", "render/words"},

	"render/chart/echarts": {},

	"site":         {"site", "render", "templates", "static"},
	"site/preview": {},

	"cmd": {""},
	".ci/measure": {
		"collect.", "collect/arrival", "collect/plan.", "collect/precision", "collect/server.", "collect/server/sim",
		"collect/tool/builtin", "collect/traffic", "targets/regression",
	},
	".ci/measure/curves": {
		"collect/server/sim", "collect/tool/builtin", "collect/traffic", "targets/curve", "targets/regression",
	},
}

// owners says who alone may import a library.
var owners = map[string]string{
	"github.com/go-echarts/go-echarts": "render/chart/echarts",
	"github.com/gocarina/gocsv":        "render/rows",
	"github.com/yuin/goldmark":         "render/markdown",
	"github.com/fsnotify/fsnotify":     "site/preview",
	"github.com/goccy/go-yaml":         "ingest/schema",
	"github.com/klauspost/compress":    "ingest",
	"github.com/joho/godotenv":         "collect/credentials",
	"github.com/bmatcuk/doublestar":    "ingest/schema/glob",
	"github.com/go-json-experiment":    "ingest/history",
	"oras.land/oras-go":                "collect/registry",
}

// Imports go one way; ARCHITECTURE.md says which.
func TestImports(t *testing.T) {
	t.Parallel()
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
	case to == "ingest/lazyregexp":
		return true
	case from == "ingest/folderlock" && to == "ingest/userdir": // some locks are files there
		return true
	case from == "ingest/schema", slices.Contains(leaves, from):
		return false // they import the standard library and libraries only
	case from == "ingest/schema/manifest" && to == "ingest/durable": // the form of a journal
		return true
	case within(from, "ingest/schema"):
		return within(to, "ingest/schema") || to == "ingest/redact" || to == "ingest/plaintext"
	case from == "templates", from == "static":
		return false
	case within(to, "ingest/schema"), slices.Contains(leaves, to):
		return true
	}
	best, list := -1, []string(nil)
	for room, may := range rooms {
		if within(from, room) && len(room) > best {
			best, list = len(room), may
		}
	}
	return slices.ContainsFunc(list, func(may string) bool {
		alone, ok := strings.CutSuffix(may, ".")
		return may == "" || ok && to == alone || !ok && within(to, may)
	})
}

func within(pkg, room string) bool { return pkg == room || strings.HasPrefix(pkg, room+"/") }

// Patterns of packages are compiled at their first use: at start they took more than all else.
func TestPatternsAreLazy(t *testing.T) {
	t.Parallel()
	atStart, checked := regexp.MustCompile(`(?m)^(?:var |\t)\w+ += regexp\.MustCompile\(.*`), 0
	for _, folder := range []string{"cmd", "collect", "ingest", "render", "site", "targets"} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := os.ReadFile(name)
			checked++
			for _, found := range atStart.FindAll(text, -1) {
				t.Errorf("%s: %s: lazyregexp.New compiles it when it is used", name, found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if checked < 200 {
		t.Errorf("only %d files checked: the walk is broken", checked)
	}
}

// The rule itself must be able to say no: one case for each direction that is forbidden, and for each that looks alike
// and is allowed.
func TestImportRuleRefuses(t *testing.T) {
	refused := map[string][]string{
		"templates":           {"ingest/schema", "static", "render", "site"},
		"static":              {"ingest/schema", "templates", "ingest/plaintext"},
		"ingest/schema":       {"ingest/schema/decode", "ingest/durable", "ingest/redact"},
		"ingest/redact":       {"ingest/schema"},
		"ingest/durable":      {"ingest/schema", "ingest/redact"},
		"ingest/plaintext":    {"ingest/schema"},
		"ingest/schema/draft": {"ingest/durable", "ingest/folderlock", "ingest", "targets/library"},
		"ingest":              {"collect", "targets/library", "render", "site", "templates", "cmd/ttreport"},
		"ingest/vllm":         {"ingest/aiperf", "ingest", "ingest/history"},
		"ingest/history":      {"ingest", "collect", "targets/judge", "render"},
		"collect": {"ingest", "ingest/history", "targets/library", "targets/gate", "render", "site",
			"cmd/ttreport"},
		"collect/plan":        {"collect", "targets/library", "collect/server"},
		"collect/engine":      {"collect", "collect/server", "collect/session", "ingest"},
		"collect/progress":    {"render/terminal", "collect/server", "collect/tool"},
		"collect/doctor":      {"cmd/ttreport/workspace", "collect", "collect/plan/spec"},
		"collect/credentials": {"collect", "cmd/ttreport/workspace"},
		"collect/session":     {"collect/progress", "targets/library", "cmd/ttreport/workspace"},
		"targets/library":     {"targets/judge", "targets/decision", "targets/regression", "ingest", "ingest/history"},
		"targets/decision":    {"targets/judge", "targets/library", "targets/gate"},
		"targets/regression":  {"targets/judge", "targets/library", "targets/compare", "targets/decision"},
		"targets/judge":       {"targets/gate", "targets/compare", "targets/gate/lint", "ingest/history", "render"},
		"targets/gate":        {"targets/regression", "targets/library", "targets/compare", "collect/plan", "render/words"},
		"targets/gate/lint":   {"targets/gate", "targets/judge", "targets/decision"},
		"targets/compare":     {"targets/gate", "targets/library", "targets/decision", "render"},
		"render": {"targets/regression", "targets/library", "targets/decision", "ingest", "ingest/history", "collect",
			"site", "templates", "static"},
		"render/terminal":      {"targets/regression/pairing", "targets/library", "cmd/ttreport", "site"},
		"render/words":         {"render", "targets/regression", "targets/library"},
		"render/chart":         {"render/chart/echarts", "targets/judge", "render/markdown"},
		"render/chart/echarts": {"targets/judge", "render/markdown", "render"},
		"site":                 {"ingest", "ingest/history", "collect", "targets/gate", "targets/judge", "cmd/ttreport"},
		"site/preview":         {"site", "render"},
		".ci/measure/figures":  {"targets/gate", "ingest"},
		"nowhere":              {"ingest"},
	}
	for from, list := range refused {
		for _, to := range list {
			if allowed(from, to) {
				t.Errorf("%s may import %s", from, to)
			}
		}
	}
	for _, c := range [][2]string{
		{"ingest", "ingest/vllm"}, {"ingest/vllm", "ingest/schema/draft"}, {"ingest/schema/draft", "ingest/redact"},
		{"collect", "collect/server"}, {"collect/progress", "collect"}, {"targets/judge", "targets/regression/proportion"},
		{"targets/gate", "targets/gate/lint"}, {"render/terminal", "targets/gate/lint"},
		{"site", "render/markdown"}, {"cmd/ttreport", "site/preview"}, {"targets/library", "ingest/schema/perfref"},
	} {
		if !allowed(c[0], c[1]) {
			t.Errorf("%s may not import %s", c[0], c[1])
		}
	}
}

// Every package is in a room, so that a new folder is decided about.
func TestEveryFolderHasARoom(t *testing.T) {
	for _, name := range []string{"ingest", "collect", "targets", "render", "site", "templates", "static", "cmd"} {
		dirs, err := filepath.Glob(filepath.Join("..", "..", name, "*", "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range append(dirs, filepath.Join("..", "..", name, "doc.go")) {
			rel, _ := filepath.Rel(filepath.Join("..", ".."), filepath.Dir(d))
			pkg := filepath.ToSlash(rel)
			known := within(pkg, "ingest/schema") || slices.Contains(leaves, pkg)
			for room := range rooms {
				known = known || within(pkg, room)
			}
			if !known && pkg != "targets" {
				t.Errorf("%s is in no room of the import rule", pkg)
			}
		}
	}
}

// Every file can be part of a module and of a checkout on Windows: one name with a colon, and "go install …@latest" has
// nothing to install. The rule is that of golang.org/x/mod/module.CheckFilePath.
func TestNamesFitAModule(t *testing.T) {
	root, checked := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && slices.Contains([]string{".git", "node_modules", "_site"}, e.Name()) {
			return fs.SkipDir
		}
		checked++
		if strings.ContainsAny(e.Name(), "\"'*<>?`|\\:;") {
			t.Errorf("%s: the name has a sign that no module may have", name)
		}
		return nil
	})
	if err != nil || checked < 500 {
		t.Errorf("%d names checked: %v", checked, err)
	}
}

// The map names files that exist: one that moved sends its reader astray.
func TestMapNamesFiles(t *testing.T) {
	names := regexp.MustCompile("`([a-z][\\w./]*/[\\w./]+\\.(?:go|js|md|py|txtar|json))`")
	found := 0
	for _, page := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md", "DECISIONS.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range names.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "shards/") { // a file of a site
				continue
			}
			found++
			if _, err := os.Stat(filepath.Join("..", "..", m[1])); err != nil {
				t.Errorf("%s names %s, which does not exist", page, m[1])
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d names found: the pattern is broken", found)
	}
}
