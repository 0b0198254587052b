package tool

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/tool/builtin"
)

// Tool is a tool that is ready to run: builtin, or an adapter with its program.
type Tool struct {
	Adapter
	Path    string // of the program
	Release string // version, as stated by the tool
	Flags   Flags  // that this version knows
}

// Builtin is the load client and eval of this program.
func Builtin() Tool {
	return Tool{Adapter: Adapter{Name: builtin.Name}, Release: builtin.Version}
}

// IsBuiltin reports whether a tool is this program.
func (t Tool) IsBuiltin() bool { return t.Name == builtin.Name }

// IsScript reports whether a tool's program is a Python script: python3 runs it.
func (t Tool) IsScript() bool { return strings.HasSuffix(t.Path, ".py") }

// Installed reads a program's version and flags. What it does not state stays unknown.
func Installed(ctx context.Context, a Adapter, path string) Tool {
	t := Tool{Adapter: a, Path: path}
	switch {
	case a.Module != "":
		const version = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"
		t.Release = versionIn(printed(ctx, path, "-c", version, a.Module))
	case len(a.Version) > 0 && !t.IsScript():
		t.Release = versionIn(printed(ctx, path, a.Version...))
	}
	if len(a.Help) > 0 && !t.IsScript() {
		t.Flags = ParseFlags(printed(ctx, path, a.Help...))
	}
	return t
}

// printed returns what a program prints, on both streams; "" when it fails to run.
func printed(ctx context.Context, program string, args ...string) string {
	f, err := os.CreateTemp("", "ttreport-ask-*")
	if err != nil {
		return ""
	}
	_ = f.Close() // only its name is used
	defer os.Remove(f.Name())
	spec := process.Spec{Argv: append([]string{program}, args...), Log: f.Name(), Limit: 3 * time.Minute,
		Grace: 2 * time.Second}
	if _, err := process.Run(ctx, spec); err != nil {
		return ""
	}
	text, err := os.ReadFile(f.Name())
	if err != nil {
		return ""
	}
	return string(text)
}

// versionIn returns the last word that looks like a version: tools print warnings before it.
func versionIn(text string) string {
	const letters = "0123456789.+-_abcdefghijklmnopqrstuvwxyz"
	version := ""
	for _, w := range strings.Fields(text) {
		w = strings.Trim(strings.TrimPrefix(w, "v"), ",;()")
		if strings.Contains(w, ".") && len(w) < 40 && w[0] >= '0' && w[0] <= '9' && strings.Trim(w, letters) == "" {
			version = w
		}
	}
	return version
}

// CommandLine returns the whole command line of a tool.
func (t Tool) CommandLine(c Command) []string {
	argv := slices.Clone(c.Before)
	if t.IsScript() {
		argv = append(argv, "python3")
	}
	return append(append(argv, t.Path), c.Argv...)
}

// PublicCommandLine returns the command line for readers of the result, without the folder in which the program is
// installed.
func (t Tool) PublicCommandLine(c Command) []string {
	t.Path = filepath.Base(t.Path)
	return t.CommandLine(c)
}
