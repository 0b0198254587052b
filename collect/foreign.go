package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/sweep"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Prepare asks a foreign tool for its version and flags. What it does not say stays unknown.
func Prepare(ctx context.Context, a tool.Adapter, program string) Tool {
	t := Tool{Adapter: a, Program: program}
	ask := func(args []string) string {
		f, err := os.CreateTemp("", "ttreport-ask-*")
		if err != nil {
			return ""
		}
		_ = f.Close() // only its name is wanted
		defer os.Remove(f.Name())
		if _, err := process.Run(ctx, process.Spec{Argv: append([]string{program}, args...), Log: f.Name(), Limit: 3 * time.Minute, Grace: 2 * time.Second}); err != nil {
			return ""
		}
		text, err := os.ReadFile(f.Name())
		if err != nil {
			return ""
		}
		return string(text)
	}
	switch {
	case a.Module != "":
		t.Release = versionIn(ask([]string{"-c", "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))", a.Module}))
	case len(a.Version) > 0 && !isScript(program):
		t.Release = versionIn(ask(a.Version))
	}
	if len(a.Help) > 0 && !isScript(program) {
		t.Flags = tool.ParseFlags(ask(a.Help))
	}
	return t
}

// versionIn finds the last word that looks like a version: tools print warnings before it.
func versionIn(text string) string {
	version := ""
	for _, w := range strings.Fields(text) {
		w = strings.Trim(strings.TrimPrefix(w, "v"), ",;()")
		if strings.Count(w, ".") > 0 && len(w) < 40 && w[0] >= '0' && w[0] <= '9' && strings.Trim(w, "0123456789.+-_abcdefghijklmnopqrstuvwxyz") == "" {
			version = w
		}
	}
	return version
}

// job is what a foreign tool is asked to measure.
func (s *session) job(i int, it item) tool.Job {
	w := it.load
	j := tool.Job{URL: s.end.URL, Model: s.end.Model, Tokenizer: s.plan.Tokenizer, Chat: s.plan.Chat, Script: isScript(it.tool.Program), Ranks: s.plan.Ranks, Seed: s.plan.Seed + uint64(i),
		ISL: w.ISL, OSL: w.OSL, Concurrency: w.Concurrency, Requests: w.Requests, Rate: w.Rate, Dataset: w.Dataset, Path: w.Path, Extra: slices.Concat(w.Extra, s.plan.ToolArgs[it.tool.Name]),
		Task: it.task, Limit: it.most, Include: s.plan.Include, Params: it.params}
	if it.once {
		j.Batches, j.Lengths = matrix(s.plan.Workloads)
	}
	if it.params["chat"] == "true" {
		j.Chat = true
	}
	if v := it.params["tokenizer"]; v != "" {
		j.Tokenizer = v
	}
	return j
}

// isScript reports whether a program is a Python script: python3 runs it.
func isScript(program string) bool { return strings.HasSuffix(program, ".py") }

// line is the whole command line of a tool.
func (t Tool) line(c tool.Command) []string {
	argv := slices.Clone(c.Before)
	if isScript(t.Program) {
		argv = append(argv, "python3")
	}
	return append(append(argv, t.Program), c.Argv...)
}

// shown is the command line as a reader of the result sees it: where a program lies is this machine's own.
func (t Tool) shown(c tool.Command) []string {
	named := t
	named.Program = filepath.Base(t.Program)
	return named.line(c)
}

// matrix lists the batches and lengths of some workloads, each once, in the order in which they come.
func matrix(list []sweep.Workload) (batches, lengths string) {
	var sizes, pairs []string
	for _, w := range list {
		if size := tool.Int(max(1, w.Concurrency)); !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
		if pair := fmt.Sprintf("%d,%d", w.ISL, w.OSL); !slices.Contains(pairs, pair) {
			pairs = append(pairs, pair)
		}
	}
	return strings.Join(sizes, ";"), strings.Join(pairs, ";")
}

