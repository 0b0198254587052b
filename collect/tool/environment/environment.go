package environment

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/ingest/folderlock"
)

//go:embed requirements
var requirements embed.FS

// Tools finds tools.
type Tools struct {
	Cache      string            // folder of the environments; "" for ttreport/tools below the user's cache folder
	Configured map[string]string // programs by tool, from ttreport.yaml
	Say        func(string)      // called before a long step; may be nil
}

// Found is a tool that can be run.
type Found struct {
	Program string // path
	From    string // configured, PATH or environment
	Dir     string // of the environment
}

// ErrNone is returned for a tool that is not installed and has no environment.
var ErrNone = errors.New("the tool is not installed")

// Pinned returns a tool's requirements file, "" when it has none.
func Pinned(tool string) string {
	data, err := requirements.ReadFile("requirements/" + tool + ".txt")
	if err != nil {
		return ""
	}
	return string(data)
}

// Pin returns the line of a tool's requirements that pins a Python distribution, as "inspect-ai==0.3.285"; "" for
// none.
func Pin(tool, distribution string) string {
	for line := range strings.Lines(Pinned(tool)) {
		if name, rest, ok := strings.Cut(line, "=="); ok && name == distribution {
			version, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			return name + "==" + version
		}
	}
	return ""
}

// Dir returns the folder of a tool's environment, whether or not it exists.
func (t Tools) Dir(tool string) (string, error) {
	base := t.Cache
	if base == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("cache folder: %w", err)
		}
		base = filepath.Join(user, "ttreport", "tools")
	}
	sum := sha256.Sum256([]byte(Pinned(tool)))
	return filepath.Join(base, tool+"-"+hex.EncodeToString(sum[:4])), nil
}

// done marks an environment that is complete.
const done = ".complete"

// Find finds a tool that is installed: its program, or a Python that has its module.
func (t Tools) Find(ctx context.Context, tool, program, module string) (Found, error) {
	if path := t.Configured[tool]; path != "" {
		if err := runnable(path); err != nil {
			return Found{}, fmt.Errorf("%s is configured as %s: %w", tool, path, err)
		}
		return Found{Program: path, From: "configured"}, nil
	}
	if path, err := exec.LookPath(program); err == nil && (module == "" || imports(ctx, path, module)) {
		return Found{Program: path, From: "PATH"}, nil
	}
	dir, err := t.Dir(tool)
	if err != nil {
		return Found{}, err
	}
	if _, err := os.Stat(filepath.Join(dir, done)); err == nil {
		return Found{Program: filepath.Join(dir, "bin", program), From: "environment", Dir: dir}, nil
	}
	return Found{}, fmt.Errorf("%s: %w", tool, ErrNone)
}

// runnable reports why a path can be run neither as a program nor, as a Python script, by python3.
func runnable(path string) error {
	if strings.HasSuffix(path, ".py") {
		_, err := os.Stat(path)
		return err
	}
	_, err := exec.LookPath(path)
	return err
}

// imports reports whether a Python has a module.
func imports(ctx context.Context, python, module string) bool {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	const find = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
	return exec.CommandContext(ctx, python, "-c", find, module).Run() == nil
}

// Ensure finds a tool, or makes its environment. Its output goes to a log next to the environment's folder. Two
// processes that make the same environment wait for each other.
func (t Tools) Ensure(ctx context.Context, tool, program, module string) (Found, error) {
	found, err := t.Find(ctx, tool, program, module)
	if !errors.Is(err, ErrNone) {
		return found, err
	}
	if Pinned(tool) == "" {
		const text = "%w; put %s on the PATH, or name it in ttreport.yaml, tools: {%s: /path/to/it}"
		return Found{}, fmt.Errorf(text, err, program, tool)
	}
	dir, err := t.Dir(tool)
	if err != nil {
		return Found{}, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return Found{}, fmt.Errorf("tool environments: %w", err)
	}
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return Found{}, fmt.Errorf("tool environments: %w", err)
	}
	defer unlock()
	if found, err := t.Find(ctx, tool, program, module); err == nil {
		return found, nil // made by the process that held the lock
	}
	if err := t.make(ctx, tool, dir); err != nil {
		return Found{}, err
	}
	return t.Find(ctx, tool, program, module)
}

// lock waits until no other process holds a lock file, then holds it.
func lock(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := folderlock.WaitFile(f, folderlock.Exclusive); err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return func() { _ = f.Close() }, nil // closing releases
}

// Reset removes a tool's environment, so that the next use makes it again.
func (t Tools) Reset(tool string) error {
	dir, err := t.Dir(tool)
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// make makes an environment with uv, or with Python's own venv and pip where there is no uv.
func (t Tools) make(ctx context.Context, tool, dir string) error {
	if t.Say != nil {
		t.Say(fmt.Sprintf("making the environment of %s in %s, once (log: %s.log)", tool, dir, dir))
	}
	if err := os.RemoveAll(dir); err != nil { // remains of a failed attempt
		return fmt.Errorf("tool environments: %w", err)
	}
	list := dir + ".txt"
	if err := os.WriteFile(list, []byte(Pinned(tool)), 0o644); err != nil {
		return fmt.Errorf("tool environments: %w", err)
	}
	python := filepath.Join(dir, "bin", "python")
	steps := [][]string{
		{"python3", "-m", "venv", dir},
		{python, "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "-r", list},
	}
	if uv, err := exec.LookPath("uv"); err == nil {
		steps = [][]string{{uv, "venv", "--quiet", dir}, {uv, "pip", "install", "--quiet", "--python", python, "-r", list}}
	}
	for _, argv := range steps {
		r, err := process.Run(ctx, process.Spec{Argv: argv, Log: dir + ".log", Limit: time.Hour, Grace: 5 * time.Second})
		if err == nil && r.Code == 0 {
			continue
		}
		_ = os.RemoveAll(dir) // an incomplete environment is useless
		last := strings.Join(process.LastLines(dir+".log", 3), "\n")
		if err != nil {
			return fmt.Errorf("making the environment of %s: %w\n%s", tool, err, last)
		}
		return fmt.Errorf("making the environment of %s: %s exit %d\n%s", tool, filepath.Base(argv[0]), r.Code, last)
	}
	return os.WriteFile(filepath.Join(dir, done), nil, 0o644)
}

// OnPath reports whether a program is on the PATH.
func OnPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}
