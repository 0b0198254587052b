package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/tool"
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
