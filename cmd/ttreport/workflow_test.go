package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
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
			"GORACE=" + quickExit, "GOGC=" + rareGC,
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
	r.github = map[string]any{"event_name": name, "sha": sha, "ref": "refs/heads/main", "ref_name": "main", "event": event}
	r.jobs, r.steps = nil, nil
	r.printed.Reset()
	if name != "workflow_run" {
		_ = os.RemoveAll(r.artifacts)
	}
}

const nightly, commenting = ".github/workflows/ttreport.yml", ".github/workflows/ttreport-comment.yml"

// A run on demand neither waits for another one nor takes its place in the queue, which has one; a new push to a pull
// request ends the measurement of the one before.
func TestWorkflowRunsBesideOthers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../templates/init/" + nightly)
	var w workflow
	if err == nil {
		err = yaml.Unmarshal(text, &w)
	}
	if err != nil {
		t.Fatal(err)
	}
	group := func(event, ref string, run int) string {
		return interpolate(t, w.Concurrency.Group, map[string]any{"github": map[string]any{
			"event_name": event, "ref": ref, "run_id": run}})
	}
	const main, pull = "refs/heads/main", "refs/pull/7/merge"
	if group("workflow_dispatch", main, 1) == group("workflow_dispatch", main, 2) {
		t.Error("of three runs on demand, the second is cancelled by the third")
	}
	if group("pull_request", pull, 1) != group("pull_request", pull, 2) || !w.Concurrency.Cancel {
		t.Error("what a pull request had before is measured to its end")
	}
}

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
	if !strings.Contains(page, "Results of acme") ||
		jobs != "measure on ubuntu-latest, report on ubuntu-latest, publish on ubuntu-latest" {
		t.Errorf("jobs %v, published %.300s", r.jobs, page)
	}
	r.published()
	r.branches(seed, stored)
	r.pullRequests(seed, stored)
	r.releases(seed)
	if n := strings.Count(stored(), ".json\n"); n != 10 {
		t.Errorf("%d runs are stored:\n%s", n, stored())
	}
	r.verified()
}

// published is a site for everybody: no command of a run, a feed, and a page of addresses that are not there whose
// style is found from any folder.
func (r *runner) published() {
	r.t.Helper()
	pages := filepath.Join(r.dir, "pages")
	if page := r.read(filepath.Join(pages, "404.html")); !strings.Contains(page, `href="/results/assets/site.css`) {
		r.t.Errorf("404.html: %.500s", page)
	}
	if feed := r.read(filepath.Join(pages, "feed.xml")); !strings.Contains(feed, "https://acme.example/results/") {
		r.t.Errorf("feed.xml: %.500s", feed)
	}
	err := fs.WalkDir(os.DirFS(pages), ".", func(name string, e fs.DirEntry, err error) error {
		if !e.IsDir() && strings.Contains(r.read(filepath.Join(pages, name)), "sh bench.sh") {
			r.t.Errorf("%s has a command", name)
		}
		return err
	})
	if err != nil {
		r.t.Error(err)
	}
}

// branches are measured on demand: what another branch has is shown on channel dev, and is no baseline of main.
func (r *runner) branches(seed string, stored func() string) {
	r.t.Helper()
	r.git(seed, "checkout", "-qb", "slow")
	r.commit(seed, 1900, "slow")
	r.git(seed, "checkout", "-q", "main")
	before := stored()
	r.inputs = map[string]any{"gitref": "slow"}
	r.event("workflow_dispatch", strings.TrimSpace(r.git(seed, "rev-parse", "HEAD")), map[string]any{})
	r.run(nightly)
	r.inputs = map[string]any{}
	for name := range strings.Lines(stored()) {
		text := r.git(r.dir, "--git-dir", r.remote, "show", "ttreport-history:"+strings.TrimSpace(name))
		if isNew := !strings.Contains(before, name); strings.Contains(text, `"channel":"dev"`) != isNew {
			r.t.Errorf("%s, new: %v: %.300s", name, isNew, text)
		}
	}
}

// verified compares the history with the files that were measured, from the two branches alone.
func (r *runner) verified() {
	r.t.Helper()
	at := filepath.Join(r.dir, "later")
	r.git(r.dir, "clone", "-q", "--branch", "ttreport-raw", r.remote, at)
	r.git(at, "fetch", "-q", "origin", "ttreport-history")
	r.git(at, "checkout", "-q", "FETCH_HEAD", "--", "history")
	cmd := exec.Command("ttreport", "verify")
	cmd.Dir = at
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "40 files") {
		r.t.Errorf("%v: %s", err, out)
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
		time.Sleep(time.Second) // what began in one second confirms nothing
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
	const annotation = "::error title=ttreport: FAIL::FAIL: first_byte_ms of sim-8b on simulated is +"
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
		slow := strings.Contains(comment, "(all 4 numbers), suspected")
		if slow != (round == 0) || !strings.HasPrefix(comment, "<!-- ttreport -->") {
			r.t.Errorf("round %d: %s", round, comment)
		}
	}
	lay(r.t, filepath.Join(r.dir, "gh", "7.sha"), "that of somebody else's pull request")
	written := r.read(filepath.Join(r.dir, "gh", "log"))
	if !r.run(commenting) {
		r.t.Errorf("a newer push fails the comment: %v", r.outcome)
	}
	if r.read(filepath.Join(r.dir, "gh", "log")) != written {
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

// A release is a tag vX.Y.Z; the tag of its major version, which workflows use, follows it, and no release candidate.
func TestReleaseMovesItsMajorTag(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../.github/workflows/release.yml")
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	if tags := fmt.Sprint(w.On["push"]); tags != "map[tags:[v*.*.*]]" {
		t.Error(tags) // or the tag of a major version would be a release
	}
	steps := w.Jobs["release"].Steps
	for tag, want := range map[string]string{
		"v1.4.0": "release create v1.4.0 --repo acme/results --latest --generate-notes dist/x\n" +
			"api -X PATCH repos/acme/results/git/refs/tags/v1 -f sha=0a1b2c -F force=true\n" +
			"api -X POST repos/acme/results/git/refs -f ref=refs/tags/v1 -f sha=0a1b2c\n",
		"v2.0.0-rc1": "release create v2.0.0-rc1 --repo acme/results --prerelease --generate-notes dist/x\n",
	} {
		dir := t.TempDir()
		lay(t, filepath.Join(dir, "dist", "x"), "")
		lay(t, filepath.Join(dir, "gh"), "#!/bin/sh\necho \"$*\" >>log\n[ \"$3\" != PATCH ]\n")
		if err := os.Chmod(filepath.Join(dir, "gh"), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("bash", "-e", "-c", steps[len(steps)-1].Run)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir + ":/usr/bin:/bin", "GITHUB_REF_NAME=" + tag,
			"GITHUB_REPOSITORY=acme/results", "GITHUB_SHA=0a1b2c"}
		out, err := cmd.CombinedOutput()
		told, _ := os.ReadFile(filepath.Join(dir, "log"))
		if err != nil || string(told) != want {
			t.Errorf("%s: %v %s, gh was told\n%s", tag, err, out, told)
		}
	}
}