// foreign measures one item with a tool that is another program. Whether there is a result is decided by the file that it leaves.
func (s *session) foreign(ctx context.Context, i, n int, it item) error {
	if it.tool.Keyless && s.end.APIKey != "" {
		return s.failed(it, i, n, time.Now(), fmt.Errorf("%s takes a key on its command line alone, where everybody on this machine could read it", it.tool.Name))
	}
	if err := s.log(s.step(it)+"-start", it.name, "", ""); err != nil {
		return err
	}
	out := filepath.Join(s.dir, "raw", it.name)
	if err := os.RemoveAll(out); err != nil { // what an earlier attempt left is no result
		return fmt.Errorf("run folder: %w", err)
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return fmt.Errorf("run folder: %w", err)
	}
	where, err := filepath.Abs(out)
	if err != nil {
		return fmt.Errorf("run folder: %w", err)
	}
	temp, err := os.MkdirTemp("", "tt") // short: tools make sockets below it
	if err != nil {
		return fmt.Errorf("temporary folder: %w", err)
	}
	defer os.RemoveAll(temp)
	job := s.job(i, it)
	if it.tool.Prepare != nil {
		if err := it.tool.Prepare(job, where); err != nil {
			return s.failed(it, i, n, time.Now(), err)
		}
	}
	cmd := it.tool.Command(job, where, it.tool.Flags)
	env := append([]string{"TMPDIR=" + temp, "HF_HUB_DISABLE_TELEMETRY=1", "VLLM_NO_USAGE_STATS=1", "DO_NOT_TRACK=1", "PYTHONUNBUFFERED=1"}, cmd.Env...)
	if s.end.APIKey != "" {
		env = append(env, "OPENAI_API_KEY="+s.end.APIKey)
	} else if it.tool.Eval {
		env = append(env, "OPENAI_API_KEY=none") // unset, an empty bearer is sent, which servers refuse
	}
	log := filepath.Join(where, "tool.log")
	began := time.Now()
	gauges := s.sample(ctx)
	defer gauges.stop()
	tick := s.ticking(it, i, n, began)
	res, runErr := process.Run(ctx, process.Spec{Argv: it.tool.line(cmd), Env: env, Log: log, Limit: s.limit(it)})
	tick()
	if err := s.cleanLog(log); err != nil {
		return err
	}
	if runErr != nil && !errors.Is(runErr, process.ErrLimit) {
		return errors.Join(runErr, s.log(s.step(it)+"-stopped", it.name, "", runErr.Error()))
	}
	sum, err := it.tool.Read(out)
	if runErr != nil {
		err = runErr
	}
	if err != nil {
		return s.failed(it, i, n, began, fmt.Errorf("%w; exit %d; %s", err, res.Code, lastWords(process.LastLines(log, 3), log, " / ")))
	}
	return s.keep(it, i, n, began, cmd, res, sum, gauges)
}

