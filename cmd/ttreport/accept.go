package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

func acceptCommand(sh *shell) *cobra.Command {
	var o acceptOptions
	return command("accept", map[string]any{
		"change": &o.changes, "verdict": &o.verdicts, "model": &o.of.Model, "device": &o.of.Device,
		"workload": &o.of.Workload, "metric": &o.of.Metric, "reason": &o.reason, "owner": &o.owner, "until": &o.until,
		"dry-run": &o.dryRun, "lock-timeout": &sh.patience,
	}, func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fail(exitUsage, `ttreport accept v0.6.0 --change ID --reason "…"`, "accept: expected one release")
		}
		if err := o.check(); err != nil {
			return err
		}
		return o.accept(c.Context(), sh, args[0])
	})
}

type acceptOptions struct {
	changes, verdicts    []string
	of                   decision.Select
	reason, owner, until string
	dryRun               bool
}

// check refuses what cannot be a decision, and completes the owner.
func (o *acceptOptions) check() error {
	if o.owner == "" {
		if u, err := user.Current(); err == nil {
			o.owner = u.Username
		}
	}
	_, err := time.Parse(time.DateOnly, o.until)
	switch {
	case strings.TrimSpace(o.reason) == "" || o.reason == "…":
		return fail(exitUsage, `--reason "ticket 412: smaller prefill chunks are intended"`,
			"accept: a reason is needed; it is shown with the verdict")
	case o.owner == "":
		return fail(exitUsage, "--owner NAME", "accept: an owner is needed")
	case o.until != "" && err != nil:
		return fail(exitUsage, "--until 2027-01-31", "accept: --until must be a date (YYYY-MM-DD), got %q", o.until)
	case len(o.changes)+len(o.verdicts) == 0 && o.of == (decision.Select{}):
		return fail(exitUsage, "--change ID, --verdict ID, or --model, --device, --workload and --metric; ttreport check "+
			"lists the ids", "accept: nothing is selected")
	}
	return nil
}

func (o *acceptOptions) accept(ctx context.Context, sh *shell, release string) error {
	ws, unlock, err := sh.openLocked(ctx, folderlock.Exclusive)
	if err != nil {
		return err
	}
	defer unlock()
	if _, _, err := soundTargets(ws, nil); err != nil {
		return err
	}
	report, at, err := judged(ctx, ws, checkOptions{release: release})
	if err != nil {
		return err
	}
	g := report.Gate.Review(at, "", "")
	if g.Label == "" {
		return fail(exitUsage, "give it a release when it is read: ttreport build --release NAME PATH",
			"accept: %s is a build without a release, and decisions name releases", release)
	}
	verdicts, err := o.ofChanges(g)
	if err == nil && len(o.changes) == 0 {
		verdicts, err = o.selected(g)
	}
	if err != nil {
		return err
	}
	list, err := o.decisions(ws.Config.Decisions, g.Label, verdicts)
	if err != nil {
		return err
	}
	if o.dryRun {
		for i := range list {
			fmt.Fprint(sh.out, list[i].Text(2))
		}
		return nil
	}
	if ws, err = writeDecisions(ws, list); err != nil {
		return err
	}
	for i := range list {
		d := &list[i]
		if d.Select.Change != "" {
			sh.say("%s  %s change %s", d.ID, d.Kind, d.Select.Change)
			continue
		}
		of := []string{d.Select.Workload, d.Select.Task, d.Select.Metric, d.Select.Level}
		what := strings.Join(slices.DeleteFunc(of, func(s string) bool { return s == "" }), " ")
		sh.say("%s  %s %s of %s", d.ID, d.Kind, what, words.OnDevice(d.Select.Model, d.Select.Device))
	}
	if report, at, err = judged(ctx, ws, checkOptions{release: g.Release}); err != nil {
		return err
	}
	now := report.Gate.Review(at, "", "")
	fmt.Fprintf(sh.out, "wrote %s into %s; %s is %s now: %s\n", plaintext.Plural(len(list), "decision"),
		workspace.ConfigName, g.Release, words.Decide(now.Result).Word, words.Headline(&now))
	return nil
}

// ofChanges stand for the changes that are named.
func (o *acceptOptions) ofChanges(g gate.Review) (verdicts []schema.Verdict, err error) {
	for _, id := range o.changes {
		i := slices.IndexFunc(g.Changes, func(c judge.Change) bool { return c.ID == id })
		switch {
		case i < 0:
			return nil, fail(exitUsage, "ttreport check --release "+g.Release+" prints the ids of changes",
				"accept: %s has no change with the id %q", g.Release, id)
		case !g.Changes[i].Worse:
			return nil, fail(exitUsage, "regressions can be accepted; see ttreport help decisions",
				"accept: the change %s is an improvement, which needs no acceptance", id)
		}
		verdicts = append(verdicts, schema.Verdict{Change: id})
	}
	return verdicts, nil
}

