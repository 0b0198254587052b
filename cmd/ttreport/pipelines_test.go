package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// codeOf is the first block of code of a page.
func codeOf(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile("../../templates/docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for line := range strings.Lines(string(text)) {
		inner, isCode := strings.CutPrefix(line, "    ")
		if !isCode && code.Len() > 0 && strings.TrimSpace(line) != "" {
			break
		}
		if isCode || code.Len() > 0 {
			code.WriteString(inner)
		}
	}
	return code.String()
}

// pipeline is what a page says of a job: its lines, and how its shell runs them, in one process or a process each.
type pipeline struct {
	shell   []string
	nightly []string
	pull    []string
	env     []string
}

// gitLab runs the lines of a script in one shell.
func gitLab(t *testing.T) pipeline {
	var file struct {
		Pages        struct{ Script []string }
		MergeRequest struct{ Script []string } `yaml:"merge-request"`
	}
	if err := yaml.Unmarshal([]byte(codeOf(t, "gitlab.md")), &file); err != nil {
		t.Fatal(err)
	}
	return pipeline{[]string{"bash", "-eo", "pipefail", "-c"}, []string{strings.Join(file.Pages.Script, "\n")},
		[]string{strings.Join(file.MergeRequest.Script, "\n")}, []string{"CI_COMMIT_SHORT_SHA=0a1b", "CI_DEFAULT_BRANCH=main",
			"CHANNEL=main"}}
}

// jenkins runs each sh step in a shell.
func jenkins(t *testing.T) pipeline {
	steps := map[string][]string{}
	stage := ""
	for line := range strings.Lines(codeOf(t, "jenkins.md")) {
		if m := regexp.MustCompile(`stage\('(\w+)'\)`).FindStringSubmatch(line); m != nil {
			stage = m[1]
		}
		if m := regexp.MustCompile(`^\s*sh '(.*)'$`).FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			steps[stage] = append(steps[stage], m[1])
		}
	}
	p := pipeline{shell: []string{"sh", "-xe", "-c"}, env: []string{"BUILD_TAG=jenkins-acme-1"}}
	p.nightly = append(append(p.nightly, steps["measure"]...), steps["store"]...)
	p.pull = append(append(p.pull, steps["measure"]...), steps["judge"]...)
	return p
}

// run runs lines in a fresh checkout without a branch, as these systems make it, and returns the exit code. Somebody
// else pushes meanwhile.
func (p pipeline) run(r *runner, sha string, lines, env []string, meanwhile func()) (code int, at string) {
	r.t.Helper()
	r.begun++
	at = filepath.Join(r.dir, fmt.Sprintf("job-%d", r.begun))
	r.git(r.dir, "clone", "-q", r.remote, at)
	r.git(at, "fetch", "-q", "origin", sha)
	r.git(at, "checkout", "-q", "--detach", sha)
	meanwhile()
	program, err := exec.LookPath("ttreport")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, line := range lines {
		argv := append(append([]string(nil), p.shell...), line)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = at
		cmd.Env = append(append(append([]string(nil), r.env...), p.env...), "CI=true",
			"PATH="+filepath.Dir(program)+":/usr/bin:/bin")
		cmd.Env = append(cmd.Env, env...)
		out, err := cmd.CombinedOutput()
		r.t.Logf("%s: %v\n%s", line, err, out)
		if err != nil {
			return cmd.ProcessState.ExitCode(), at
		}
	}
	return 0, at
}

// The pipelines of the pages about GitLab and Jenkins do what the pages say, in a shell and with a bare remote: nights
// are stored beside what others push, a slower pull request fails, is reported as tests and is not stored.
func TestPipelinesOfPages(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(*testing.T) pipeline{"GitLab": gitLab, "Jenkins": jenkins} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := of(t)
			r, seed := startWorkflows(t)
			r.git(r.dir, "--git-dir", r.remote, "config", "receive.advertisePushOptions", "true")
			for i, speed := range []int{1000, 1003, 998} {
				sha := r.commit(seed, speed, "main")
				code, at := p.run(r, sha, p.nightly, nil, func() { r.commit(seed, speed+1, "main") })
				if want := map[bool]int{true: 5, false: 0}[i < 2]; code != want {
					t.Fatalf("night %d: exit %d, want %d", i+1, code, want)
				}
				if page := r.read(filepath.Join(at, "public", "index.html")); !strings.Contains(page, "Results of acme") {
					t.Errorf("no site: %.200s", page)
				}
				r.git(seed, "pull", "-q", "--rebase", r.remote, "main")
			}
			stored := r.git(r.dir, "--git-dir", r.remote, "ls-tree", "-r", "--name-only", "main", "history")
			if strings.Count(stored, ".json\n") != 3 {
				t.Errorf("stored: %s", stored)
			}
			code, at := p.run(r, r.commit(seed, 1500, "refs/pull/7/merge"), p.pull, nil, func() {})
			if tests := r.read(filepath.Join(at, "junit.xml")); code != 1 || !strings.Contains(tests, "<failure") {
				t.Errorf("exit %d, %.300s", code, tests)
			}
			if now := r.git(r.dir, "--git-dir", r.remote, "ls-tree", "-r", "--name-only", "main", "history"); now != stored {
				t.Errorf("a pull request is stored: %s", now)
			}
			if name == "GitLab" {
				tag := []string{"CI_COMMIT_TAG=v1.0.0", "CHANNEL=release"}
				_, at = p.run(r, r.commit(seed, 1001, "main"), p.nightly, tag, func() {})
				runs, err := filepath.Glob(filepath.Join(at, "history", "*", "*", "*.json"))
				tagged := func(run string) bool { return strings.Contains(r.read(run), `"channel":"release"`) }
				if err != nil || len(runs) != 4 || !slices.ContainsFunc(runs, tagged) { // two may be of one second
					t.Errorf("%v, %v: none of the release", err, runs)
				}
			}
		})
	}
}
