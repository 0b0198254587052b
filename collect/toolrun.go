package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// job returns the job of a tool for a step.
func (s *session) job(st step) tool.Job {
	w := st.Load
	j := tool.Job{
		URL: s.end.URL, Model: s.end.Model, Tokenizer: s.plan.Tokenizer, Chat: s.plan.Chat,
		Keyed: s.end.APIKey != "", Script: st.Tool.IsScript(), MPIRanks: s.plan.MPIRanks,
		Seed: s.plan.Seed + uint64(st.index),
		ISL:  w.ISL, OSL: w.OSL, Concurrency: w.Concurrency, Requests: w.Requests, Rate: w.Rate,
		Dataset: w.Dataset, Path: w.Path,
		Extra: slices.Concat(w.Extra, s.plan.ToolArgs[st.Tool.Name]),
		Task:  st.Task, Limit: st.Limit, TaskDir: s.plan.TaskDir, Params: st.Params,
	}
	if st.Once {
		j.Batches, j.Lengths = s.plan.BatchLists()
	}
	if st.Params["chat"] == "true" || st.Task == "" && s.plan.ChatLoad {
		j.Chat = true
	}
	if v := st.Params["tokenizer"]; v != "" {
		j.Tokenizer = v
	}
	return j
}

// runTool measures one item with an external tool. The file that the tool writes decides whether there is a result.
func (s *session) runTool(ctx context.Context, st step) error {
	if err := s.log(st.kind()+"-start", st.Name, "", ""); err != nil {
		return err
	}
	out, err := s.emptyFolder(st)
	if err != nil {
		return fmt.Errorf("run folder: %w", err)
	}
	temp, err := os.MkdirTemp("", "tt") // short, because tools create sockets below it
	if err != nil {
		return fmt.Errorf("temporary folder: %w", err)
	}
	defer os.RemoveAll(temp)
	job := s.job(st)
	if st.Tool.Prepare != nil {
		if err := st.Tool.Prepare(job, out); err != nil {
			return s.failed(st, err)
		}
	}
	cmd := st.Tool.Command(job, out, st.Tool.Flags)
	log := filepath.Join(out, tool.LogName)
	st.began = s.now() // preparation is not part of the measurement
	gauges := s.sample(ctx)
	defer gauges.stop()
	stop := s.tick(st)
	spec := process.Spec{Argv: st.Tool.CommandLine(cmd), Env: s.toolEnv(st, cmd, temp), Log: log, Limit: s.limit(st)}
	res, runErr := process.Run(ctx, spec)
	stop()
	if runErr != nil && !errors.Is(runErr, process.ErrLimit) {
		return errors.Join(runErr, s.log(st.kind()+"-stopped", st.Name, "", runErr.Error()))
	}
	sum, err := st.Tool.Read(out)
	if runErr != nil {
		err = runErr
	}
	if err != nil {
		return s.failed(st, fmt.Errorf("%w; exit %d; %s", err, res.Code,
			server.LastLog(process.LastLines(log, 3), log, " / ")))
	}
	return s.keep(st, cmd, res, sum, gauges.busy())
}

// emptyFolder makes an empty folder for an item's result. Files of an earlier attempt are removed.
func (s *session) emptyFolder(st step) (string, error) {
	out, err := filepath.Abs(filepath.Join(s.dir, "raw", st.Name))
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(out); err != nil {
		return "", err
	}
	return out, os.MkdirAll(out, 0o777)
}

// toolEnv returns the variables that are added to a tool's environment.
func (s *session) toolEnv(st step, cmd tool.Command, temp string) []string {
	env := append([]string{
		"TMPDIR=" + temp, "HF_HUB_DISABLE_TELEMETRY=1", "VLLM_NO_USAGE_STATS=1", "DO_NOT_TRACK=1", "PYTHONUNBUFFERED=1",
	}, cmd.Env...)
	switch {
	case s.end.APIKey != "":
		env = append(env, "OPENAI_API_KEY="+s.end.APIKey)
		if st.Tool.KeyName != "" {
			env = append(env, st.Tool.KeyName+"="+s.end.APIKey)
		}
	case st.Tool.Eval:
		env = append(env, "OPENAI_API_KEY=none") // if unset, an empty bearer token is sent, which servers refuse
	}
	return env
}

