package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/registry"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/glob"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/bisection"
	"github.com/ttreport/ttreport/targets/judge"
	search "github.com/ttreport/ttreport/targets/regression/bisection"
)

func bisectCommand(sh *shell) *cobra.Command {
	c := command("bisect", nil, nil)
	fs := c.Flags()
	o := bisectOptions{flags: fs}
	o.declare(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if at := fs.ArgsLenAtDash(); at >= 0 {
			o.Server.Args, args = args[at:], args[:at]
		}
		return o.run(c.Context(), sh, args)
	}
	return c
}

// bisectOptions are the flags of bisect. Those that collect has too are in its options: what every build is measured
// with, and what every image is started with.
type bisectOptions struct {
	plan.Options
	flags *pflag.FlagSet

	good, bad         string
	build, repo, list string
	images, tags      string
	server            string
	metric            string
	least, error      string
	budget            time.Duration
	measurements      int
	improved          bool
	dryRun            bool
	out               string
	rules             search.Rules
}

func (o *bisectOptions) declare(c *cobra.Command) {
	o.repo, o.least, o.error, o.measurements, o.Measure.Seed = ".", "2%", "2%", 300, 1
	s := &o.Options.Server
	bind(c, map[string]any{
		"good": &o.good, "bad": &o.bad, "build": &o.build, "repo": &o.repo, "list": &o.list, "images": &o.images,
		"tags": &o.tags, "server": &o.server, "container-engine": &s.ContainerEngine, "container-port": &s.ContainerPort,
		"volume": &s.Volumes, "run-arg": &s.RunArgs, "port": &s.Port, "model": &o.System.Model, "device": &o.System.Device,
		"workload": &o.Measure.Workloads, "metric": &o.metric, "improved": &o.improved, "least": &o.least,
		"error": &o.error, "budget": &o.budget, "measurements": &o.measurements, "startup-timeout": &s.StartupTimeout,
		"dry-run": &o.dryRun, "out": &o.out, "seed": &o.Measure.Seed,
	})
}

// run finds the builds, and the first bad one of them.
func (o *bisectOptions) run(ctx context.Context, sh *shell, args []string) error {
	if len(args) > 1 {
		return fail(exitUsage, "ttreport bisect --help", "bisect: unexpected %q", args[1])
	}
	ws, err := openWorkspace(".")
	if err != nil {
		return err
	}
	if len(args) == 1 {
		if err := o.ofVerdict(ctx, ws, args[0]); err != nil {
			return err
		}
	}
	if err := o.complete(); err != nil {
		return err
	}
	refs, err := o.refs(ctx, ws)
	if err != nil {
		return err
	}
	h := &hunt{o: o, sh: sh, ws: ws, refs: refs}
	if o.dryRun {
		ends := map[int]string{0: "good", len(refs) - 1: "bad"}
		for i, r := range refs {
			fmt.Fprintf(sh.out, "%4d  %-4s  %s  %s%s\n", i, ends[i], r.Name, r.Subject, r.missing)
		}
		fmt.Fprintf(sh.out, "each measured in turns with %s: %s\n", refs[0].Name, o.title())
		return nil
	}
	return h.run(ctx)
}

// complete fills in defaults and refuses values that do not exist; each error names the flag with an example.
func (o *bisectOptions) complete() error {
	o.metric = cmp.Or(o.metric, "ttft")
	var err error
	if o.rules.Least, err = share("least", o.least, 5); err != nil {
		return err
	}
	o.rules = search.DefaultRules(math.Log1p(o.rules.Least))
	if o.rules.Error, err = share("error", o.error, .2); err != nil {
		return err
	}
	switch {
	case o.System.Model == "" || o.System.Device == "":
		return fail(exitUsage, "--model acme/tiny --device n150", "bisect: --model and --device are both needed")
	case len(o.Measure.Workloads) != 1:
		return fail(exitUsage, "--workload isl=128,osl=128,c=1,n=16", "bisect: expected one --workload, got %d",
			len(o.Measure.Workloads))
	case !slices.Contains([]string{"ttft", "tpot", "e2el", "output_tps"}, o.metric):
		return fail(exitUsage, "--metric ttft", "bisect: --metric must be ttft, tpot, e2el or output_tps, got %q", o.metric)
	case len(o.Options.Server.Args) > 0 && o.images+o.list == "":
		return fail(exitUsage, "--images ghcr.io/acme/server, or --list FILE with images",
			"bisect: arguments after -- need --images or --list")
	}
	return nil
}

