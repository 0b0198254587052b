package main

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/table"
)

// identity holds the flags that state who was measured where no file does.
type identity struct {
	model, impl, device, engine, version, release, channel string
	patterns                                               []string
	// oneBuild puts all runs under this release and channel, whatever their files state.
	oneBuild bool
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
	opt := ingest.Options{Flags: schema.Facts{
		Release: id.release, Channel: id.channel, Impl: id.impl, Model: modelOf(id.model),
		Device: schema.Device{Name: id.device}, Stack: schema.Stack{Engine: id.engine, Version: id.version},
	}}
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

// load reads paths of the command line.
func load(ctx context.Context, paths []string, id *identity) (ingest.Set, error) {
	opt, roots, err := input(paths, id)
	if err != nil {
		return ingest.Set{}, err
	}
	defer boundMemory()()
	return ingest.Load(ctx, roots, opt)
}

// input turns paths and flags of the command line into what is to be read.
func input(paths []string, id *identity) (ingest.Options, []ingest.Root, error) {
	opt, err := id.options()
	if err != nil {
		return opt, nil, err
	}
	tables, err := ownTables()
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
		root.Own, root.Tables = ownFolders(), tables
		roots = append(roots, root)
	}
	return opt, roots, nil
}

// ownTables are the mappings of the workspace's configuration.
func ownTables() ([]table.Table, error) {
	ws, err := workspace.Open(".")
	if err != nil {
		return nil, fail(exitUsage, "see ttreport help files", "%w", err)
	}
	return ws.Tables(), nil
}

// ownFolders are the folders that the workspace's results were read into, or written to: they are no input.
func ownFolders() []fs.FileInfo {
	ws, err := workspace.Open(".")
	if err != nil {
		return nil // the command says so where it needs a workspace
	}
	var out []fs.FileInfo
	for _, dir := range []string{ws.History(), ws.Site(), ws.State(), ws.Reports()} {
		if info, err := os.Stat(dir); err == nil {
			out = append(out, info)
		}
	}
	return out
}

// fromHere writes a path relative to the current folder where it is below it: what is stored must not depend on where
// the workspace is.
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
