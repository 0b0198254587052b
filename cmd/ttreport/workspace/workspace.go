// Package workspace knows where things lie: ttreport.yaml, results, history, targets, notes, the site and the cache.
//
// In: a folder. Out: its configuration, read strictly, the paths of its parts, and its target files as a library. It
// must not know what results, history and pages contain.
package workspace

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/glob"
	"github.com/ttreport/ttreport/ingest/table"
	"github.com/ttreport/ttreport/ingest/userdir"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/library"
)

// ConfigName is the name of the configuration file.
const ConfigName = "ttreport.yaml"

// Config is ttreport.yaml. Every field may be left out.
type Config struct {
	Title     string         `yaml:"title"`
	Site      Site           `yaml:"site"`
	Models    render.Listing `yaml:"models"`
	Devices   render.Listing `yaml:"devices"`
	Reference struct {       // what others are compared with
		Model string `yaml:"model"` // its scores: every other model has the difference from them
	} `yaml:"reference"`
	Prices    render.Prices       `yaml:"prices"` // for output per money
	Power     Power               `yaml:"power"`
	Chips     map[string]int      `yaml:"chips"` // accelerators of a device, where results do not state them
	Releases  []Release           `yaml:"releases"`
	Judge     Judge               `yaml:"judge"`
	Decisions []decision.Decision `yaml:"decisions"` // see ttreport help decisions
	// Tools names programs for tools that are neither on the PATH nor made by ttreport: {vllm: /opt/vllm/bin/vllm}.
	Tools map[string]string `yaml:"tools"`
	// Exec are benchmarks of the user's own, by name: a command line with holes such as {url} and {out}.
	Exec map[string]string `yaml:"exec"`
	// Tables say what the columns of tables hold that no tool defines; see ttreport help files.
	Tables []table.Mapping `yaml:"tables"`
	// Tasks are names of evals by the names that files have for them.
	Tasks map[string]string `yaml:"tasks"`
	Board render.Board      `yaml:"board"` // which of them are columns of boards
	// Plans are what ttreport collect measures when no model is named.
	Plans []plan.Entry `yaml:"plans"`
	// Resources are what jobs of collect --on need, by device; an entry of a plan may state others.
	Resources map[string]plan.Resources `yaml:"resources"`
}

// Site says how the site is published.
type Site struct {
	BaseURL string `yaml:"base_url"` // where it will be: https://example.org/results
	Mode    string `yaml:"mode"`     // auto, release, nightly, compare or evals
	// Where people read a commit, and what changed between two: an address with {commit}, with {from} and {to}.
	CommitURL  Addresses `yaml:"commit_url"`
	CompareURL Addresses `yaml:"compare_url"`

	Logo string `yaml:"logo"` // picture before the title: .svg, .png or .jpg, relative to this file
	// Tokens are colours of the style sheet by name: "#rrggbb", or two of them for light and dark.
	Tokens map[string]string `yaml:"tokens"`
}

// checkPrices refuses prices that no device has.
func checkPrices(p render.Prices) error {
	for _, list := range []map[string]float64{p.Hour, p.ChipHour} {
		for device, v := range list {
			if !(v > 0) || math.IsInf(v, 0) {
				return fmt.Errorf("prices: %s costs %v an hour; expected a number above 0", device, v)
			}
		}
	}
	if n := len(p.Hour) + len(p.ChipHour); n > mostListed {
		return fmt.Errorf("prices: %d devices, at most %d", n, mostListed)
	}
	return nil
}

// Power is what is taken beside the accelerators whose power is measured.
type Power struct {
	Chassis map[string]float64 `yaml:"chassis_w"` // by the rest of the machine, of the device as results name it
	PUE     float64            `yaml:"pue"`       // what the site takes for what its machines take
}

// check refuses what no machine and no site takes.
func (p Power) check() error {
	for device, v := range p.Chassis {
		if !(v >= 0) || math.IsInf(v, 0) || len(p.Chassis) > mostListed {
			return fmt.Errorf("power: chassis_w of %s is %v; expected watts, of at most %d devices", device, v, mostListed)
		}
	}
	if p.PUE != 0 && len(p.Chassis) == 0 {
		return errors.New("power: pue without chassis_w; expected what the rest of a machine takes, 0 for nothing")
	}
	if p.PUE != 0 && !(p.PUE >= 1 && p.PUE < 10) {
		return fmt.Errorf("power: pue is %v; expected a number from 1 on, such as 1.2", p.PUE)
	}
	return nil
}

