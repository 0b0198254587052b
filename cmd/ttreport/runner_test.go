package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// Workflows and actions, as far as those of init and action.yml use them.
type (
	workflow struct {
		Name        string
		On          map[string]any
		Permissions map[string]string
		Concurrency concurrency
		Jobs        map[string]workflowJob
	}
	concurrency struct {
		Group  string
		Cancel bool `yaml:"cancel-in-progress"`
	}
	workflowJob struct {
		If, Needs   string
		RunsOn      string `yaml:"runs-on"`
		Permissions map[string]string
		Steps       []workflowStep
	}
	workflowStep struct {
		ID, Name, If, Uses, Run, Shell string
		With, Env                      map[string]any
	}
	action struct {
		Inputs map[string]struct{ Default any }
		Runs   struct{ Steps []workflowStep }
	}
)

// runner runs a workflow for an event, as GitHub does: each job in a folder of its own, each step with bash, the
// actions of GitHub by what they do to folders, and this repository's action by its own steps. It installs ttreport
// from an archive. gh is a stub, which keeps what it was told in files.
type runner struct {
	t         *testing.T
	dir       string         // of jobs, artifacts and pages
	remote    string         // the repository's address
	github    map[string]any // the context
	inputs    map[string]any
	env       []string
	artifacts string // of this run, a folder each; of the run that another workflow names
	token     string // that may write; a pull request of a fork has none
	fork      bool
	jobs      []string // that ran, with the label of their machine
	steps     []string // what each step was given: environment, and the settings of git
	outcome   map[string]bool
	printed   *strings.Builder // by the steps
	begun     int              // jobs
}

// workflowOf reads a file of a repository's newest commit.
func (r *runner) workflowOf(name string) workflow {
	r.t.Helper()
	text := r.git(r.dir, "--git-dir", r.remote, "show", "main:"+name)
	var w workflow
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
	return w
}

func (r *runner) git(dir string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, append(r.env, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// run runs the jobs of a workflow, each after what it needs, and reports whether all went well.
func (r *runner) run(name string) bool {
	r.t.Helper()
	w := r.workflowOf(name)
	r.outcome = map[string]bool{}
	for len(r.outcome) < len(w.Jobs) {
		before := len(r.outcome)
		for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
			j := w.Jobs[name]
			_, done := r.outcome[name]
			went, over := r.outcome[j.Needs]
			if ready := j.Needs == "" || over && (went || strings.Contains(j.If, "cancelled()")); !done && ready {
				r.outcome[name] = r.job(name, w, j)
			}
		}
		if len(r.outcome) == before {
			break // what is left needs a job that failed
		}
	}
	return !slices.Contains(slices.Collect(maps.Values(r.outcome)), false) && len(r.outcome) == len(w.Jobs)
}

// workplace is a job under way: its folder, and what its steps left for later ones.
type workplace struct {
	*runner
	at, temp, path string
	steps          map[string]any
	failed         bool
	mayWrite       bool
}

func (r *runner) job(name string, w workflow, j workflowJob) bool {
	r.t.Helper()
	r.begun++
	at := filepath.Join(r.dir, fmt.Sprintf("job-%d-%s", r.begun, name))
	p := &workplace{runner: r, at: filepath.Join(at, "work"), temp: filepath.Join(at, "temp"), steps: map[string]any{}}
	for _, permissions := range []map[string]string{w.Permissions, j.Permissions} {
		for _, kind := range permissions {
			p.mayWrite = p.mayWrite || kind == "write" && !r.fork
		}
	}
	if j.If != "" && !truth(first(evaluate(r.t, j.If, p.contexts(nil)))) {
		return true
	}
	for _, dir := range []string{p.at, p.temp} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			r.t.Fatal(err)
		}
	}
	r.jobs = append(r.jobs, name+" on "+interpolate(r.t, j.RunsOn, p.contexts(nil)))
	for _, s := range j.Steps {
		p.step(s, nil, "")
	}
	return !p.failed
}

func first[T any](v T, _ bool) T { return v }

// contexts are what expressions of a step can name: secrets are not among them.
func (p *workplace) contexts(inputs map[string]any) map[string]any {
	github := maps.Clone(p.github)
	github["token"] = p.mine()
	if inputs == nil {
		inputs = p.inputs
	}
	return map[string]any{"github": github, "inputs": inputs, "steps": p.steps}
}

// mine is the token of the job.
func (p *workplace) mine() string {
	if p.mayWrite {
		return p.token
	}
	return "a-token-that-may-read"
}

// step runs a step, unless its condition forbids it or one before it failed.
func (p *workplace) step(s workflowStep, inputs map[string]any, action string) {
	p.t.Helper()
	wanted, always := any(true), false
	if s.If != "" {
		wanted, always = evaluate(p.t, s.If, p.contexts(inputs))
	}
	if !truth(wanted) || p.failed && !always {
		return
	}
	with := map[string]any{}
	for name, v := range s.With {
		with[name] = interpolate(p.t, v, p.contexts(inputs))
	}
	switch {
	case strings.HasPrefix(s.Uses, "ttreport/ttreport@"):
		p.action(with)
	case s.Uses != "":
		p.uses(s, with)
	default:
		p.bash(s, inputs, action)
	}
}