// share reads a percentage: "2%", "2.5 %" or .02.
func share(flag, text string, most float64) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0) || v > most {
		return 0, fail(exitUsage, "--"+flag+" 2%", "bisect: --%s must be between 0 and %g%%, got %q", flag, 100*most, text)
	}
	return v, nil
}

// sign is +1 where the change that is searched makes the metric larger.
func (o *bisectOptions) sign() float64 {
	sign := 1.
	if info, _ := schema.MetricByName(o.metric); info.Better == schema.Higher {
		sign = -1
	}
	if o.improved {
		sign = -sign
	}
	return sign
}

// title says what is searched.
func (o *bisectOptions) title() string {
	info, _ := schema.MetricByName(o.metric)
	return fmt.Sprintf("%s of %s on %s, %s", info.Label, o.System.Model, o.System.Device, o.Measure.Workloads[0])
}

// hunt is a bisection in progress.
type hunt struct {
	o       *bisectOptions
	sh      *shell
	ws      *workspace.Workspace
	refs    []ref // the good one first
	dir     string
	search  *search.Search
	changes [][]float64 // relative, by build from 0 for the good one
	skipped []string
	log     *durable.Journal[bisectEntry] // that it is resumed from
	used    time.Duration
	passes  int
}

// run searches until it is decided, or the budget ends.
func (h *hunt) run(ctx context.Context) error {
	if h.dir = h.o.out; h.dir == "" { // the same command resumes it
		id := fmt.Sprintf("%q %q %q %q %q %d", h.o.title(), h.o.metric, h.o.build, h.o.server, h.o.list, h.o.Measure.Seed)
		for _, r := range h.refs {
			id += fmt.Sprintf("%q", r.Name)
		}
		sum := sha256.Sum256([]byte(id))
		h.dir = filepath.Join(h.ws.Dir, "bisect", hex.EncodeToString(sum[:4]))
	}
	if err := os.MkdirAll(filepath.Join(h.dir, "results"), 0o777); err != nil {
		return failure{code: exitCollect, err: err, hint: "choose another folder with --out"}
	}
	release, err := (&shell{err: h.sh.err}).lock(ctx, h.dir, folderlock.Exclusive) // without waiting
	if err != nil {
		return err
	}
	defer release()
	n := len(h.refs) - 1
	if h.search, err = search.New(n, h.o.rules); err != nil {
		return fail(exitUsage, "ttreport bisect --help", "bisect: %w", err)
	}
	h.changes, h.skipped = make([][]float64, n+1), make([]string, n+1)
	if h.log, err = openBisectJournal(filepath.Join(h.dir, "journal.jsonl"), h.replay); err != nil {
		return failure{code: exitInput, err: err, hint: "remove " + h.dir + " to begin anew"}
	}
	defer h.log.Close()
	if h.passes > 0 {
		h.sh.say("resume    %d measurements were made before, in %s", h.passes, h.dir)
	}
	for i, r := range h.refs {
		if r.missing != "" && h.skipped[i] == "" {
			if err := h.skip(i, r.missing); err != nil {
				return err
			}
		}
	}
	why, err := h.steps(ctx)
	if writeErr := h.write(why); writeErr != nil {
		err = errors.Join(err, writeErr)
	}
	return h.conclude(ctx, why, err)
}

// steps measures one build after the other; why says why it ended undecided.
func (h *hunt) steps(ctx context.Context) (why string, err error) {
	for {
		_, decided := h.search.Best()
		at := h.search.Next()
		switch {
		case ctx.Err() != nil:
			return "interrupted; the same command resumes", ctx.Err()
		case decided:
			return "", nil
		case at == 0:
			return "no other build would help", nil
		case h.o.budget > 0 && h.used >= h.o.budget:
			return fmt.Sprintf("the budget of %s is used up; the same command with a larger one continues", h.o.budget), nil
		case h.passes >= h.o.measurements:
			return fmt.Sprintf("%d measurements were made; --measurements allows more", h.passes), nil
		}
		if err := h.step(ctx, at); ctx.Err() == nil && err != nil {
			return "a measurement failed; the same command resumes", err
		}
		if err := h.write("it goes on"); err != nil {
			return "", err
		}
	}
}

