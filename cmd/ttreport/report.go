package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/static"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// reportRequest says what a report is made of.
type reportRequest struct {
	dirs     []string         // folders of history documents
	cache    string           // of their columns; "" for none
	judged   judgedFile       // how far they were judged
	keep     bool             // keep that for the next build
	problems []schema.Problem // of this build
	view     judge.View
	part     historyPart
}

// makeReport loads history, judges it, and indexes it for writers.
func makeReport(ctx context.Context, ws *workspace.Workspace, req reportRequest) (*render.Report, error) {
	cols, bad, err := history.Load(ctx, req.cache, req.dirs...)
	if err != nil {
		return nil, err
	}
	cols, left, err := req.part.of(ws, cols)
	if err != nil {
		return nil, err
	}
	judged, err := req.judge(ctx, ws, cols)
	if err != nil {
		return nil, err
	}
	judged.Lost = history.Lost(bad)
	notes, unread, err := ws.ReadNotes()
	if err != nil {
		return nil, failure{code: exitInput, err: err}
	}
	bad = append(append(bad, unread...), left...)
	mode, err := render.ReadMode(ws.Config.Site.Mode)
	if err != nil {
		return nil, fail(exitUsage, err.Error(), "%s: site.mode %q", workspace.ConfigName, ws.Config.Site.Mode)
	}
	echarts := render.Licence{
		Name: "Apache ECharts", Version: static.EChartsVersion, Licence: "Apache-2.0", File: "assets/echarts.LICENSE.txt",
	}
	return render.New(render.Input{
		Title: ws.Title(), Mode: mode, Reference: ws.Config.Reference.Model,
		Prices: render.Prices(ws.Config.Prices), Chips: ws.Config.Chips,
		Models: render.Listing(ws.Config.Models), Devices: render.Listing(ws.Config.Devices),
		Gate: judged, Notes: notes, Problems: append(bad, history.Unstored(req.problems, bad, cols)...),
		Commits: render.CommitLinks{Commit: ws.Config.Site.CommitURL, Compare: ws.Config.Site.CompareURL},
		Version: versionLine(), Topics: topics(), Titles: topicTitles(), Licences: []render.Licence{echarts},
	}), nil
}

// storedReport is the report of a workspace's history.
func storedReport(ctx context.Context, ws *workspace.Workspace, view judge.View) (*render.Report, error) {
	return makeReport(ctx, ws, storedRequest(ws, view))
}

func storedRequest(ws *workspace.Workspace, view judge.View) reportRequest {
	judged := judgedFile{file: ws.Judged()}
	return reportRequest{dirs: []string{ws.History()}, cache: ws.Cache(), judged: judged, view: view}
}

// judge judges what was loaded, from where the last build was, where that holds.
func (r reportRequest) judge(ctx context.Context, ws *workspace.Workspace, cols *columns.Columns) (*gate.Gate, error) {
	k := r.judged.load(r.keep)
	judged, err := judgeHistory(ctx, ws, cols, r.view, k)
	keepJudged(k, err != nil)
	return judged, err
}

// judgeHistory judges under the workspace's policy.
func judgeHistory(
	ctx context.Context, ws *workspace.Workspace, cols *columns.Columns, view judge.View, k *judge.Keeping,
) (*gate.Gate, error) {
	order, err := ws.ReleaseOrder()
	if err != nil {
		return nil, failure{code: exitUsage, err: err}
	}
	policy, err := ws.Policy(time.Now())
	if err != nil {
		return nil, failure{code: exitUsage, err: err}
	}
	on, err := ws.FailOn()
	if err != nil {
		return nil, failure{code: exitUsage, err: err}
	}
	releases, err := judge.Narrow(cols, judge.Releases(cols, order), view)
	if err != nil {
		return nil, releaseError("--against", err)
	}
	judged, err := gate.NewOn(ctx, cols, releases, policy, k)
	if err != nil {
		return nil, err
	}
	judged.Listed, judged.FailOn = order, on
	return judged, nil
}

// releaseNamed is the index of a release that a flag names.
func releaseNamed(r *render.Report, flag, name string) (int, error) {
	at := judge.Named(r.Releases, name)
	if at < 0 {
		return 0, releaseError(flag, judge.NewUnknownRelease(name, r.Releases))
	}
	return at, nil
}

// releaseError names the nearest of the releases that exist.
func releaseError(flag string, err error) error {
	var unknown *judge.UnknownRelease
	if !errors.As(err, &unknown) {
		return err
	}
	known := "there are " + strings.Join(unknown.Newest, ", ")
	return fail(exitUsage, didYouMean(unknown.Name, unknown.Newest, "", known), "%w (%s)", err, flag)
}