// action runs the steps of action.yml, which is in this repository.
func (p *workplace) action(with map[string]any) {
	p.t.Helper()
	folder, err := filepath.Abs("../..")
	if err != nil {
		p.t.Fatal(err)
	}
	var a action
	text, err := os.ReadFile(filepath.Join(folder, "action.yml"))
	if err == nil {
		err = yaml.Unmarshal(text, &a)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	inputs := map[string]any{}
	for name, in := range a.Inputs {
		inputs[name] = interpolate(p.t, in.Default, p.contexts(nil))
	}
	for name, v := range with {
		if _, known := a.Inputs[name]; !known {
			p.t.Errorf("action.yml has no input %s", name)
		}
		inputs[name] = v
	}
	outer := p.workplace()
	outer.steps = map[string]any{} // ids of an action are its own
	for _, s := range a.Runs.Steps {
		outer.step(s, inputs, folder)
	}
	p.failed, p.path = p.failed || outer.failed, outer.path
}

func (p *workplace) workplace() *workplace { c := *p; return &c }

// bash runs the text of a step, with the environment that a runner gives it.
func (p *workplace) bash(s workflowStep, inputs map[string]any, action string) {
	p.t.Helper()
	output, added := filepath.Join(p.temp, "output"), filepath.Join(p.temp, "path")
	for _, name := range []string{output, added} {
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			p.t.Fatal(err)
		}
	}
	env := append(slices.Clone(p.env), "CI=true", "GITHUB_ACTIONS=true", "RUNNER_TEMP="+p.temp, "GITHUB_OUTPUT="+output,
		"GITHUB_PATH="+added, "GITHUB_STEP_SUMMARY="+filepath.Join(p.temp, "summary"), "GITHUB_ACTION_PATH="+action,
		"GITHUB_REPOSITORY=acme/results", "GITHUB_SHA="+shown(p.github["sha"]), "GITHUB_WORKSPACE="+p.at,
		"PATH="+p.path+filepath.Join(p.dir, "bin")+":/usr/bin:/bin")
	for name, v := range s.Env {
		env = append(env, name+"="+interpolate(p.t, v, p.contexts(inputs)))
	}
	argv := []string{"-e", "-c", interpolate(p.t, s.Run, p.contexts(inputs))}
	if s.Shell == "bash" {
		argv = append([]string{"--noprofile", "--norc", "-o", "pipefail"}, argv...)
	}
	cmd := exec.Command("bash", argv...)
	cmd.Dir, cmd.Env = p.at, env
	out, err := cmd.CombinedOutput()
	settings, _ := os.ReadFile(filepath.Join(p.at, ".git", "config"))
	p.runner.steps = append(p.runner.steps, strings.Join(env, "\n")+string(settings))
	p.t.Logf("%s: %v\n%s", s.Name+s.ID, err, out)
	p.printed.Write(out)
	p.failed = p.failed || err != nil
	found := map[string]any{}
	for line := range strings.Lines(p.read(output)) {
		name, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		found[name] = v
	}
	if s.ID != "" {
		p.steps[s.ID] = map[string]any{"outputs": found}
	}
	if more := strings.TrimSpace(p.read(added)); more != "" {
		p.path = more + ":" + p.path
	}
}

func (r *runner) read(name string) string {
	data, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		r.t.Error(err)
	}
	return string(data)
}

// uses does what an action of GitHub's does.
func (p *workplace) uses(s workflowStep, with map[string]any) {
	p.t.Helper()
	given := func(name string) string { return shown(with[name]) }
	name, _, _ := strings.Cut(s.Uses, "@")
	switch name {
	case "actions/checkout":
		p.git(p.dir, "clone", "-q", p.remote, p.at)
		if ref := given("ref"); ref != "" {
			p.git(p.at, "checkout", "-q", ref)
		} else {
			p.git(p.at, "fetch", "-q", "origin", shown(p.github["sha"]))
			p.git(p.at, "checkout", "-q", shown(p.github["sha"]))
		}
		if given("persist-credentials") != "false" {
			p.git(p.at, "config", "http.https://github.com/.extraheader", p.mine())
		}
	case "actions/upload-artifact":
		p.copy(filepath.Join(p.at, given("path")), filepath.Join(p.artifacts, given("name")), given("path"))
	case "actions/download-artifact":
		p.copy(filepath.Join(p.artifacts, given("name")), filepath.Join(p.at, given("path")), "/")
	case "actions/upload-pages-artifact":
		p.copy(filepath.Join(p.at, given("path")), filepath.Join(p.dir, "pages"), "/")
	case "actions/configure-pages":
		p.steps[s.ID] = map[string]any{"outputs": map[string]any{"base_url": "https://acme.example/results"}}
	case "actions/deploy-pages":
		p.steps[s.ID] = map[string]any{"outputs": map[string]any{"page_url": "https://acme.example/results"}}
	default:
		p.t.Errorf("%s is not understood", s.Uses)
	}
}

// copy copies a folder, or a file into a folder.
func (p *workplace) copy(from, to, path string) {
	p.t.Helper()
	err := os.RemoveAll(to)
	if err == nil && strings.HasSuffix(path, "/") {
		err = os.CopyFS(to, os.DirFS(from))
	} else if err == nil {
		var data []byte
		if data, err = os.ReadFile(from); err == nil {
			lay(p.t, filepath.Join(to, filepath.Base(from)), string(data))
		}
	}
	if err != nil {
		p.t.Error(err)
		p.failed = true
	}
}

// releaseOf writes a release of ttreport: an archive whose program calls this one, and its checksum.
func releaseOf(t *testing.T, dir, program string) {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	text := fmt.Sprintf("#!/bin/sh\nexec %s \"$@\"\n", program)
	if err := w.WriteHeader(&tar.Header{Name: "ttreport", Mode: 0o755, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte(text))
	_, _ = w.Close(), packed.Close()
	name := fmt.Sprintf("ttreport_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	at := filepath.Join(dir, "latest", "download")
	lay(t, filepath.Join(at, name), out.String())
	lay(t, filepath.Join(at, "checksums.txt"), fmt.Sprintf("%x  %s\n", sha256.Sum256(out.Bytes()), name))
}