// keep writes the sidecar of a result and journals it.
func (s *session) keep(st step, cmd tool.Command, res process.Result, sum tool.Summary, gauges beside) error {
	dir := filepath.Join(s.dir, "raw", st.Name)
	file := filepath.Join(dir, sum.File)
	log, err := filepath.Rel(filepath.Dir(file), filepath.Join(dir, tool.LogName))
	if err != nil {
		return fmt.Errorf("run folder: %w", err)
	}
	side := manifest.Sidecar{
		Result: filepath.Base(file), Block: st.Block, Tool: st.Tool.Name, ToolVersion: st.Tool.Release,
		Argv: redact.Argv(st.Tool.PublicCommandLine(cmd)), Conditions: cmd.Conditions,
		Start: st.began.UTC(), End: s.now().UTC(), ExitCode: res.Code, Log: filepath.ToSlash(log),
		Client: map[string]string{"cpu_s": strconv.FormatFloat(res.CPU.Seconds(), 'f', 1, 64)},
	}
	if side.ToolVersion == "" {
		side.ToolVersion = sum.Version
	}
	if st.Task == "" && !st.Once {
		side.Workload = st.Workload()
	}
	if sum.Reached > 0 {
		side.Client["concurrency_reached"] = strconv.FormatFloat(sum.Reached, 'f', 2, 64)
	}
	gauges.into(&side)
	if err := writeSidecar(file, side); err != nil {
		return err
	}
	return s.toolDone(st, sum)
}

// toolDone reports and journals an item with a result.
func (s *session) toolDone(st step, sum tool.Summary) error {
	event, failure := "-done", ""
	switch {
	case sum.Completed == 0:
		event, failure = "-failed", fmt.Sprintf("none of the %d requests succeeded", sum.Failed)
		s.out.Failed++
	case sum.Failed > 0:
		failure = fmt.Sprintf("%d of %d requests failed", sum.Failed, sum.Failed+sum.Completed)
	}
	switch {
	case st.Task == "":
		if sum.Completed == 0 {
			s.out.Empty++
		}
		s.out.Points = append(s.out.Points, PointOutcome{Workload: st.Load, TTFT: sum.TTFT, TPOT: sum.TPOT})
	case sum.Completed > 0:
		s.out.Evals++
	}
	e := s.event(st)
	e.Took, e.TTFT, e.TPOT, e.Final = s.now().Sub(st.began), sum.TTFT, sum.TPOT, true
	e.Err, e.Note = failure, saturation(st.Load, sum.Reached)
	s.report(e)
	return s.log(st.kind()+event, st.Name, "raw/"+st.Name+"/"+filepath.ToSlash(sum.File), failure)
}

// tick reports every second that a tool is still running, until the returned function is called.
func (s *session) tick(st step) func() {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(time.Second)
		defer t.Stop()
		for {
			select {
			case <-stop:
				return
			case <-t.C:
				e := s.event(st)
				e.Took = time.Since(st.began)
				s.report(e)
			}
		}
	}()
	return func() { close(stop); <-ended }
}