// step measures a build in turns with the good one, and shows what is known after it. A build that does not build,
// start or answer is skipped; where the good one does not, that is an error.
func (h *hunt) step(ctx context.Context, at int) error {
	began := time.Now()
	order := []int{0, at}
	if h.passes%2 == 1 { // both orders alike, so that drift cancels
		order = []int{at, 0}
	}
	values := map[int]float64{}
	for _, i := range order {
		v, err := h.measure(ctx, i)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && i == 0:
			return fail(exitCollect, collect.Advice(err, h.dir), "bisect: the good build %s: %w", h.refs[0].Name, err)
		case err != nil:
			return h.skip(at, err.Error())
		}
		values[i] = v
	}
	e := bisectEntry{
		Build: at, Ref: h.refs[at].Name, Good: values[0], Value: values[at], Took: time.Since(began).Seconds(),
	}
	if err := h.log.Log(e); err != nil {
		return err
	}
	h.replay(e)
	now := h.result("")
	label := func(at int) string { return plaintext.Middle(h.refs[at].Name, 40) }
	best := label(now.To + 1)
	if now.From != now.To {
		best = label(now.From+1) + " to " + best
	}
	text := fmt.Sprintf("first bad: %s with %.3f", best, now.P)
	if now.None {
		text = fmt.Sprintf("no difference yet: %.3f", now.P)
	}
	h.sh.say("%4d  %-14s %+6.1f %%   bad with %.3f   %s", h.passes, label(at), 100*(values[at]/values[0]-1),
		now.Builds[at-1].Bad, text)
	return nil
}

// skip leaves a build out.
func (h *hunt) skip(at int, why string) error {
	if at == 0 || at == len(h.refs)-1 {
		return fail(exitCollect, "choose other ends with --good and --bad", "bisect: the end %s: %s", h.refs[at].Name, why)
	}
	e := bisectEntry{Build: at, Ref: h.refs[at].Name, Skipped: redact.Text(why)}
	if err := h.log.Log(e); err != nil {
		return err
	}
	h.replay(e)
	h.sh.say("skipped   %s: %s", h.refs[at].Name, e.Skipped)
	return nil
}

// replay takes an entry of the journal.
func (h *hunt) replay(e bisectEntry) {
	if e.Build < 1 || e.Build >= len(h.refs) || h.refs[e.Build].Name != e.Ref {
		return
	}
	if e.Skipped != "" {
		h.skipped[e.Build] = e.Skipped
		h.search.Skip(e.Build)
		return
	}
	h.passes++
	h.used += time.Duration(e.Took * float64(time.Second))
	h.changes[e.Build] = append(h.changes[e.Build], e.Value/e.Good-1)
	h.search.Observe(e.Build, h.o.sign()*math.Log(e.Value/e.Good))
}

// measure starts the server of a build, measures it and returns the metric.
func (h *hunt) measure(ctx context.Context, at int) (float64, error) {
	r := &h.refs[at]
	c := collectOptions{Options: h.o.Options, sh: h.sh, ws: h.ws}
	c.System.Release, c.System.Channel = r.release, schema.ChannelDev
	c.Measure.Only, c.Measure.Repeat = plan.OnlyBenchmarks, 1
	c.Measure.Seed += uint64(h.passes)
	c.Run.NoResume = true
	limit, port := c.Server.StartupTimeout, c.Server.Port
	if c.Server = r.server; h.o.server != "" {
		folder := filepath.Join(h.dir, "builds")
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return 0, err
		}
		dir, err := h.o.checkout(ctx, r, folder)
		if err != nil {
			return 0, err
		}
		argv, err := shellquote.Split(fillIn(h.o.server, r, dir))
		if err != nil {
			return 0, err
		}
		c.Server.Name = plan.ServerName{Kind: plan.ServerCommand, Argv: argv}
	}
	c.Server.StartupTimeout, c.Server.Port = limit, cmp.Or(port, c.Server.Port)
	s, err := c.session(ctx, newProgress(h.sh))
	if err != nil {
		return 0, err
	}
	if sim, ok := s.Server.(*server.Simulated); ok { // each pass has noise of its own
		sim.Config.Seed += uint64(2*h.passes+min(at, 1)+1) << 41
	}
	release, err := s.Lock()
	if err != nil {
		return 0, err
	}
	defer release()
	out, err := collect.Run(ctx, s.Plan, s.Server, filepath.Join(h.dir, "results"), func(collect.Event) {})
	if err != nil {
		return 0, err
	}
	if len(out.Points) != 1 || out.Failed > 0 {
		return 0, fmt.Errorf("no request succeeded; %s has the reasons", out.Dir)
	}
	p := out.Points[0]
	v := map[string]float64{"ttft": p.TTFT, "tpot": p.TPOT, "e2el": p.E2EL, "output_tps": p.OutputTPS}[h.o.metric]
	if !schema.Measurable(v) {
		return 0, fmt.Errorf("the run in %s has no %s", out.Dir, h.o.metric)
	}
	return v, nil
}

