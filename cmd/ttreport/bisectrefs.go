package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/registry"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/glob"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/targets/judge"
)

// ref is one build: the good one first, then those up to the bad one.
type ref struct {
	Name    string // what people call it: a commit, an image, a release
	Subject string // of a commit
	commit  string
	tag     string // of an image of a registry
	server  plan.ServerOptions
	release string // of history
	missing string // why it cannot be started; "" where it can
}

// refs lists the builds in order.
func (o *bisectOptions) refs(ctx context.Context, ws *workspace.Workspace) ([]ref, error) {
	var list []ref
	var err error
	switch {
	case o.server != "":
		return o.commits(ctx)
	case o.list != "":
		list, err = o.listed()
	case o.images != "":
		list, err = o.tagged(ctx)
	default:
		list, err = o.releases(ctx, ws)
	}
	if err != nil {
		return nil, err
	}
	from, to := 0, len(list)-1
	for _, x := range []struct {
		flag, name string
		at         *int
	}{{"good", o.good, &from}, {"bad", o.bad, &to}} {
		if x.name == "" {
			continue
		}
		is := func(r ref) bool { return r.Name == x.name || r.tag == x.name }
		if *x.at = slices.IndexFunc(list, is); *x.at < 0 {
			return nil, fail(exitUsage, "ttreport bisect --dry-run lists the builds",
				"bisect: --%s %q is none of the %d builds", x.flag, x.name, len(list))
		}
	}
	if to-from < 1 {
		return nil, fail(exitUsage, "--good must come before --bad", "bisect: nothing lies between %q and %q", o.good, o.bad)
	}
	return list[from : to+1], nil
}

// commits lists the first parents from the good commit to the bad one.
func (o *bisectOptions) commits(ctx context.Context) ([]ref, error) {
	text, err := o.git(ctx, "log", "--first-parent", "--reverse", "--format=%H %s", o.good+".."+o.bad, "--")
	if err != nil {
		return nil, err
	}
	good, err := o.git(ctx, "log", "-1", "--format=%H %s", o.good, "--")
	if err != nil {
		return nil, err
	}
	var out []ref
	for line := range strings.Lines(good + text) {
		commit, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		if len(commit) < 12 {
			continue
		}
		out = append(out, ref{Name: commit[:12], Subject: subject, commit: commit})
	}
	if len(out) < 2 {
		return nil, fail(exitUsage, "--good must be an ancestor of --bad", "bisect: no commit lies between %s and %s", o.good,
			o.bad)
	}
	return out, nil
}

// git runs git in the repository and returns what it prints.
func (o *bisectOptions) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", o.repo}, args...)...)
	var out, bad bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bad
	if err := cmd.Run(); err != nil {
		return "", fail(exitUsage, "--repo FOLDER names the repository, --good and --bad commits of it",
			"bisect: git %s: %s", args[0], strings.TrimSpace(bad.String()+" "+err.Error()))
	}
	return out.String(), nil
}

// listed reads images and commands, one a line.
func (o *bisectOptions) listed() ([]ref, error) {
	data, err := os.ReadFile(o.list)
	if err != nil {
		return nil, fail(exitUsage, "a file with one image or 'command …' a line, oldest first", "bisect: --list: %w", err)
	}
	var out []ref
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		r := ref{Name: line}
		var as plan.ServerName
		switch err := as.UnmarshalText([]byte(line)); {
		case err == nil && as.Kind == plan.ServerCommand:
			r.server.Name = as
		case err == nil:
			return nil, fail(exitUsage, "an image, or 'command ./serve --port 8000'",
				"bisect: --list: %q is not a server that can be started again", line)
		default:
			r.server = o.Options.Server
			r.server.Name, r.server.Image = plan.ServerName{Kind: plan.ServerDocker}, line
		}
		out = append(out, r)
	}
	if len(out) < 2 {
		const fix = "one image or 'command …' a line, oldest first"
		return nil, fail(exitUsage, fix, "bisect: --list %s has %d builds", o.list, len(out))
	}
	return out, nil
}

// tagged lists the tags of an image in order.
func (o *bisectOptions) tagged(ctx context.Context) ([]ref, error) {
	var all, tags []string
	pattern := cmp.Or(o.tags, "*")
	image, err := registry.Parse(o.images)
	if err == nil {
		err = glob.Check(pattern)
	}
	if err == nil {
		all, err = image.Tags(ctx)
	}
	if err == nil {
		tags, err = registry.Select(all, pattern)
	}
	if err == nil && len(tags) < 2 {
		err = fmt.Errorf("it has only one tag that matches %q", pattern)
	}
	if err != nil {
		const example = "--images ghcr.io/acme/server --tags 'nightly-*', or --list FILE"
		return nil, fail(exitUsage, example, "bisect: --images %s: %w", o.images, err)
	}
	var out []ref
	for _, tag := range tags {
		r := ref{Name: o.images + ":" + tag, tag: tag}
		r.server = o.Options.Server
		r.server.Name, r.server.Image = plan.ServerName{Kind: plan.ServerDocker}, r.Name
		out = append(out, r)
	}
	return out, nil
}

