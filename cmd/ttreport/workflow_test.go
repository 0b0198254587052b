package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// benchmark is a tool of the user's own: the numbers are what the file speed says.
const benchmark = `out=$2 isl=$3
read -r speed <speed
value=$((speed * isl))
printf '{"metrics":{"first_byte_ms":{"value":%s,"unit":"ms","better":"lower"}}}' "$value" >"$out/metrics.json"
`

const benchmarkPlan = `title: Results of acme
exec:
  first-byte: sh bench.sh {url} {out} {isl}
plans:
  - {model: sim-8b, device: simulated, server: sim, tools: [first-byte], only: benchmarks,
     workloads: ["isl=10,osl=1,c=1,n=1", "isl=20,osl=1,c=1,n=1", "isl=30,osl=1,c=1,n=1", "isl=40,osl=1,c=1,n=1"]}
`

// startWorkflows makes an empty repository with a bare remote, and pushes what init writes.
func startWorkflows(t *testing.T) (r *runner, seed string) {
	t.Helper()
	for _, program := range []string{"git", "bash", "jq", "curl", "sha256sum"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	program, err := exec.LookPath("ttreport") // this test's
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	stub, err := txtar.ParseFile("testdata/script/github.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range stub.Files {
		if f.Name == "bin/gh" {
			lay(t, filepath.Join(dir, f.Name), string(f.Data))
		}
	}
	lay(t, filepath.Join(dir, "gh", "log"), "")
	lay(t, filepath.Join(dir, "gitconfig"), "[safe]\n\tdirectory = *\n[init]\n\tdefaultBranch = main\n")
	if err := os.Chmod(filepath.Join(dir, "bin", "gh"), 0o755); err != nil {
		t.Fatal(err)
	}
	releaseOf(t, filepath.Join(dir, "releases"), program)
	r = &runner{t: t, dir: dir, remote: filepath.Join(dir, "remote.git"), token: "a-token-that-may-write",
		inputs: map[string]any{}, printed: &strings.Builder{}, artifacts: filepath.Join(dir, "artifacts"),
		env: []string{
			"HOME=" + dir, "XDG_CACHE_HOME=" + filepath.Join(dir, "cache"), "XDG_RUNTIME_DIR=" + dir,
			"GORACE=" + quickExit,
			"GIT_CONFIG_GLOBAL=" + filepath.Join(dir, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1", "PATH=/usr/bin:/bin",
			"GH_STUB=" + filepath.Join(dir, "gh"), "TTREPORT_RELEASES=file://" + filepath.Join(dir, "releases"),
		}}
	r.git(dir, "init", "-q", "--bare", r.remote)
	r.git(dir, "--git-dir", r.remote, "config", "uploadpack.allowAnySHA1InWant", "true")
	seed = filepath.Join(dir, "acme")
	r.git(dir, "init", "-q", seed)
	cmd := exec.Command(program, "init")
	cmd.Dir = seed
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lay(t, filepath.Join(seed, "ttreport.yaml"), benchmarkPlan)
	lay(t, filepath.Join(seed, "bench.sh"), benchmark)
	return r, seed
}

// commit pushes a speed, which is a number of ms, and returns the commit.
func (r *runner) commit(seed string, speed int, branch string) string {
	r.t.Helper()
	lay(r.t, filepath.Join(seed, "speed"), fmt.Sprintln(speed))
	r.git(seed, "add", ".")
	r.git(seed, "commit", "-qm", fmt.Sprintf("speed %d", speed))
	r.git(seed, "push", "-q", "--force", r.remote, "HEAD:"+branch)
	return strings.TrimSpace(r.git(seed, "rev-parse", "HEAD"))
}

// event sets what happened.
func (r *runner) event(name, sha string, event map[string]any) {
	event["repository"] = map[string]any{"default_branch": "main"}
	r.github = map[string]any{"event_name": name, "sha": sha, "ref": "refs/heads/main", "event": event}
	r.jobs, r.steps = nil, nil
	r.printed.Reset()
	if name != "workflow_run" {
		_ = os.RemoveAll(r.artifacts)
	}
}

const nightly, commenting = ".github/workflows/ttreport.yml", ".github/workflows/ttreport-comment.yml"

// A new repository: what init writes is pushed, and every step of its workflows runs as a runner runs it. Nights grow
// the history and publish the site; a release is refused for a regression; pull requests are commented.
func TestWorkflowsOfInit(t *testing.T) {
	t.Parallel()
	r, seed := startWorkflows(t)
	for i, speed := range []int{1000, 1003, 998, 1001} {
		r.event("schedule", r.commit(seed, speed, "main"), map[string]any{})
		if graded := i >= 2; r.run(nightly) != graded || !r.outcome["measure"] {
			t.Fatalf("night %d: %v", i+1, r.outcome)
		}
	}
	stored := func() string {
		return r.git(r.dir, "--git-dir", r.remote, "ls-tree", "-r", "--name-only", "ttreport-history")
	}
	if n := strings.Count(stored(), ".json\n"); n != 4 || strings.Contains(stored(), "ttreport.yaml") {
		t.Errorf("%d runs are stored:\n%s", n, stored())
	}
	page := r.read(filepath.Join(r.dir, "pages", "index.html"))
	jobs := strings.Join(r.jobs, ", ")
	if !strings.Contains(page, "Results of acme") || jobs != "measure on ubuntu-latest, report on ubuntu-latest" {
		t.Errorf("jobs %v, published %.300s", r.jobs, page)
	}
	r.pullRequests(seed, stored)
	r.releases(seed)
	if n := strings.Count(stored(), ".json\n"); n != 9 {
		t.Errorf("%d runs are stored:\n%s", n, stored())
	}
}

// releases are started by hand: the first two have too few before them to be compared with, and a slower one may not
// ship once a second run has confirmed it, which also opens an issue.
func (r *runner) releases(seed string) {
	r.t.Helper()
	for _, c := range []struct {
		name  string
		speed int
		code  string
	}{{"v1.0.0", 1000, "5"}, {"v1.1.0", 1002, "5"}, {"v1.2.0", 999, "0"}, {"v1.3.0", 1600, "0"},
		{"v1.3.0", 1604, "1"}} {
		r.inputs = map[string]any{"release": c.name, "label": "lab", "timeout": "30"}
		r.event("workflow_dispatch", r.commit(seed, c.speed, "main"), map[string]any{})
		if ships := r.run(nightly); ships != (c.code == "0") || r.jobs[0] != "measure on lab" {
			r.t.Errorf("%s: %v on %v", c.name, r.outcome, r.jobs)
		}
		page := r.read(filepath.Join(r.dir, "pages", "releases", c.name, "index.html"))
		if !strings.Contains(page, c.name) {
			r.t.Errorf("no page of %s: %.300s", c.name, page)
		}
	}
	const annotation = "::error title=ttreport: FAIL::FAIL: first_byte_ms of sim-8b on simulated regressed"
	if !strings.Contains(r.printed.String(), annotation) {
		r.t.Error("no annotation: " + r.printed.String())
	}
	if log := r.read(filepath.Join(r.dir, "gh", "log")); !strings.Contains(log, "Confirmed regressions on simulated") {
		r.t.Error("no issue: " + log)
	}
}

// pullRequests are one of a fork, whose files reach no token and are not run where there is one, and its comment, which
// is written once and then updated.
func (r *runner) pullRequests(seed string, stored func() string) {
	r.t.Helper()
	before, canary := stored(), filepath.Join(r.dir, "hacked")
	r.git(seed, "checkout", "-qb", "fork")
	lay(r.t, filepath.Join(seed, "bench.sh"), benchmark+`
printf 'judge: {fail_on: [none]}\nexec: {x: touch `+canary+` {out}}\n' >results/ttreport.yaml
mkdir -p results/.github/action && echo 'touch `+canary+`' >results/.github/action/ttreport.sh
`)
	fork := map[string]any{"number": 7, "pull_request": map[string]any{"head": map[string]any{
		"repo": map[string]any{"fork": true}}}}
	for round, speed := range []int{1400, 1000} {
		sha := r.commit(seed, speed, "refs/pull/7/merge")
		r.fork = true
		r.event("pull_request", sha, fork)
		if !r.run(nightly) || strings.Join(r.jobs, ", ") != "measure on ubuntu-latest" {
			r.t.Fatalf("%v, %v", r.outcome, r.jobs)
		}
		if strings.Contains(strings.Join(r.steps, ""), r.token) {
			r.t.Error("a step of a fork's pull request can read the token")
		}
		r.fork = false
		lay(r.t, filepath.Join(r.dir, "gh", "7.sha"), sha)
		main := strings.TrimSpace(r.git(r.dir, "--git-dir", r.remote, "rev-parse", "main"))
		r.event("workflow_run", main, map[string]any{
			"workflow_run": map[string]any{"id": 1, "event": "pull_request", "head_sha": sha}})
		if r.run(commenting) != (round == 1) {
			r.t.Errorf("round %d: %v", round, r.outcome)
		}
		comment := r.read(filepath.Join(r.dir, "gh", "comment"))
		r.t.Logf("the comment:\n%s", comment)
		slow := strings.Contains(comment, "regressed (suspected")
		if slow != (round == 0) || !strings.HasPrefix(comment, "<!-- ttreport -->") {
			r.t.Errorf("round %d: %s", round, comment)
		}
	}
	lay(r.t, filepath.Join(r.dir, "gh", "7.sha"), "that of somebody else's pull request")
	written := r.read(filepath.Join(r.dir, "gh", "log"))
	if r.run(commenting); r.read(filepath.Join(r.dir, "gh", "log")) != written {
		r.t.Error("a comment is written to a pull request that was not measured")
	}
	if _, err := os.Stat(canary); err == nil {
		r.t.Error("a file of the fork was run beside a token")
	}
	if stored() != before {
		r.t.Errorf("a pull request changed the history: %s", stored())
	}
	r.git(seed, "checkout", "-q", "main")
}
