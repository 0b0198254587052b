// Package workspace knows where things lie: ttreport.yaml, results, history, targets, notes, the site and the cache.
//
// In: a folder. Out: its configuration, read strictly, the paths of its parts, and its target files as a library. It
// must not know what results, history and pages contain.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/glob"
	"github.com/ttreport/ttreport/ingest/table"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/judge"
)

// ConfigName is the name of the configuration file.
const ConfigName = "ttreport.yaml"

// Config is ttreport.yaml. Every field may be left out.
type Config struct {
	Title     string              `yaml:"title"`
	Site      Site                `yaml:"site"`
	Models    Listing             `yaml:"models"`
	Devices   Listing             `yaml:"devices"`
	Reference Reference           `yaml:"reference"`
	Prices    Prices              `yaml:"prices"`
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

// Prices are what devices cost an hour, for output per money.
type Prices struct {
	Currency string             `yaml:"currency"`
	Hour     map[string]float64 `yaml:"per_hour"`      // of the device as results name it
	ChipHour map[string]float64 `yaml:"per_chip_hour"` // of one of its accelerators
}

// check refuses prices that no device has.
func (p Prices) check() error {
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

// Reference is what others are compared with.
type Reference struct {
	Model string `yaml:"model"` // its scores: every other model has the difference from them
}

// Listing orders and hides names in lists of the site.
type Listing struct {
	Order []string `yaml:"order"` // these first, in this order
	Hide  []string `yaml:"hide"`  // globs; their pages stay, and lists show how many are hidden
}

// mostListed bounds the entries of a listing: each is tried with every name.
const mostListed = 1_000

func (l Listing) check() error {
	if len(l.Order) > mostListed || len(l.Hide) > mostListed {
		return fmt.Errorf("order and hide have at most %d entries each", mostListed)
	}
	for _, pattern := range l.Hide {
		if err := glob.Check(pattern); err != nil {
			return fmt.Errorf("hide: %w", err)
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

// Workspace is an opened folder.
type Workspace struct {
	Dir        string
	Config     Config
	Configured bool // ttreport.yaml exists

	files  *rootfs.Folder // nothing outside of it is read
	tables []table.Table
}

// Open reads a folder's configuration. A folder without one is a workspace with defaults.
func Open(dir string) (*Workspace, error) {
	w := &Workspace{Dir: dir}
	name := filepath.Join(dir, ConfigName)
	if err := w.open(); err != nil {
		return nil, err
	}
	if err := w.misnamed(); err != nil {
		return nil, err
	}
	data, err := w.files.Read(ConfigName, mostText)
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return nil, fmt.Errorf("configuration: %s: %w", name, reason(err))
	}
	w.Configured = true
	if len(strings.TrimSpace(string(data))) == 0 {
		return w, nil
	}
	if p := decode.YAML(name, data, &w.Config); p != nil {
		_, picture, _ := strings.Cut(p.Hint, "\n") // the source line with a caret
		return nil, fmt.Errorf("%s:%d:%d: %s\n%s", name, p.Line, p.Column, p.Found, picture)
	}
	if err := w.Config.Site.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, list := range []Listing{w.Config.Models, w.Config.Devices} {
		if err := list.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := w.Config.Prices.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if w.tables, err = table.Compile(w.Config.Tables); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return w, nil
}

// Tables are the mappings of tables that the configuration states.
func (w *Workspace) Tables() []table.Table { return w.tables }

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
func (w *Workspace) Title() string {
	if w.Config.Title != "" {
		return w.Config.Title
	}
	return "ttreport"
}

// Logo is the path of the site's logo, "" without one.
func (w *Workspace) Logo() string {
	if w.Config.Site.Logo == "" {
		return ""
	}
	return filepath.Join(w.Dir, filepath.FromSlash(w.Config.Site.Logo))
}

// ReleaseOrder returns the configured releases.
func (w *Workspace) ReleaseOrder() ([]judge.Configured, error) {
	var out []judge.Configured
	seen := map[string]bool{}
	for _, r := range w.Config.Releases {
		c := judge.Configured{Name: r.Name, Line: r.Line}
		if seen[r.Name] {
			return nil, fmt.Errorf("%s: releases: %s is listed twice, and a release has one place", ConfigName, r.Name)
		}
		seen[r.Name] = true
		if r.Date != "" {
			t, err := time.Parse(time.DateOnly, r.Date)
			if err != nil {
				return nil, fmt.Errorf("%s: releases: %s: date %q is not of the form 2026-01-31", ConfigName, r.Name, r.Date)
			}
			c.Date = t
		}
		out = append(out, c)
	}
	return out, nil
}