// keep writes what stands beside a result and journals it.
func (s *session) keep(it item, i, n int, began time.Time, cmd tool.Command, res process.Result, sum tool.Summary, gauges *sampler) error {
	file := filepath.Join(s.dir, "raw", it.name, sum.File)
	rel, err := filepath.Rel(filepath.Dir(file), filepath.Join(s.dir, "raw", it.name, "tool.log"))
	if err != nil {
		return fmt.Errorf("run folder: %w", err)
	}
	side := manifest.Sidecar{Result: filepath.Base(file), Tool: it.tool.Name, ToolVersion: it.tool.Release, Argv: redact.Argv(it.tool.shown(cmd)), Conditions: cmd.Conditions,
		Start: began.UTC(), End: time.Now().UTC(), ExitCode: res.Code, Log: filepath.ToSlash(rel), Client: map[string]string{"cpu_s": strconv.FormatFloat(res.CPU.Seconds(), 'f', 1, 64)}}
	if side.ToolVersion == "" {
		side.ToolVersion = sum.Version
	}
	if it.task == "" && !it.once {
		side.Workload = workload(it.load)
	}
	if sum.Reached > 0 {
		side.Client["concurrency_reached"] = strconv.FormatFloat(sum.Reached, 'f', 2, 64)
	}
	gauges.into(&side)
	data, err := side.Marshal()
	if err != nil {
		return err
	}
	if err := durable.WriteFile(file+manifest.SidecarSuffix, data); err != nil {
		return err
	}
	event, failure := "-done", ""
	switch {
	case sum.Completed == 0:
		event, failure = "-failed", fmt.Sprintf("none of the %d requests succeeded", sum.Failed)
		s.out.Failed++
	case sum.Failed > 0:
		failure = fmt.Sprintf("%d of %d requests failed", sum.Failed, sum.Failed+sum.Completed)
	}
	note := held(it.load, sum.Reached)
	switch {
	case it.task == "":
		s.out.Points = append(s.out.Points, PointOutcome{it.load, sum.TTFT, sum.TPOT})
	case sum.Completed > 0:
		s.out.Evals++
	}
	s.report(Event{Run: s.id, Step: s.step(it), Text: it.text(), Index: i + 1, Count: n, Took: time.Since(began), TTFT: sum.TTFT, TPOT: sum.TPOT, Err: failure, Note: note, Final: true})
	return s.log(s.step(it)+event, it.name, "raw/"+it.name+"/"+filepath.ToSlash(sum.File), failure)
}

// held says that a client did not hold the load that was asked: a tenth less on average, as the lint "saturated" sees it too.
func held(w sweep.Workload, reached float64) string {
	if asked := min(w.Concurrency, w.Requests); reached > 0 && asked > 1 && w.Rate == 0 && reached < .9*float64(asked) {
		return fmt.Sprintf("%.1f of %d requests in flight on average", reached, asked)
	}
	return ""
}

// failed journals an item that has no result, and goes on.
func (s *session) failed(it item, i, n int, began time.Time, why error) error {
	s.out.Failed++
	s.report(Event{Run: s.id, Step: s.step(it), Text: it.text(), Index: i + 1, Count: n, Took: time.Since(began), Err: redact.Text(why.Error()), Final: true})
	return s.log(s.step(it)+"-failed", it.name, "", why.Error())
}

func (s *session) step(it item) string {
	if it.task != "" {
		return "eval"
	}
	return "point"
}

// limit is how long an item may take: twenty times what it would take at ten tokens a second and user, and at least a quarter of an hour
// for tools that are slow to start; never more than the plan's bound.
func (s *session) limit(it item) time.Duration {
	most := s.plan.PointLimit
	if most == 0 {
		most = 2 * time.Hour
	}
	if it.task != "" {
		return most
	}
	if it.once {
		return most
	}
	waves := float64(it.load.Requests) / float64(max(1, it.load.Concurrency))
	estimate := time.Duration(20 * waves * float64(it.load.OSL) / 10 * float64(time.Second))
	return min(most, max(15*time.Minute, estimate))
}

// ticking shows every second that a tool is still at work; the function that it returns ends it.
func (s *session) ticking(it item, i, n int, began time.Time) func() {
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
				s.report(Event{Run: s.id, Step: s.step(it), Text: it.text(), Index: i + 1, Count: n, Took: time.Since(began)})
			}
		}
	}()
	return func() { close(stop); <-ended }
}

// cleanLog takes secrets out of what a tool printed.
func (s *session) cleanLog(log string) error {
	data, err := os.ReadFile(log)
	if err != nil {
		return nil // a tool that printed nothing has no log
	}
	text := string(data)
	if s.end.APIKey != "" {
		text = strings.ReplaceAll(text, s.end.APIKey, redact.Mark)
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(redact.Text(line))
	}
	if b.String() == string(data) {
		return nil
	}
	return durable.WriteFile(log, []byte(b.String()))
}