// result is what is known now; why says why it is undecided.
func (h *hunt) result(why string) *bisection.Result {
	a, decided := h.search.Best()
	p := h.search.Posterior()
	r := &bisection.Result{
		Title: h.o.title(), Good: h.refs[0].Name, From: max(a.From, 1) - 1, To: max(a.To, 1) - 1,
		P: a.P, None: a.None, Decided: decided, Effect: math.Expm1(h.o.sign() * p.Effect), Noise: p.Noise,
		Measurements: h.passes, Simulated: schema.SameDevice(h.o.System.Device, schema.Simulated), Why: why,
		Command: h.command(),
	}
	bad := 0.
	for i, x := range h.refs[1:] {
		bad += p.First[i]
		r.Builds = append(r.Builds, bisection.Build{
			Name: redact.Text(x.Name), Subject: redact.Text(x.Subject), First: p.First[i] * (1 - p.None),
			Bad: bad * (1 - p.None), Changes: h.changes[i+1], Skipped: h.skipped[i+1],
		})
	}
	return r
}

// write writes the report and the page.
func (h *hunt) write(why string) error {
	r := h.result(why)
	page, err := bisection.Page(r)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(filepath.Join(h.dir, "bisect.html"), page); err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(h.dir, "bisect.md"), bisection.Markdown(r))
}

// conclude prints the answer. Undecided is an exit code of its own.
func (h *hunt) conclude(ctx context.Context, why string, err error) error {
	r := h.result(why)
	fmt.Fprintln(h.sh.out, r.Headline())
	for _, f := range r.Facts() {
		fmt.Fprintln(h.sh.out, f)
	}
	fmt.Fprintf(h.sh.out, "For an issue: %s. With a picture: %s\n", filepath.Join(h.dir, "bisect.md"),
		filepath.Join(h.dir, "bisect.html"))
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case !r.Decided:
		const fix = "measure longer, or with more requests a measurement (n= of --workload)"
		return fail(exitUngraded, fix, "bisect: not decided")
	}
	return nil
}

// bisectEntry is one line of a bisection's journal: a measurement, or a build that is skipped.
type bisectEntry struct {
	Build   int     `json:"build"` // from 1, after the good one
	Ref     string  `json:"ref"`
	Good    float64 `json:"good,omitempty"`  // the metric of the good build
	Value   float64 `json:"value,omitempty"` // and of this one, measured in turns
	Took    float64 `json:"took_s,omitempty"`
	Skipped string  `json:"skipped,omitempty"`
}

// openBisectJournal reads what is there, up to a line that was cut short, and opens the journal for more. One that is
// damaged before its end is left as it is.
func openBisectJournal(name string, each func(bisectEntry)) (*durable.Journal[bisectEntry], error) {
	data, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	list, size := durable.ReadJournal[bisectEntry](data)
	at := slices.IndexFunc(list, func(e bisectEntry) bool { return e.Skipped == "" && !(e.Good > 0 && e.Value > 0) })
	if at >= 0 || size < len(data) {
		lines := strings.Split(string(data), "\n")
		if at < 0 {
			at = len(list)
		}
		return nil, fmt.Errorf("%s: line %d must be an entry of a bisection, got %.60q", name, at+1, lines[at])
	}
	for _, e := range list {
		each(e)
	}
	return durable.OpenJournal[bisectEntry](name)
}

// command is the command line of the bisection, without secrets: what makes it another one, not how far it may go.
func (h *hunt) command() string {
	howFar := []string{"budget", "measurements", "startup-timeout", "dry-run", "out", "help"} // and where it is kept
	argv := []string{"ttreport", "bisect"}
	h.o.flags.VisitAll(func(f *pflag.Flag) { // also those that a verdict fills in
		if isStated := f.Value.String() != f.DefValue || f.Name == "metric"; isStated && !slices.Contains(howFar, f.Name) {
			argv = append(argv, asArguments(f)...)
		}
	})
	if args := h.o.Options.Server.Args; len(args) > 0 {
		argv = append(append(argv, "--"), args...)
	}
	return shellescape.QuoteCommand(redact.Argv(argv))
}

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
				"bisect: --%s must be one of the %d builds, got %q", x.flag, len(list), x.name)
		}
	}
	if to-from < 1 {
		return nil, fail(exitUsage, "--good must come before --bad",
			"bisect: there are no builds between %q and %q", o.good, o.bad)
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
		return nil, fail(exitUsage, "--good must be an ancestor of --bad",
			"bisect: there are no commits between %s and %s", o.good,
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
	var out []ref
	for _, r := range judge.Releases(past, ws.Order) {
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
