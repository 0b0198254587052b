package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

func inspectCommand() command {
	return command{
		name: "inspect", args: "PATH…", summary: "say what each file is, what was understood and what was not",
		help: `Reads files and folders and writes nothing. Every file is listed with its format, the numbers found in it and
its problems; then the runs that the files make together, with the reason for each grouping; then problems, worst first.

--json prints the same as one document of schema ttreport/inspect/v1, runs in full.`,
		examples: []example{
			{"what is in this folder?", "ttreport inspect results/"},
			{
				"which files were not understood?",
				"ttreport inspect --json results/ | jq '.files[] | select(.format == \"unknown\").path'",
			},
			{"identity from folder names", "ttreport inspect --pattern '{release}/{device}/{model}/*' archive/"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			asJSON := fs.Bool("json", false, "print one JSON document")
			all := fs.Bool("all", false, "list every file and every problem")
			strict := fs.Bool("strict", false, "exit 3 when there is a problem that is an error")
			id := identityFlags(fs)
			return func(ctx context.Context, sh *shell, args []string) error {
				if len(args) == 0 {
					return fail(exitUsage, "ttreport inspect results/", "inspect: no file or folder given")
				}
				set, err := load(ctx, args, id)
				if err != nil {
					return err
				}
				if *asJSON {
					err = writeInspectJSON(sh.out, set)
				} else {
					writeInspect(sh.out, set, *all)
				}
				if err == nil && *strict && countSeverity(set.Problems, schema.SevError) > 0 {
					return failure{
						code: exitInput, err: fmt.Errorf("%d errors in the input", countSeverity(set.Problems, schema.SevError)),
					}
				}
				return err
			}
		},
	}
}

// identity holds the flags that state who was measured where no file does.
type identity struct {
	model, impl, device, engine, version, release, channel string
	patterns                                               []string
}

func identityFlags(fs *pflag.FlagSet) *identity {
	id := &identity{}
	fs.StringVar(&id.model, "model", "", "`name` of the model; it replaces what a result states")
	fs.StringVar(&id.device, "device", "", "`name` of the device; it replaces what a result states")
	fs.StringVar(&id.impl, "impl", "", "`name` of the implementation; it replaces what a result states")
	fs.StringVar(&id.engine, "engine", "", "`name` of the serving engine; it replaces what a result states")
	fs.StringVar(&id.version, "engine-version", "", "`version` of the serving engine; it replaces what a result states")
	fs.StringVar(&id.release, "release", "", "`label` of the release; it replaces what a result states")
	fs.StringVar(&id.channel, "channel", "", "release, main, pr or dev")
	fs.StringArrayVar(&id.patterns, "pattern", nil, "read identity from paths by this `pattern`; see ttreport help files")
	return id
}

func (id *identity) options() (ingest.Options, error) {
	if err := checkChannel(id.channel); err != nil {
		return ingest.Options{}, err
	}
	opt := ingest.Options{Flags: schema.Facts{Release: id.release, Channel: id.channel, Impl: id.impl,
		Model:  modelOf(id.model),
		Device: schema.Device{Name: id.device}, Stack: schema.Stack{Engine: id.engine, Version: id.version}}}
	for _, text := range id.patterns {
		p, err := manifest.NewPattern(text)
		if err != nil {
			return opt, failure{code: exitUsage, err: err}
		}
		opt.Patterns = append(opt.Patterns, p)
	}
	return opt, nil
}

// modelOf takes a hub id or a bare name.
func modelOf(s string) schema.Model {
	if strings.Contains(s, "/") {
		return schema.Model{ID: s, Name: path.Base(s)}
	}
	return schema.Model{Name: s}
}

// readingMemory is what reading should get along with. It is a soft limit: beyond it, garbage is collected more often.
// A hostile file may ask for all the memory that the limits leave it; the collector is to run before twice of it is
// taken.
const readingMemory = 180 << 20

// load reads paths of the command line.
func load(ctx context.Context, paths []string, id *identity) (ingest.Set, error) {
	opt, roots, err := input(paths, id)
	if err != nil {
		return ingest.Set{}, err
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(readingMemory))
	return ingest.Load(ctx, roots, opt)
}

// input turns paths and flags of the command line into what is to be read.
func input(paths []string, id *identity) (ingest.Options, []ingest.Root, error) {
	opt, err := id.options()
	if err != nil {
		return opt, nil, err
	}
	var roots []ingest.Root
	for _, p := range paths {
		root, err := ingest.OSRoot(filepath.ToSlash(fromHere(p)))
		if os.IsNotExist(err) {
			return opt, nil, fail(exitUsage, "check the spelling; paths are relative to the current folder",
				"%s does not exist", p)
		}
		if err != nil {
			return opt, nil, fail(exitInput, "check its permissions", "%w", err)
		}
		root.Own = ownFolders()
		roots = append(roots, root)
	}
	return opt, roots, nil
}

// ownFolders are the folders of the workspace that its results were read into: they are no input.
func ownFolders() []fs.FileInfo {
	ws, err := workspace.Open(".")
	if err != nil {
		return nil // the command says so where it needs a workspace
	}
	var out []fs.FileInfo
	for _, dir := range []string{ws.History(), ws.Site(), filepath.Dir(ws.Cache())} {
		if info, err := os.Stat(dir); err == nil {
			out = append(out, info)
		}
	}
	return out
}

// fromHere writes a path relative to the current folder where it lies below it: what is stored must not depend on where
// the workspace lies.
func fromHere(name string) string {
	if !filepath.IsAbs(name) {
		return name
	}
	here, err := os.Getwd()
	if err != nil {
		return name
	}
	if rel, err := filepath.Rel(here, name); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}

func countSeverity(problems []schema.Problem, sev schema.Severity) int {
	n := 0
	for _, p := range problems {
		if p.Severity == sev {
			n++
		}
	}
	return n
}

// inspectFile is a file in the JSON form.
type inspectFile struct {
	Path     string            `json:"path"`
	SHA256   string            `json:"sha256"`
	Format   string            `json:"format"`
	Detail   string            `json:"detail"`
	Points   int               `json:"points"`
	Scores   int               `json:"scores"`
	Run      string            `json:"run,omitempty"`
	PartOf   string            `json:"part_of,omitempty"`
	Problems []json.RawMessage `json:"problems"`
}

func writeInspectJSON(w io.Writer, set ingest.Set) error {
	doc := struct {
		Schema   string            `json:"schema"`
		Files    []inspectFile     `json:"files"`
		Runs     []json.RawMessage `json:"runs"`
		Grouping map[string]string `json:"grouping"`
		Problems []json.RawMessage `json:"problems"`
	}{
		Schema: "ttreport/inspect/v1", Files: []inspectFile{}, Runs: []json.RawMessage{},
		Problems: problemsJSON(set.Problems), Grouping: set.Grouping,
	}
	for _, f := range set.Files {
		doc.Files = append(doc.Files, inspectFile{
			f.Path, f.SHA256, f.Format, f.Detail, f.Points, f.Scores, f.Run, f.PartOf, problemsJSON(f.Problems),
		})
	}
	for i := range set.Runs {
		doc.Runs = append(doc.Runs, history.Encode(&set.Runs[i]))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

func problemsJSON(list []schema.Problem) []json.RawMessage {
	out := []json.RawMessage{}
	for i := range list {
		out = append(out, history.EncodeProblem(&list[i]))
	}
	return out
}