// releases lists the releases of history of the model on the device, in order.
func (o *bisectOptions) releases(ctx context.Context, ws *workspace.Workspace) ([]ref, error) {
	past, _, err := history.Load(ctx, ws.History())
	if err != nil {
		return nil, err
	}
	order, err := ws.ReleaseOrder()
	if err != nil {
		return nil, failure{code: exitUsage, err: err}
	}
	var out []ref
	for _, r := range judge.Releases(past, order) {
		if !r.Label {
			continue
		}
		h := newestOf(past, r.Name, o.System)
		if h == nil {
			continue
		}
		var of collectOptions
		one := ref{Name: r.Name, release: r.Name}
		if err := of.startAs(h); err != nil {
			one.missing = err.Error()
		}
		one.server = of.Server
		out = append(out, one)
	}
	if len(out) < 2 {
		return nil, fail(exitUsage, "--good REF --bad REF with --server and --build, or --list FILE",
			"bisect: history/ has %d releases of %s on %s", len(out), o.System.Model, o.System.Device)
	}
	return out, nil
}

// ofVerdict takes what flags leave open from a verdict: what changed, and between which releases.
func (o *bisectOptions) ofVerdict(ctx context.Context, ws *workspace.Workspace, id string) error {
	report, _, err := judged(ctx, ws, checkOptions{by: fmt.Sprintf("bisect: verdict %.40q", id)})
	if err != nil {
		return err
	}
	v, _, ok := report.Gate.Verdict(id)
	if !ok || v.Against != schema.AgainstHistory || v.Key.IsEval() {
		return fail(exitUsage, "ids are in brackets in ttreport check",
			"bisect: no verdict on load against history has the id %q", id)
	}
	o.System.Model, o.System.Device = cmp.Or(o.System.Model, v.Model), cmp.Or(o.System.Device, v.Device)
	o.metric = cmp.Or(o.metric, v.Metric)
	o.improved = o.improved || v.Outcome == schema.Improved
	if o.list+o.images+o.server == "" && o.good == "" && o.bad == "" {
		o.good, o.bad = v.Baseline, v.Release
	}
	if len(o.Measure.Workloads) > 0 {
		return nil
	}
	const fix = "--workload isl=128,osl=128,c=1,n=16"
	if v.Key.ISL == nil || v.Key.OSL == nil || v.Key.Concurrency == nil && v.Key.Rate == nil {
		return fail(exitUsage, fix, "bisect: the verdict's workload has no lengths or no load")
	}
	var w plan.Workload
	if err := w.Parse(render.WorkloadFlag(v.Key)); err != nil {
		return fail(exitUsage, fix, "bisect: the verdict's workload: %w", err)
	}
	o.Measure.Workloads = append(o.Measure.Workloads, w)
	return nil
}

// checkout makes the folder of a commit and builds it; what it prints goes to a log.
func (o *bisectOptions) checkout(ctx context.Context, r *ref, folder string) (dir string, err error) {
	dir, err = filepath.Abs(filepath.Join(folder, r.Name))
	if err != nil {
		return "", err
	}
	done := filepath.Join(folder, r.Name+".built")
	if _, err := os.Stat(done); err == nil {
		return dir, nil
	}
	if _, err := os.Stat(dir); err != nil {
		if _, err := o.git(ctx, "worktree", "add", "--detach", "--force", dir, r.commit); err != nil {
			return dir, err
		}
	}
	if o.build != "" {
		log, err := os.Create(filepath.Join(folder, r.Name+".log"))
		if err != nil {
			return dir, err
		}
		defer log.Close()
		cmd := exec.CommandContext(ctx, "sh", "-c", fillIn(o.build, r, dir))
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
		if err := cmd.Run(); err != nil {
			return dir, fmt.Errorf("it does not build: %w; %s", err, log.Name())
		}
	}
	return dir, os.WriteFile(done, nil, 0o666)
}

// fillIn puts a build into a command of the user, quoted for a shell.
func fillIn(command string, r *ref, dir string) string {
	id := shellescape.Quote(cmp.Or(r.commit, r.Name))
	return strings.NewReplacer("{ref}", id, "{dir}", shellescape.Quote(dir)).Replace(command)
}