// removeEvals removes results that a kill left before they were reported: their names have their time, so they would
// stand beside the new one.
func (s *session) removeEvals() error {
	names, err := filepath.Glob(filepath.Join(s.dir, "raw", "results_*.json"))
	if err != nil {
		return err
	}
	for _, name := range names { // sidecars match too
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// eval asks the builtin questions.
func (s *session) eval(ctx context.Context, st step) error {
	if err := s.log("eval-start", builtin.EvalTask, "", ""); err != nil {
		return err
	}
	if err := s.removeEvals(); err != nil {
		return fmt.Errorf("run folder: %w", err)
	}
	raw, err := builtin.RunEval(ctx, builtin.Eval{
		URL: s.end.URL, Model: s.end.Model, APIKey: s.end.APIKey, Virtual: s.virtual,
		Items: s.plan.EvalItems, Seed: s.plan.Seed,
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return s.failed(st, err)
	}
	file := "results_" + st.began.UTC().Format("2006-01-02T15-04-05.000000") + ".json"
	side := manifest.Sidecar{
		Result: file, Tool: builtin.Name, ToolVersion: builtin.Version, Start: st.began.UTC(), End: s.now().UTC(),
		Argv: redact.Argv([]string{
			"ttreport", "collect", "--server", s.serverFlag(), "--model", s.named(), "--device", s.plan.Device,
			"--only", string(plan.OnlyEvals),
		}),
	}
	if err := s.store(file, raw, side); err != nil {
		return err
	}
	s.out.Evals++
	e := s.event(st)
	e.Took, e.Final = s.now().Sub(st.began), true
	s.report(e)
	return s.log("eval-done", builtin.EvalTask, "raw/"+file, "")
}

// CommandLines returns the command lines that a plan would run, in order, quoted for a shell: first the server, if it
// is started. They contain no secrets, which are never passed on a command line. What this program measures itself is
// shown as a ttreport command. What an interrupted run has already, and is not run, is a comment.
func CommandLines(p plan.Plan, srv server.Server, address string, done map[string]bool) []string {
	return append(startLine(srv), itemLines(p, srv, address, 0, done)...)
}

// TurnLines returns the command lines of two servers that take turns, in order, each turn below a comment.
func TurnLines(baseline, candidate Side, baselineAt, candidateAt string) []string {
	var out []string
	started := map[plan.Turn]bool{}
	for _, turn := range candidate.Plan.Turns.Order() {
		s, at, name := candidate, candidateAt, candidate.Plan.Turns.Side
		if turn.Baseline {
			s, at, name = baseline, baselineAt, baseline.Plan.Turns.Side
		}
		out = append(out, fmt.Sprintf("# block %d of %d: %s", turn.Block, s.Plan.Turns.Blocks, name))
		once := plan.Turn{Baseline: turn.Baseline}
		if !started[once] || !s.Plan.Turns.Kept {
			out = append(out, startLine(s.Server)...)
		}
		started[once] = true
		out = append(out, itemLines(s.Plan, s.Server, at, turn.Block, nil)...)
	}
	return out
}

// startLine is the command line of a server that is started; none for another.
func startLine(srv server.Server) []string {
	s, ok := srv.(server.Starter)
	if !ok {
		return nil
	}
	return []string{shellescape.QuoteCommand(forTerminal(s.CommandLine()))}
}

// itemLines are the command lines of the measurements of a block; 0: of a plan by itself. done is what is there.
func itemLines(p plan.Plan, srv server.Server, address string, block int, done map[string]bool) []string {
	var out []string
	s := &session{plan: p, end: server.Endpoint{URL: address, Model: p.Model.Name}}
	if _, s.embedded = srv.(*server.Simulated); s.embedded {
		s.end.URL = "http://127.0.0.1:PORT" // chosen when the server starts
	}
	if p.Model.ID != "" {
		s.end.Model = p.Model.ID
	}
	for i, it := range p.Items() {
		mark := ""
		if done[it.Name] {
			mark = "# measured before: "
		}
		switch {
		case it.Block != block:
		case !it.Tool.IsBuiltin():
			cmd := it.Tool.Command(s.job(step{Item: it, index: i}), "raw/"+it.Name, it.Tool.Flags)
			out = append(out, mark+shellescape.QuoteCommand(forTerminal(it.Tool.CommandLine(cmd))))
		case it.Task == "":
			out = append(out, mark+shellescape.QuoteCommand(s.argv(it.Load, p.Seed+uint64(i))))
		}
	}
	return out
}

// homes matches what [redact.Text] replaces with "~".
var homes = regexp.MustCompile(`/(?:home|Users)/[^/\s:"']+|/root`)

// forTerminal removes secrets from a command line that is shown to the person who runs it. Folders stay as they are,
// so that the command can be run.
func forTerminal(argv []string) []string {
	out := redact.Argv(argv)
	for i, a := range argv {
		if out[i] != a && homes.ReplaceAllString(a, "~") == homes.ReplaceAllString(out[i], "~") {
			out[i] = a
		}
	}
	return out
}
