package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/kballard/go-shellquote"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/bisection"
	search "github.com/ttreport/ttreport/targets/regression/bisection"
)

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
	log     *bisectJournal
	used    time.Duration
	passes  int
}

// list prints the builds.
func (h *hunt) list() error {
	for i, r := range h.refs {
		word := ""
		switch {
		case i == 0:
			word = "good"
		case i == len(h.refs)-1:
			word = "bad"
		}
		fmt.Fprintf(h.sh.out, "%4d  %-4s  %s  %s%s\n", i, word, r.Name, r.Subject, r.missing)
	}
	fmt.Fprintf(h.sh.out, "each measured in turns with %s: %s\n", h.refs[0].Name, h.o.title())
	return nil
}

// id names the bisection: the same command resumes it.
func (h *hunt) id() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q %q %q %d", h.o.title(), h.o.metric, h.o.build, h.o.server, h.o.list, h.o.seed)
	for _, r := range h.refs {
		fmt.Fprintf(sum, "%q", r.Name)
	}
	return hex.EncodeToString(sum.Sum(nil)[:4])
}

// run searches until it is decided, or the budget ends.
func (h *hunt) run(ctx context.Context) error {
	if h.dir = h.o.out; h.dir == "" {
		h.dir = filepath.Join(h.ws.Dir, "bisect", h.id())
	}
	if err := os.MkdirAll(filepath.Join(h.dir, "results"), 0o777); err != nil {
		return failure{code: exitCollect, err: err, hint: "choose another folder with --out"}
	}
	release, err := lock(ctx, h.sh, h.dir, folderlock.Exclusive, 0)
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
			return "no build can tell more", nil
		case h.o.budget > 0 && h.used >= h.o.budget:
			return fmt.Sprintf("the budget of %s is used up; the same command with a larger one goes on", h.o.budget), nil
		case h.passes >= h.o.measurements:
			return fmt.Sprintf("%d measurements were made; --measurements allows more", h.passes), nil
		}
		if err := h.step(ctx, at); err != nil {
			return "interrupted; the same command resumes", err
		}
		if err := h.write("it goes on"); err != nil {
			return "", err
		}
	}
}

// step measures a build in turns with the good one. A build that does not build, start or answer is skipped; where the
// good one does not, that is an error.
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
	h.say(at, values[at]/values[0]-1)
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

// say shows a measurement, and what is known after it.
func (h *hunt) say(at int, change float64) {
	r := h.result("")
	best := h.label(r.To + 1)
	if r.From != r.To {
		best = h.label(r.From+1) + " to " + best
	}
	text := fmt.Sprintf("first bad: %s with %.3f", best, r.P)
	if r.None {
		text = fmt.Sprintf("no difference yet: %.3f", r.P)
	}
	h.sh.say("%4d  %-14s %+6.1f %%   bad with %.3f   %s", h.passes, h.label(at), 100*change, r.Builds[at-1].Bad, text)
}

// label is a short name of a build: of a long line of a list, its number.
func (h *hunt) label(at int) string {
	const longest = 40
	if name := h.refs[at].Name; len(name) <= longest {
		return name
	}
	return fmt.Sprintf("build %d", at)
}

// measure starts the server of a build, measures it and returns the metric.
func (h *hunt) measure(ctx context.Context, at int) (float64, error) {
	r := &h.refs[at]
	c := collectOptions{}
	c.System = plan.System{Model: h.o.model, Device: h.o.device, Release: r.release, Channel: schema.ChannelDev}
	c.Measure = plan.Measure{
		Workloads: h.o.workloads, Only: plan.OnlyBenchmarks, Repeat: 1, Seed: h.o.seed + uint64(h.passes),
	}
	c.Run.NoResume = true
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
	c.Server.StartupTimeout = h.o.startup
	if h.o.port > 0 {
		c.Server.Port = h.o.port
	}
	s, err := c.session(ctx, h.sh, h.ws, newProgress(h.sh))
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
	return h.metricOf(out)
}

// metricOf returns the metric of a run.
func (h *hunt) metricOf(out collect.Outcome) (float64, error) {
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
		Title: h.o.title(), Metric: h.o.metric, Good: h.refs[0].Name, From: max(a.From, 1) - 1, To: max(a.To, 1) - 1,
		P: a.P, None: a.None, Decided: decided, Effect: math.Expm1(h.o.sign() * p.Effect), Noise: p.Noise,
		Measurements: h.passes, Simulated: schema.SameDevice(h.o.device, schema.Simulated), Why: why,
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
