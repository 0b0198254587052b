package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/progress"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/session"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// againstOptions are the flags of a measurement in turns with a baseline.
type againstOptions struct {
	baseline string
	release  string // of a baseline that names none
	port     int    // of a baseline that is started
	blocks   int
	live     bool
}

// againstBaseline measures a plan on two servers in turns.
func (o collectOptions) againstBaseline(ctx context.Context) error {
	if len(o.Evals.Tasks) > 0 || o.Measure.Only == plan.OnlyEvals || o.serverOnly {
		return fail(exitUsage, "collect them by themselves, without --against",
			"collect: --against compares load; it cannot be combined with evals or --server-only")
	}
	show := newProgress(o.sh)
	o.Measure.Only = plan.OnlyBenchmarks
	o.otherWords() // the same for both
	candidate, err := o.session(ctx, show)
	if err != nil {
		return err
	}
	base, err := o.ofBaseline(ctx)
	if err != nil {
		return err
	}
	if base.System.Release == "" && o.System.Release != "" {
		o.sh.say("note: the baseline names no release, so that ttreport check cannot say what %s is compared with; "+
			"--against-release v1 names it, and ttreport compare needs no name", o.System.Release)
	}
	baseline, err := base.session(ctx, show)
	if err != nil {
		return err
	}
	kept, err := o.kept(baseline, candidate)
	if err != nil {
		return err
	}
	baseline.Plan = baseline.Plan.InTurns(schema.SideBaseline, o.against.blocks, kept)
	candidate.Plan = candidate.Plan.InTurns(schema.SideCandidate, o.against.blocks, kept)
	_, err = o.perform(ctx, show, baseline, candidate)
	return err
}

func sidesOf(sessions []*session.Session) (out []collect.Side) {
	for _, s := range sessions {
		out = append(out, s.Side)
	}
	return out
}

// session prepares a server to measure.
func (o collectOptions) session(ctx context.Context, show *progress.Display) (*session.Session, error) {
	s, err := session.New(ctx, o.request(show))
	switch {
	case errors.Is(err, server.ErrDenied):
		return nil, collectError(ctx, o.sh, o.ws, err)
	case err != nil:
		return nil, planError(err)
	}
	return s, nil
}

// kept reports whether both servers keep running, which they do where one of them is not ours to start.
func (o collectOptions) kept(baseline, candidate *session.Session) (bool, error) {
	kept := o.against.live
	for _, s := range []*session.Session{baseline, candidate} {
		if s.Plan.Offline() {
			const format = "collect: %s brings its own engine, and --against compares servers"
			return kept, fail(exitUsage, "leave it out of --tools", format, s.Plan.Tools[0].Name)
		}
		if name := s.Options.Server.Name; name.Kind == plan.ServerURL {
			kept = true
			o.sh.say("note: %s is already running and is not restarted for each block, so the effect of its one start "+
				"is in every block and intervals are wider", redact.URL(name.URL))
		}
	}
	if kept && baseline.Address == candidate.Address && baseline.Address != string(plan.ServerSim) {
		return kept, fail(exitUsage, "give one of them another port: --port 8000 --against-port 8001",
			"collect: both servers would run at %s at the same time", redact.URL(baseline.Address))
	}
	return kept, nil
}