// mostListed bounds the entries of a listing: each is tried with every name.
const mostListed = 1_000

// checkListing refuses names that cannot be matched in bounded time; hide are patterns.
func checkListing(setting string, order, hide []string) error {
	if len(order) > mostListed || len(hide) > mostListed {
		return fmt.Errorf("%s: order and hide have at most %d entries each", setting, mostListed)
	}
	for _, pattern := range hide {
		if err := glob.Check(pattern); err != nil {
			return fmt.Errorf("%s: %w", setting, err)
		}
	}
	return nil
}

// Release places a release in the order, oldest first.
type Release struct {
	Name string `yaml:"name"`
	Date string `yaml:"date"` // YYYY-MM-DD
	Line string `yaml:"line"`
}

// orderOf is the order that a list of releases states.
func orderOf(list []Release) (out []judge.Configured, err error) {
	for i, r := range list {
		if slices.ContainsFunc(list[:i], func(x Release) bool { return x.Name == r.Name }) {
			return nil, fmt.Errorf("releases: %s is listed twice", r.Name)
		}
		c := judge.Configured{Name: r.Name, Line: r.Line}
		if r.Date != "" {
			if c.Date, err = time.Parse(time.DateOnly, r.Date); err != nil {
				return nil, fmt.Errorf("releases: %s: date %q does not have the form 2026-01-31", r.Name, r.Date)
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// Workspace is an opened folder.
type Workspace struct {
	Dir        string
	Config     Config
	Configured bool // ttreport.yaml exists

	// What the configuration states, as others take it.
	Tables []table.Table // mappings
	Order  []judge.Configured
	FailOn gate.FailOn // nil for the default
	Mode   render.Mode

	files *rootfs.Folder // nothing outside of it is read
}

// Open reads a folder's configuration. A folder without one is a workspace with defaults.
func Open(dir string) (*Workspace, error) {
	w := &Workspace{Dir: dir}
	if err := w.open(); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(w.files, ".")
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	for _, e := range entries { // the rules of a configuration that is not read would not hold, without a word
		lower := strings.ToLower(e.Name())
		if e.Name() != ConfigName && (lower == ConfigName || lower == "ttreport.yml") {
			return nil, fmt.Errorf("workspace: %s is not read; rename it to %s", w.shown(e.Name()), ConfigName)
		}
	}
	data, err := w.files.Read(ConfigName, mostText)
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return nil, fmt.Errorf("configuration: %s: %w", w.Settings(), reason(err))
	}
	return w.With(data)
}

// With is the workspace with a configuration of this text.
func (w *Workspace) With(config []byte) (*Workspace, error) {
	out, name := Workspace{Dir: w.Dir, Configured: true, files: w.files}, w.Settings()
	if len(strings.TrimSpace(string(config))) == 0 {
		return &out, nil
	}
	if p := decode.YAML(name, config, &out.Config); p != nil {
		_, picture, _ := strings.Cut(p.Hint, "\n") // the source line with a caret
		return nil, fmt.Errorf("%s:%d:%d: %s\n%s", name, p.Line, p.Column, p.Found, picture)
	}
	c := &out.Config
	const where = "https://github.com/acme/engine/"
	var err, noOrder, noMode, noKind error
	out.Tables, err = table.Compile(c.Tables)
	if out.Order, noOrder = orderOf(c.Releases); c.Judge.FailOn != nil {
		if out.FailOn, noKind = gate.ParseFailOn(strings.Join(c.Judge.FailOn, ",")); noKind != nil {
			noKind = fmt.Errorf("judge: fail_on: %s", strings.TrimPrefix(noKind.Error(), "--fail-on "))
		}
	}
	if out.Mode, noMode = render.ReadMode(c.Site.Mode); noMode != nil {
		noMode = fmt.Errorf("site.mode %q: %w", c.Site.Mode, noMode)
	}
	for _, tasks := range c.Board.Groups {
		err = cmp.Or(err, checkListing("board", nil, tasks))
	}
	err = cmp.Or(c.Site.CommitURL.check("commit_url", where+"commit/{commit}", "{commit}"),
		c.Site.CompareURL.check("compare_url", where+"compare/{from}...{to}", "{from}", "{to}"),
		checkListing("models", c.Models.Order, c.Models.Hide), checkListing("devices", c.Devices.Order, c.Devices.Hide),
		checkListing("board", c.Board.Order, c.Board.Hide), checkPrices(c.Prices), c.Power.check(), err, noOrder,
		noKind, noMode)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &out, nil
}

// Settings is the configuration file.
func (w *Workspace) Settings() string { return filepath.Join(w.Dir, ConfigName) }

// The parts of a workspace, by name.
const (
	resultsName = "results"
	historyName = "history"
	targetsName = "targets"
	notesName   = "notes"
	siteName    = "_site"
	stateName   = ".ttreport"
)

// Results, History, Targets, Notes and Site are the parts' paths.
func (w *Workspace) Results() string { return filepath.Join(w.Dir, resultsName) }
func (w *Workspace) History() string { return filepath.Join(w.Dir, historyName) }
func (w *Workspace) Targets() string { return filepath.Join(w.Dir, targetsName) }
func (w *Workspace) Notes() string   { return filepath.Join(w.Dir, notesName) }
func (w *Workspace) Site() string    { return filepath.Join(w.Dir, siteName) }

// State is the folder of servers that run for this workspace.
func (w *Workspace) State() string { return filepath.Join(w.Dir, stateName) }

// Reports is the folder of reports in the layout of tt-inference-server.
func (w *Workspace) Reports() string { return filepath.Join(w.Dir, "reports_output") }

// WorkflowLogs is the folder to which tt-inference-server's run.py writes.
func (w *Workspace) WorkflowLogs() string { return filepath.Join(w.Dir, "workflow_logs") }

// Title is the site's title.
func (w *Workspace) Title() string { return cmp.Or(w.Config.Title, "ttreport") }

// Logo is the path of the site's logo, "" without one.
func (w *Workspace) Logo() string {
	if w.Config.Site.Logo == "" {
		return ""
	}
	return filepath.Join(w.Dir, filepath.FromSlash(w.Config.Site.Logo))
}

// mostText is how long a file may be that a person wrote: a note, targets, the configuration, the logo.
const mostText = 4 << 20

// Bounds of what many files may hold together. Pages show every note, and every command reads every target.
const (
	mostNotes       = 2_000
	mostNoteText    = 16 << 20
	mostTargetFiles = 1_000
	mostTargetText  = 32 << 20
)

// open opens the folder and refuses parts of it that are links leading out: what a fork commits must not make us read
// or write anywhere else.
func (w *Workspace) open() error {
	var err error
	if w.files, err = rootfs.Open(w.Dir); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	for _, name := range []string{resultsName, historyName, targetsName, notesName, siteName, stateName} {
		_, err := w.files.Stat(name)
		info, bad := os.Lstat(filepath.Join(w.Dir, name))
		link := bad == nil && info.Mode()&fs.ModeSymlink != 0
		switch {
		case err == nil:
		case !errors.Is(err, fs.ErrNotExist):
			const rule = "files of a workspace must lie in it; name other folders on the command line"
			return fmt.Errorf("workspace: %s: %w; %s", w.shown(name), reason(err), rule)
		case link:
			return fmt.Errorf("workspace: %s is a broken link; remove it", w.shown(name))
		}
	}
	return nil
}

// shown is a name within the workspace as the user would write it.
func (w *Workspace) shown(name string) string { return filepath.ToSlash(filepath.Join(w.Dir, name)) }

// reason is an error without the path that the message around it has.
func reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// ReadSettings is the content of the configuration and of the logo, as far as they exist.
func (w *Workspace) ReadSettings() ([]byte, error) {
	settings, err := w.files.Read(ConfigName, mostText)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	logo, err := w.ReadLogo()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return fmt.Appendf(nil, "%d %s%s", len(settings), settings, logo), nil
}

// ReadLogo is the content of the site's logo; nil without one.
func (w *Workspace) ReadLogo() ([]byte, error) {
	if w.Config.Site.Logo == "" {
		return nil, nil
	}
	return w.files.Read(path.Clean(filepath.ToSlash(w.Config.Site.Logo)), mostText)
}

// ReadNotes reads notes/*.md; a note belongs to the release that its file is named after. A note that cannot be read is
// a problem, and the rest is read without it.
func (w *Workspace) ReadNotes() ([]render.Note, []schema.Problem, error) {
	names, err := fs.Glob(w.files, path.Join(notesName, "*.md"))
	if err != nil {
		return nil, nil, fmt.Errorf("notes: %w", err)
	}
	var out []render.Note
	var problems []schema.Problem
	left := mostNoteText
	for i, name := range names {
		if i == mostNotes || left == 0 {
			problems = append(problems, schema.Problem{
				Severity: schema.SevError, Path: w.shown(notesName), Code: "too-many-notes",
				Found:    fmt.Sprintf("%d notes", len(names)),
				Expected: fmt.Sprintf("at most %d, of at most %d MB together", mostNotes, mostNoteText>>20),
				Used:     fmt.Sprintf("%d of them, in the order of their names", i), Hint: "shorten them, or remove old ones",
			})
			break
		}
		data, err := w.files.Read(name, mostText)
		if err != nil {
			problems = append(problems, schema.Problem{
				Severity: schema.SevError, Path: w.shown(name), Code: schema.CodeUnreadable, Found: reason(err).Error(),
				Expected: "a regular file of the workspace", Used: "nothing of it",
				Hint: "put the file itself there, or remove it",
			})
			continue
		}
		if left = max(0, left-len(data)); left == 0 {
			continue
		}
		release := strings.TrimSuffix(path.Base(name), ".md")
		var source strings.Builder
		clean := redact.NewWriter(&source)
		_, _ = clean.Write(data) // into memory
		_ = clean.Close()
		out = append(out, render.Note{Release: release, Title: release, Source: source.String()})
	}
	return out, problems, nil
}

// Judge is the section that says which changes matter, and what fails a release; --fail-on overrides the latter.
type Judge struct {
	decision.Thresholds `yaml:",inline"`
	FailOn              []string `yaml:"fail_on"`
}

// Policy is which changes matter and what people decided; now decides which decisions have expired.
func (w *Workspace) Policy(now time.Time) (*decision.Policy, error) {
	p, err := decision.NewPolicy(w.Config.Judge.Thresholds, w.Config.Decisions, now)
	switch {
	case errors.Is(err, decision.ErrNoMetric):
		return nil, fmt.Errorf("%s: judge: %w; there are %s",
			ConfigName, err, strings.Join(judge.PrimaryMetrics(), ", "))
	case err != nil:
		return nil, fmt.Errorf("%s: judge: %w", ConfigName, err)
	}
	var lints []string
	for _, id := range lint.IDs() {
		lints = append(lints, string(id))
	}
	if err := p.Check(lints); err != nil {
		return nil, fmt.Errorf("%s: %w", ConfigName, err)
	}
	return p, nil
}

// Addresses are addresses with holes, by component: {vllm: https://example.org/vllm/commit/{commit}}. One alone, under
// "", is that of whatever component a run has, where it has one.
type Addresses map[string]string

// UnmarshalYAML reads one address, or one for each component.
func (a *Addresses) UnmarshalYAML(read func(any) error) error {
	var one string
	if err := read(&one); err == nil {
		*a = Addresses{"": one}
		return nil
	}
	return read((*map[string]string)(a))
}

// check reports an address that is none, or lacks a hole.
func (a Addresses) check(setting, example string, holes ...string) error {
	for _, address := range a {
		filled := address
		for _, hole := range holes {
			if !strings.Contains(address, hole) {
				return fmt.Errorf("site.%s: %q has no %s; for example %s", setting, address, hole, example)
			}
			filled = strings.ReplaceAll(filled, hole, "1")
		}
		u, err := url.Parse(filled)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.ContainsAny(filled, " {}") {
			return fmt.Errorf("site.%s: %q is not an address; for example %s", setting, address, example)
		}
		if u.User != nil {
			return fmt.Errorf("site.%s: an address with a password would be published; for example %s", setting, example)
		}
	}
	return nil
}

// LastBuild is the file that remembers what the last build read and wrote, in the cache folder of the user: what lies
// in a workspace may have been committed by anybody. "" where there is no such folder, and in CI, where every build
// reads everything.
func (w *Workspace) LastBuild() string { return w.cached("build.json") }

// SiteRecord is the file that remembers what the parts of a site in a folder were made of; "" as for LastBuild.
func (w *Workspace) SiteRecord(folder string) string {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(abs))
	return w.cached("site-" + hex.EncodeToString(sum[:8]) + ".json")
}

func (w *Workspace) cached(name string) string {
	if os.Getenv("CI") != "" {
		return ""
	}
	base, err := userdir.Cache()
	if err != nil {
		return ""
	}
	abs, err := filepath.Abs(w.Dir)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	sum := sha256.Sum256([]byte(abs)) // no two workspaces share a folder
	return filepath.Join(base, schema.Slug(filepath.Base(abs))+"-"+hex.EncodeToString(sum[:8]), name)
}

// OverrideVariable names a file of targets that is read after those of the workspace, as tt-inference-server has it.
const OverrideVariable = "OVERRIDE_BENCHMARK_TARGETS"

// Library reads targets/*.json, *.yaml and *.yml in order of their names, then the override that the environment names.
// A file that cannot be read is an error: a release must not pass because its targets were not read. A file that names
// a device which neither the product nor a run knows has a problem.
func (w *Workspace) Library(runs []schema.Run) (*library.Library, []schema.Problem, error) {
	var names []string
	for _, pattern := range []string{"*.json", "*.yaml", "*.yml"} {
		some, err := fs.Glob(w.files, path.Join(targetsName, pattern))
		if err != nil {
			return nil, nil, fmt.Errorf("targets: %w", err)
		}
		names = append(names, some...)
	}
	if len(names) > mostTargetFiles {
		return nil, nil, fmt.Errorf("reading targets: %s holds %d files, and at most %d are read", w.shown(targetsName),
			len(names), mostTargetFiles)
	}
	slices.Sort(names)
	known := func(device string) bool {
		return slices.ContainsFunc(runs, func(r schema.Run) bool { return schema.SameDevice(r.Device.Name, device) })
	}
	lib, total := library.New(), 0
	var problems []schema.Problem
	for _, name := range names {
		data, err := w.files.Read(name, mostText)
		if err != nil {
			return nil, nil, fmt.Errorf("reading targets: %s: %w", w.shown(name), reason(err))
		}
		if total += len(data); total > mostTargetText {
			return nil, nil, fmt.Errorf("reading targets: the files of %s hold more than %d MB", w.shown(targetsName),
				mostTargetText>>20)
		}
		problems = append(problems, lib.Add(w.shown(name), data, changed(w.files.Stat(name)), known)...)
	}
	if override := os.Getenv(OverrideVariable); override != "" {
		more, err := addNamed(lib, override, known)
		return lib, append(problems, more...), err
	}
	return lib, problems, nil
}

// ReadTargets reads a file of targets that a person names; known reports whether a device exists. The error is of a
// file that cannot be opened; what is wrong in a file is a problem.
func ReadTargets(name string, known func(device string) bool) (*library.Library, []schema.Problem, error) {
	lib := library.New()
	problems, err := addNamed(lib, name, known)
	return lib, problems, err
}

func addNamed(lib *library.Library, name string, known func(string) bool) ([]schema.Problem, error) {
	data, err := rootfs.ReadFile(name, mostText)
	if err != nil {
		return nil, fmt.Errorf("reading targets: %w", err)
	}
	return lib.Add(filepath.ToSlash(name), data, changed(os.Stat(name)), known), nil
}

// changed is the day on which a file was changed last, YYYY-MM-DD.
func changed(info fs.FileInfo, err error) string {
	if err != nil {
		return ""
	}
	return info.ModTime().UTC().Format(time.DateOnly)
}
