package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/session"
	"github.com/ttreport/ttreport/ingest/redact"
)

// withoutSecret refuses arguments with secrets, also where one is the argument behind its flag.
func (o schedulerOptions) withoutSecret(args []string) error {
	return o.unmarked(redact.Argv(append([]string{""}, args...)))
}

// textWithoutSecret refuses lines with secrets.
func (o schedulerOptions) textWithoutSecret(lines []string) error {
	redacted := []string{""}
	for _, line := range lines {
		redacted = append(redacted, redact.Text(line))
	}
	return o.unmarked(redacted)
}

// unmarked refuses what a secret was taken out of; the first one is no argument.
func (o schedulerOptions) unmarked(redacted []string) error {
	for i, a := range redacted {
		if !strings.Contains(a, redact.Mark) {
			continue
		}
		if a == redact.Mark {
			a = redacted[i-1] + " " + a
		}
		where, fix := "the script of the job", "put it into .env, which the job reads on its node"
		if o.on == plan.OnKubernetes {
			where, fix = "the manifest of the job", "state the key of a Secret in secrets: of resources:, as HF_TOKEN=hub/token"
		}
		return fail(exitUsage, fix, "collect: %s has a secret, which would be written to %s", strings.TrimSpace(a), where)
	}
	return nil
}

// jobOf makes a job of an entry.
func (o collectOptions) jobOf(
	ctx context.Context, sh *shell, ws *workspace.Workspace, number int, e plan.Entry,
) (engine.Job, error) {
	one := o
	one.Options, one.dryRun = o.With(e), true
	s, err := session.New(ctx, one.request(sh, ws, newProgress(sh)))
	if err != nil {
		sh.say("plan      %d of the plan cannot be measured", number)
		return engine.Job{}, planError(err)
	}
	system := s.Options.System
	res := plan.ResourcesOf(e.Resources, ws.Config.Resources, system.Device)
	e.Resources = plan.Resources{}
	srv := engine.Server{}
	if o.scheduler.on == plan.OnKubernetes {
		if srv, err = one.inPod(&e); err != nil {
			return engine.Job{}, err
		}
	}
	text, err := plan.File{Plans: []plan.Entry{e}}.Marshal()
	if err != nil {
		return engine.Job{}, failure{code: exitUsage, err: fmt.Errorf("plans[%d]: %w", number-1, err)}
	}
	if err := o.scheduler.withoutSecret(res.RunArgs); err != nil {
		return engine.Job{}, err
	}
	if err := o.scheduler.textWithoutSecret(strings.Split(string(text), "\n")); err != nil {
		return engine.Job{}, err
	}
	about := estimate(ctx, ws, s.Plan)
	start := cmp.Or(s.Options.Server.StartupTimeout, 10*time.Minute)
	const eval = 30 * time.Minute // at most, usually
	name := s.Plan.Model.Name + " on " + system.Device
	if system.Release != "" {
		name += ", " + system.Release
	}
	return engine.Job{
		Entry: number, Name: name, Total: len(s.Plan.Items()), Resources: res, Server: srv,
		Limit: engine.Derived(about.Total+eval*time.Duration(len(s.Plan.Evals)), start), Plan: text,
	}, nil
}

// inPod turns the server of an entry into what a pod has: an image is started beside the client, which measures it at
// an address; one that runs already is measured by one client after the other.
func (o collectOptions) inPod(e *plan.Entry) (engine.Server, error) {
	s := o.Server
	switch s.Name.Kind {
	case plan.ServerURL:
		return engine.Server{URL: s.Name.URL}, nil
	case plan.ServerDocker:
	default:
		return engine.Server{}, nil
	}
	for flag, given := range map[string]bool{
		"--volume": len(s.Volumes) > 0, "--run-arg": len(s.RunArgs) > 0, "--env-file": s.EnvFile != "",
		"--device-id": s.DeviceIDs != "", "--container-engine": s.ContainerEngine != "",
	} {
		if given {
			return engine.Server{}, fail(exitUsage, "state volumes:, secrets: and devices: in resources:",
				"collect: %s is for a container on this machine, and --on kubernetes starts pods", flag)
		}
	}
	if s.Image == "" {
		return engine.Server{}, fail(exitUsage, "--image NAME, or image: in the entry",
			"collect: no image is named for the server of %s", e.Model)
	}
	port := cmp.Or(s.ContainerPort, s.Port, 8000)
	e.Server, e.Image = plan.ServerName{Kind: plan.ServerURL, URL: fmt.Sprintf("http://127.0.0.1:%d", port)}, ""
	return engine.Server{Image: s.Image, Args: s.Args, Port: port}, nil
}

// podArgs are the arguments of collect in a pod: without those of a container on this machine.
func podArgs(sub engine.Submission) []string {
	return slices.DeleteFunc(slices.Clone(sub.Args), func(a string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		return slices.Contains([]string{"image", "container-port"}, name)
	})
}