// ofBaseline is the request for the baseline: the same measurement on another server, in a channel that no later
// release is compared with.
func (o collectOptions) ofBaseline(ctx context.Context) (collectOptions, error) {
	name := o.against.baseline
	b := o
	b.System.Channel, b.System.Release = schema.ChannelDev, o.against.release
	b.Server.Port = cmp.Or(o.against.port, o.Server.Port)
	past, _, err := history.Load(ctx, o.ws.History())
	if err != nil {
		return b, err
	}
	if run := newestOf(past, name, o.System); run != nil {
		b.System.Release = name
		return b, b.startAs(run)
	}
	var as plan.ServerName
	if err := as.UnmarshalText([]byte(name)); err == nil && as.Kind != plan.ServerDocker {
		b.Server.Name, b.Server.Image = as, ""
		b.onlyStarted()
		return b, nil
	}
	if !strings.ContainsAny(name, ":/@") || strings.Contains(name, "://") || strings.ContainsAny(name, " \t") {
		return b, fail(exitUsage, "--against v1, --against registry.example/image:1, --against 'command ./old --port 8000', "+
			"--against http://127.0.0.1:8001",
			"collect: --against %q is neither a release of %s on %s in history/ (ttreport ingest takes results into it), "+
				"nor an image, 'command …' or an address",
			name, o.System.Model, o.System.Device)
	}
	b.Server.Name, b.Server.Image = plan.ServerName{Kind: plan.ServerDocker}, name
	return b, nil
}

// onlyStarted drops what only the candidate's kind of server takes.
func (o *collectOptions) onlyStarted() {
	if o.Server.Name.Kind == plan.ServerURL || o.Server.Name.Kind == plan.ServerSim {
		o.Server.Port, o.Server.EngineArgs = 0, nil
	}
	if o.Server.Name.Kind != plan.ServerDocker {
		s := &o.Server
		*s = plan.ServerOptions{Name: s.Name, Port: s.Port, StartupTimeout: s.StartupTimeout, EngineArgs: s.EngineArgs}
	}
}

// newestOf returns the newest run of a release on a system; nil for none. Runs that were a baseline count too.
func newestOf(c *columns.Columns, release string, of plan.System) *columns.RunHead {
	for _, h := range c.RunsOn(path.Base(of.Model), of.Device) {
		if h.Release == release {
			return h
		}
	}
	return nil
}

// startAs takes the server of a run that was measured before, as its manifest states it.
func (o *collectOptions) startAs(h *columns.RunHead) error {
	switch {
	case h.Engine == server.SimEngine && h.Server != columns.EmbeddedSimulator:
		return noRecipe(h, "it ran already, at "+cmp.Or(h.Server, "an unknown address"))
	case h.Engine == server.SimEngine:
		o.Server.Name = plan.ServerName{Kind: plan.ServerSim}
		o.onlyStarted()
		return nil
	case h.Image != "":
		args, err := commandWords(h.Setting[collect.SettingImageArgs])
		if err != nil {
			return noRecipe(h, err.Error())
		}
		o.Server.Name, o.Server.Image, o.Server.Args = plan.ServerName{Kind: plan.ServerDocker}, h.Image, args
		return nil
	}
	argv, err := commandWords(h.Setting[collect.SettingServer])
	switch {
	case err != nil:
		return noRecipe(h, err.Error())
	case len(argv) == 0:
		return noRecipe(h, "neither a command nor an image")
	}
	o.Server.Name = plan.ServerName{Kind: plan.ServerCommand, Argv: argv}
	if o.against.port == 0 {
		o.Server.Port, _ = strconv.Atoi(h.Setting[collect.SettingServerPort]) // else the one in its command
	}
	o.onlyStarted()
	return nil
}

// commandWords splits a command line that a manifest states. One from which a secret was removed cannot be run.
func commandWords(text string) ([]string, error) {
	argv, err := shellquote.Split(text)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(argv, func(a string) bool { return strings.Contains(a, redact.Mark) }) {
		return nil, fmt.Errorf("%s, from which a secret was removed", text)
	}
	home, err := os.UserHomeDir()
	for i, a := range argv { // manifests have ~ in place of a home
		if rest, ok := strings.CutPrefix(a, "~/"); ok && err == nil {
			argv[i] = filepath.Join(home, rest)
		}
	}
	return argv, nil
}

// noRecipe is the error about a release that cannot be started again.
func noRecipe(h *columns.RunHead, why string) error {
	return fail(exitUsage, "--against 'command …', or an image, with --against-release "+h.Release,
		"collect: run %s of %s does not state how its server was started: %s", h.ID, h.Release, why)
}
