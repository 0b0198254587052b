package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/redact"
)

// job returns the job of a tool for a step.
func (s *session) job(st *step) tool.Job {
	j := tool.Job{
		URL: s.end.URL, Model: s.end.Model, Tokenizer: cmp.Or(st.Params["tokenizer"], s.plan.Tokenizer),
		Chat:  s.plan.Chat || st.Params["chat"] == "true" || st.Task == "" && s.plan.ChatLoad,
		Keyed: s.end.APIKey != "", Script: st.Tool.IsScript(), MPIRanks: s.plan.MPIRanks,
		Seed: s.plan.Seed + uint64(st.index), Workload: st.Load,
		Task: st.Task, Limit: st.Limit, TaskDir: s.plan.TaskDir, Params: st.Params,
	}
	j.Extra = slices.Concat(j.Extra, s.plan.ToolArgs[st.Tool.Name])
	if st.Once {
		j.Batches, j.Lengths = s.plan.BatchLists()
	}
	return j
}

// runTool measures one item with an external tool. The file that the tool writes decides whether there is a result.
func (s *session) runTool(ctx context.Context, st *step) (*result, error) {
	out, err := filepath.Abs(filepath.Join(s.dir, "raw", st.Name))
	if err == nil {
		err = errors.Join(os.RemoveAll(out), os.MkdirAll(out, 0o777)) // files of an earlier attempt
	}
	if err != nil {
		return nil, fmt.Errorf("run folder: %w", err)
	}
	temp, err := os.MkdirTemp("", "tt") // short, because tools create sockets below it
	if err != nil {
		return nil, fmt.Errorf("temporary folder: %w", err)
	}
	defer os.RemoveAll(temp)
	job := s.job(st)
	if st.Tool.Prepare != nil {
		if err := st.Tool.Prepare(job, out); err != nil {
			return nil, unmeasured{err}
		}
	}
	cmd := st.Tool.Command(job, out, st.Tool.Flags)
	log := filepath.Join(out, tool.LogName)
	st.began = s.now() // preparation is not part of the measurement
	gauges := s.sample(ctx)
	defer gauges.stop()
	stop := every(time.Second, time.Second, func() {
		e := s.event(st)
		e.Took = time.Since(st.began)
		s.report(e)
	})
	ran, runErr := process.Run(ctx, process.Spec{
		Argv: st.Tool.CommandLine(cmd), Env: s.toolEnv(st, cmd, temp), Log: log, Limit: s.limit(st),
	})
	stop()
	if runErr != nil && !errors.Is(runErr, process.ErrLimit) {
		return nil, runErr
	}
	sum, err := st.Tool.Read(out)
	if err = cmp.Or(runErr, err); err != nil {
		why := reasonIn(string(process.Tail(log, 16<<10)))
		if why == "" {
			why = server.LastLog(log, " / ")
		}
		return nil, unmeasured{fmt.Errorf("%w; exit %d; %s", err, ran.Code, why)}
	}
	r := &result{file: st.Name + "/" + filepath.ToSlash(sum.File), readings: gauges.busy(), empty: sum.Completed == 0,
		point: PointOutcome{TTFT: sum.TTFT, TPOT: sum.TPOT, Failed: sum.Failed}, note: saturation(st.Load, sum.Reached)}
	switch {
	case r.empty:
		r.failure = fmt.Sprintf("none of the %d requests succeeded", sum.Failed)
	case sum.Failed > 0:
		r.failure = fmt.Sprintf("%d of %d requests failed", sum.Failed, sum.Failed+sum.Completed)
	}
	toLog, err := filepath.Rel(filepath.Dir(filepath.Join(out, sum.File)), log)
	if err != nil {
		return nil, fmt.Errorf("run folder: %w", err)
	}
	r.side.Tool, r.side.ToolVersion = st.Tool.Name, cmp.Or(st.Tool.Release, sum.Version)
	r.side.Argv, r.side.Conditions = redact.Argv(st.Tool.PublicCommandLine(cmd)), cmd.Conditions
	r.side.ExitCode, r.side.Log = ran.Code, filepath.ToSlash(toLog)
	r.side.Client = map[string]string{"cpu_s": strconv.FormatFloat(ran.CPU.Seconds(), 'f', 1, 64)}
	if sum.Reached > 0 {
		r.side.Client["concurrency_reached"] = strconv.FormatFloat(sum.Reached, 'f', 2, 64)
	}
	return r, nil
}

