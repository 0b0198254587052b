package tool

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/origin"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/ingest/folderlock"
)

//go:embed requirements
var requirements embed.FS

// Environments finds the programs of tools, or installs them: one Python environment a tool. An environment is made
// once, from an embedded requirements file with every version pinned; another requirements file makes another
// environment. A tool that is configured, or on the PATH, is used as it is: its version is recorded in every sidecar.
type Environments struct {
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

// pinned returns a tool's requirements file, "" when it has none.
func (a Adapter) pinned() string {
	data, _ := requirements.ReadFile("requirements/" + a.Name + ".txt") // what there is not is empty
	return string(data)
}

// Pin returns the line of a tool's requirements that pins its Python distribution, as "inspect-ai==0.3.285"; "" for
// none.
func (a Adapter) Pin() string {
	for line := range strings.Lines(a.pinned()) {
		if name, rest, ok := strings.Cut(line, "=="); ok && name == cmp.Or(a.Package, a.Name) {
			version, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			return name + "==" + version
		}
	}
	return ""
}

// dir returns the folder of a tool's environment, whether or not it exists: below the user's cache folder.
func (a Adapter) dir() (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cache folder: %w", err)
	}
	sum := sha256.Sum256([]byte(a.pinned()))
	return filepath.Join(user, "ttreport", "tools", fmt.Sprintf("%s-%x", a.Name, sum[:4])), nil
}

// complete marks an environment that is complete.
const complete = ".complete"

// Find finds a tool that is installed: its program, or a Python that has its module.
func (e Environments) Find(ctx context.Context, a Adapter) (Found, error) {
	if path := e.Configured[a.Name]; path != "" {
		_, err := exec.LookPath(path)
		if strings.HasSuffix(path, ".py") { // python3 runs it
			_, err = os.Stat(path)
		}
		if err != nil {
			return Found{}, fmt.Errorf("%s is set to %s: %w", a.Name, path, err)
		}
		return Found{Program: path, From: "configured"}, nil
	}
	if path, err := exec.LookPath(a.Program); err == nil && (a.Module == "" || imports(ctx, path, a.Module)) {
		return Found{Program: path, From: "PATH"}, nil
	}
	dir, err := a.dir()
	if err != nil {
		return Found{}, err
	}
	if _, err := os.Stat(filepath.Join(dir, complete)); err == nil {
		return Found{Program: filepath.Join(dir, "bin", a.Program), From: "environment", Dir: dir}, nil
	}
	return Found{}, fmt.Errorf("%s: %w", a.Name, ErrNone)
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
func (e Environments) Ensure(ctx context.Context, a Adapter) (Found, error) {
	found, err := e.Find(ctx, a)
	if !errors.Is(err, ErrNone) {
		return found, err
	}
	if a.pinned() == "" {
		const text = "%w; put %s on the PATH, or name it in ttreport.yaml, tools: {%s: /path/to/it}"
		return Found{}, fmt.Errorf(text, err, a.Program, a.Name)
	}
	dir, err := a.dir()
	if err == nil {
		err = os.MkdirAll(filepath.Dir(dir), 0o777)
	}
	var lock *os.File
	if err == nil {
		lock, err = os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	}
	if err == nil {
		defer lock.Close() // which releases it
		err = folderlock.WaitFile(lock, folderlock.Exclusive)
	}
	if err != nil {
		return Found{}, fmt.Errorf("tool environments: %w", err)
	}
	if found, err := e.Find(ctx, a); err == nil {
		return found, nil // made by the process that held the lock
	}
	if err := e.make(ctx, a, dir); err != nil {
		return Found{}, err
	}
	return e.Find(ctx, a)
}

// Reset removes a tool's environment, so that the next use makes it again.
func (e Environments) Reset(a Adapter) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// make makes an environment with uv, or with Python's own venv and pip where there is no uv.
func (e Environments) make(ctx context.Context, a Adapter, dir string) error {
	if e.Say != nil {
		e.Say(fmt.Sprintf("making the environment of %s in %s, once (log: %s.log)", a.Name, dir, dir))
	}
	list, log, python := dir+".txt", dir+".log", filepath.Join(dir, "bin", "python")
	err := os.RemoveAll(dir) // remains of a failed attempt
	if err == nil {
		err = os.WriteFile(list, []byte(a.pinned()), 0o644)
	}
	if err != nil {
		return fmt.Errorf("tool environments: %w", err)
	}
	steps := [][]string{
		{"python3", "-m", "venv", dir},
		{python, "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "-r", list},
	}
	if uv, err := exec.LookPath("uv"); err == nil {
		steps = [][]string{{uv, "venv", "--quiet", dir}, {uv, "pip", "install", "--quiet", "--python", python, "-r", list}}
	}
	for _, argv := range steps {
		r, err := process.Run(ctx, process.Spec{Argv: argv, Log: log, Limit: time.Hour, Grace: 5 * time.Second})
		if err == nil && r.Code != 0 {
			err = fmt.Errorf("%s exit %d", filepath.Base(argv[0]), r.Code)
		}
		if err != nil {
			_ = os.RemoveAll(dir) // an incomplete environment is useless
			last := strings.Join(process.LastLines(log, 3), "\n")
			return fmt.Errorf("making the environment of %s: %w\n%s", a.Name, err, last)
		}
	}
	return os.WriteFile(filepath.Join(dir, complete), nil, 0o644)
}

// AskHub asks the hub, where models and their tokenizers are, for a file of a model, with a token unless that is "".
func AskHub(
	ctx context.Context, method, model, file, token string,
) (status int, text []byte, hub string, err error) {
	const patience = 8 * time.Second
	hub = strings.TrimSuffix(cmp.Or(os.Getenv("HF_ENDPOINT"), "https://huggingface.co"), "/")
	if v := os.Getenv("HF_HUB_OFFLINE"); v == "1" || strings.EqualFold(v, "true") {
		return 0, nil, hub, errors.New("it is not in the cache, and HF_HUB_OFFLINE is set")
	}
	owner, name, found := strings.Cut(model, "/")
	path := url.PathEscape(owner)
	if found {
		path += "/" + url.PathEscape(name)
	}
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	status, text, err = origin.Ask(ctx, method, hub+"/"+path+"/resolve/main/"+file, token, nil)
	if err != nil && !errors.Is(err, origin.ErrElsewhere) {
		err = fmt.Errorf("asking %s: %w", hub, err)
	}
	return status, text, hub, err
}