// selected are the findings that the flags select and that can be accepted, by point.
func (o *acceptOptions) selected(g gate.Review) ([]schema.Verdict, error) {
	var out []schema.Verdict
	found := map[string]bool{}
	of := decision.Decision{Select: o.of}
	for _, v := range slices.Concat(g.History, g.Targets) {
		named := slices.Contains(o.verdicts, v.ID)
		found[v.ID] = found[v.ID] || named
		fails := v.Outcome == schema.Regressed || v.Outcome == schema.Fail && v.Required
		switch {
		case named && !fails:
			return nil, fail(exitUsage, "regressions and missed required targets can be accepted; see ttreport help decisions",
				"accept: %s of %s is %s, which needs no acceptance", v.ID, words.OnDevice(v.Model, v.Device), words.Verdict(&v))
		case named, len(o.verdicts) == 0 && fails && of.Covers(&v):
			out = append(out, v)
		}
	}
	for _, id := range o.verdicts {
		if !found[id] {
			return nil, fail(exitUsage, "ttreport check --release "+g.Release+" prints ids in brackets",
				"accept: %s has no verdict with the id %q", g.Release, id)
		}
	}
	if len(out) == 0 {
		return nil, fail(exitUsage, "ttreport check --release "+g.Release+" lists what regressed",
			"accept: nothing that regressed in %s is selected", g.Release)
	}
	return out, nil
}

// decisions are one for each point, with all its selected metrics.
func (o *acceptOptions) decisions(
	known []decision.Decision, release string, verdicts []schema.Verdict,
) ([]decision.Decision, error) {
	var out []decision.Decision
	var metrics [][]string
	for i := range verdicts {
		v := &verdicts[i]
		d := decision.Decision{Kind: schema.Accept, Release: release, Reason: o.reason, Owner: o.owner, Expires: o.until,
			Select: decision.Select{Model: v.Model, Device: v.Device, Workload: v.Key.Workload(), Level: v.Level}}
		if len(o.changes) > 0 {
			d.Select = decision.Select{Change: v.Change}
		}
		if v.Key.IsEval() {
			d.Select.Workload, d.Select.Task = "", v.Key.Dataset
		}
		if v.Outcome == schema.Fail {
			if d.Kind = schema.Waive; o.until == "" {
				return nil, fail(exitUsage, "--until 2027-01-31", "accept: %s misses a target: it is waived, and a waiver "+
					"needs a last day", v.ID)
			}
		}
		same := func(x decision.Decision) bool { return x.Kind == d.Kind && x.Select == d.Select }
		at := slices.IndexFunc(out, same)
		if at < 0 {
			at = len(out)
			out, metrics = append(out, d), append(metrics, nil)
		}
		if !slices.Contains(metrics[at], v.Metric) {
			metrics[at] = append(metrics[at], v.Metric)
		}
	}
	next := 1
	for i := range out {
		if out[i].Select.Metric = metrics[i][0]; len(metrics[i]) > 1 {
			out[i].Select.Metric = "{" + strings.Join(metrics[i], ",") + "}"
		}
		taken := func(d decision.Decision) bool { return d.ID == fmt.Sprintf("A-%d", next) }
		for slices.ContainsFunc(known, taken) {
			next++
		}
		out[i].ID = fmt.Sprintf("A-%d", next)
		next++
	}
	return out, nil
}

// writeDecisions adds decisions to ttreport.yaml, where that gives what was meant, and returns the workspace with them.
func writeDecisions(ws *workspace.Workspace, list []decision.Decision) (*workspace.Workspace, error) {
	before, err := os.ReadFile(ws.Settings())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, failure{code: exitInput, err: fmt.Errorf("accept: %w", err)}
	}
	after := ws
	text, err := decision.Append(string(before), list)
	if err == nil {
		after, err = ws.With([]byte(text))
	}
	if err == nil {
		_, err = after.Policy(time.Now())
	}
	if want := slices.Concat(ws.Config.Decisions, list); err == nil && !reflect.DeepEqual(after.Config.Decisions, want) {
		err = decision.ErrNotByHand
	}
	if err != nil {
		items := ""
		for i := range list {
			items += list[i].Text(2)
		}
		return nil, fail(exitUsage, "add this to its decisions:\n"+items, "accept: %s is left as it is: %w",
			workspace.ConfigName, err)
	}
	if err := durable.WriteFile(ws.Settings(), []byte(text)); err != nil {
		return nil, failure{code: exitInput, err: fmt.Errorf("accept: %w", err)}
	}
	return after, nil
}