// reasonIn returns what stands behind "Reason:" in the box of errors with which AIPerf ends; "" where there is none.
func reasonIn(log string) string {
	_, text, found := strings.Cut(log, "Reason:")
	if !found {
		return ""
	}
	var words []string
	for line := range strings.Lines(text) {
		line = strings.Trim(line, "│ \n")
		if strings.HasPrefix(line, "╰") || strings.HasPrefix(line, "•") {
			return "its reason: " + strings.Join(words, " ")
		}
		words = append(words, strings.Fields(line)...)
	}
	return "" // of a log of another tool
}

// toolEnv returns the variables that are added to a tool's environment.
func (s *session) toolEnv(st *step, cmd tool.Command, temp string) []string {
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

// eval asks the builtin questions. Results that a kill left before they were reported are removed: their names have
// their time, so they would be there twice.
func (s *session) eval(ctx context.Context, st *step) (*result, error) {
	left, err := filepath.Glob(filepath.Join(s.dir, "raw", "results_*.json")) // sidecars match too
	for _, name := range left {
		err = errors.Join(err, os.Remove(name))
	}
	if err != nil {
		return nil, fmt.Errorf("run folder: %w", err)
	}
	raw, err := builtin.RunEval(ctx, builtin.Eval{
		URL: s.end.URL, Model: s.end.Model, APIKey: s.end.APIKey, Virtual: s.virtual,
		Items: s.plan.EvalItems, Seed: s.plan.Seed,
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, unmeasured{err}
	}
	r := &result{file: "results_" + st.began.UTC().Format("2006-01-02T15-04-05.000000") + ".json", raw: raw}
	r.side.Argv = redact.Argv(append(s.ownArgv(), "--only", string(plan.OnlyEvals)))
	return r, nil
}

// CommandLines returns the command lines that would be run, in order, quoted for a shell: first the server, if it is
// started. They contain no secrets, which are never passed on a command line. What this program measures itself is
// shown as a ttreport command; of what an interrupted run has already, the line is a comment. Each turn of two sides is
// below a comment.
func CommandLines(done map[string]bool, sides ...Side) []string {
	var out []string
	started := map[bool]bool{}
	for _, turn := range sides[0].Plan.Turns.Order() {
		x := sides[len(sides)-1]
		if turn.Baseline {
			x = sides[0]
		}
		if turn.Block > 0 {
			out = append(out, fmt.Sprintf("# block %d of %d: %s", turn.Block, x.Plan.Turns.Blocks, x.Plan.Turns.Side))
		}
		srv, ours := x.Server.(interface{ CommandLine() []string })
		if ours && (!started[turn.Baseline] || !x.Plan.Turns.Kept) {
			out = append(out, shellescape.QuoteCommand(forTerminal(srv.CommandLine())))
		}
		started[turn.Baseline] = true
		s := &session{plan: x.Plan, srv: x.Server}
		s.end = server.Endpoint{URL: x.Address, Model: cmp.Or(x.Plan.Model.ID, x.Plan.Model.Name)}
		if _, sim := x.Server.(*server.Simulated); sim {
			s.end.URL = "http://127.0.0.1:PORT" // chosen when the server starts
		}
		for i, it := range x.Plan.Items() {
			mark := ""
			if done[it.Name] {
				mark = "# measured before: "
			}
			switch {
			case it.Block != turn.Block:
			case !it.Tool.IsBuiltin():
				cmd := it.Tool.Command(s.job(&step{Item: it, index: i}), "raw/"+it.Name, it.Tool.Flags)
				out = append(out, mark+shellescape.QuoteCommand(forTerminal(it.Tool.CommandLine(cmd))))
			case it.Task == "":
				out = append(out, mark+shellescape.QuoteCommand(s.argv(it.Load, x.Plan.Seed+uint64(i))))
			}
		}
	}
	return out
}

// homes matches what [redact.Text] replaces with "~".
var homes = lazyregexp.New(`/(?:home|Users)/[^/\s:"']+|/root`)

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
