package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/ingest/schema/durable"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/schema/redact"
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
	if len(a.Version) > 0 {
		t.Release = versionIn(ask(a.Version))
	}
	if len(a.Help) > 0 {
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
	return tool.Job{URL: s.end.URL, Model: s.end.Model, Tokenizer: s.plan.Tokenizer, Chat: s.plan.Chat, Seed: s.plan.Seed + uint64(i),
		ISL: it.load.ISL, OSL: it.load.OSL, Concurrency: it.load.Concurrency, Requests: it.load.Requests, Rate: it.load.Rate, Task: it.task, Limit: it.most, Include: s.plan.Include}
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
	cmd := it.tool.Command(s.job(i, it), where, it.tool.Flags)
	env := append([]string{"TMPDIR=" + temp, "HF_HUB_DISABLE_TELEMETRY=1", "VLLM_NO_USAGE_STATS=1", "DO_NOT_TRACK=1", "PYTHONUNBUFFERED=1"}, cmd.Env...)
	if s.end.APIKey != "" {
		env = append(env, "OPENAI_API_KEY="+s.end.APIKey)
	} else if it.tool.Eval {
		env = append(env, "OPENAI_API_KEY=none") // unset, an empty bearer is sent, which servers refuse
	}
	log := filepath.Join(where, "tool.log")
	began := time.Now()
	tick := s.ticking(it, i, n, began)
	res, runErr := process.Run(ctx, process.Spec{Argv: append([]string{it.tool.Program}, cmd.Argv...), Env: env, Log: log, Limit: s.limit(it)})
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
		return s.failed(it, i, n, began, fmt.Errorf("%w; exit %d; its last words: %s", err, res.Code, strings.Join(process.LastLines(log, 3), " / ")))
	}
	return s.keep(it, i, n, began, cmd, res, sum)
}

// keep writes what stands beside a result and journals it.
func (s *session) keep(it item, i, n int, began time.Time, cmd tool.Command, res process.Result, sum tool.Summary) error {
	file := filepath.Join(s.dir, "raw", it.name, sum.File)
	rel, err := filepath.Rel(filepath.Dir(file), filepath.Join(s.dir, "raw", it.name, "tool.log"))
	if err != nil {
		return fmt.Errorf("run folder: %w", err)
	}
	side := manifest.Sidecar{Result: filepath.Base(file), Tool: it.tool.Name, ToolVersion: it.tool.Release, Argv: redact.Argv(append([]string{filepath.Base(it.tool.Program)}, cmd.Argv...)), Conditions: cmd.Conditions,
		Start: began.UTC(), End: time.Now().UTC(), ExitCode: res.Code, Log: filepath.ToSlash(rel), Client: map[string]string{"cpu_s": strconv.FormatFloat(res.CPU.Seconds(), 'f', 1, 64)}}
	if side.ToolVersion == "" {
		side.ToolVersion = sum.Version
	}
	if it.task == "" {
		side.Workload = workload(it.load)
	}
	if sum.Reached > 0 {
		side.Client["concurrency_reached"] = strconv.FormatFloat(sum.Reached, 'f', 2, 64)
	}
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
	s.out.Points = append(s.out.Points, PointOutcome{it.load, sum.TTFT, sum.TPOT})
	s.report(Event{Run: s.id, Step: s.step(it), Text: it.text(), Index: i + 1, Count: n, Took: time.Since(began), TTFT: sum.TTFT, TPOT: sum.TPOT, Err: failure, Final: true})
	return s.log(s.step(it)+event, it.name, "raw/"+it.name+"/"+filepath.ToSlash(sum.File), failure)
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
