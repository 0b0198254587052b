package main

import (
	"context"
	"path/filepath"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/targets/judge"
)

// judgeFiles judges the results of paths as one build beside the history, which is only read. dir takes their
// documents.
func (o *checkOptions) judgeFiles(
	ctx context.Context, sh *shell, ws *workspace.Workspace, dir string,
) (*render.Report, int, error) {
	cols, _, err := history.Load(ctx, ws.Cache(), ws.History())
	if err != nil {
		return nil, 0, err
	}
	stored := map[string]bool{}
	for i := range cols.Runs {
		stored[cols.Runs[i].Release] = true
	}
	if o.release == "" {
		o.release = buildName(o.paths)
	}
	if stored[o.release] {
		return nil, 0, fail(exitUsage, "name the build with --release; ttreport check --release "+o.release+
			" judges what is stored", "check: history has a release %q already", o.release)
	}
	id := &identity{model: o.model, device: o.device, release: o.release, channel: o.channel, oneBuild: true}
	if id.channel == "" {
		id.channel = schema.ChannelPR
	}
	got, err := readIn(ctx, sh, ws, o.paths, id, dir, false)
	switch {
	case err != nil:
		return nil, 0, err
	case got.runs == 0:
		return nil, 0, fail(exitInput, "ttreport inspect PATH lists what each file lacks",
			"check: no result was found in %s", plaintext.Plural(got.files, "file"))
	case got.written == 0:
		return nil, 0, fail(exitUsage, "ttreport check --run ID judges what is stored",
			"check: history has all of these results already")
	case got.refused > 0:
		return nil, 0, got.verdict(false)
	}
	report, at, err := o.judged(ctx, ws, reportRequest{
		dirs: []string{ws.History(), dir}, cache: "", judged: judgedFile{file: ws.Judged()}, problems: got.problems,
		view: judge.View{Release: o.release, Baseline: o.baseline, Newest: true},
	})
	if err == nil {
		report.Ingest = o.ingestLine(id.channel)
	}
	return report, at, err
}

// ingestLine is the command that stores what PATHs hold as the build that was judged.
func (o *checkOptions) ingestLine(channel string) string {
	argv := []string{"ttreport", "ingest", "--release", o.release, "--channel", channel}
	if o.model != "" {
		argv = append(argv, "--model", o.model)
	}
	if o.device != "" {
		argv = append(argv, "--device", o.device)
	}
	return shellescape.QuoteCommand(append(argv, o.paths...))
}

// buildName names a build after the paths of its results.
func buildName(paths []string) string {
	var names []string
	for _, p := range paths {
		names = append(names, filepath.Base(fromHere(p)))
	}
	const most = 3
	if len(names) > most {
		return strings.Join(names[:most], "+") + "+" + plaintext.Plural(len(names)-most, "path")
	}
	return strings.Join(names, "+")
}
