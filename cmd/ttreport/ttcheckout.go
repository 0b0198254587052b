package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/targets/library"
)

// ttEvals prints the evals of a checkout of tt-inference-server as a target file. Its configuration is Python, so it is
// read by Python, in an environment in which run.py runs.
//
//go:embed tt_evals.py
var ttEvals string

// Names of target files that are taken from a checkout.
const (
	evalsFile     = "tt-evals.yaml"
	referenceFile = "model_performance_reference.json"
)

// exportLimit is how long the export of a checkout may take.
const exportLimit = 5 * time.Minute

// importTargets copies the performance targets of a checkout into targets/, and with a Python that has the packages of
// the checkout also its evals.
func importTargets(ctx context.Context, sh *shell, ws *workspace.Workspace, checkout, python string) error {
	for _, below := range []string{"reference_config/benchmarking/benchmark_targets", "benchmarking/benchmark_targets"} {
		data, err := os.ReadFile(filepath.Join(checkout, filepath.FromSlash(below), referenceFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fail(exitInput, "", "models: %w", err)
		}
		if err := durable.WriteFile(filepath.Join(ws.Targets(), referenceFile), data); err != nil {
			return fail(exitInput, "", "models: %w", err)
		}
		fmt.Fprintf(sh.out, "performance targets copied to targets/%s\n", referenceFile)
		break
	}
	if python == "" {
		sh.say("hint: the evals of a checkout are Python; --python PROGRAM reads them, a Python that can run its run.py")
		return nil
	}
	data, err := exportEvals(ctx, sh, checkout, python)
	if err != nil {
		return err
	}
	var file library.File
	if p := decode.YAML(evalsFile, data, &file); p != nil {
		return fail(exitInput, "the checkout may be newer than this program", "models: %s", p.Found)
	}
	text, err := file.Marshal()
	if err != nil {
		return err
	}
	if err := durable.WriteFile(filepath.Join(ws.Targets(), evalsFile), text); err != nil {
		return fail(exitInput, "", "models: %w", err)
	}
	fmt.Fprintf(sh.out, "%s written to targets/%s\n", plaintext.Plural(len(file.Evals), "reference score"), evalsFile)
	return nil
}

// exportEvals runs the script. What it left out is shown.
func exportEvals(ctx context.Context, sh *shell, checkout, python string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, exportLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, "-c", ttEvals, checkout)
	var out, bad bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bad
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(bad.String()), "\n")
		const fix = "--python names a Python with the packages of the checkout, such as the one of its run.py"
		return nil, fail(exitInput, fix, "models: the evals of %s cannot be read: %w: %s", checkout, err, lines[len(lines)-1])
	}
	for line := range strings.Lines(bad.String()) {
		if strings.HasPrefix(line, "left out: ") {
			sh.say("%s", strings.TrimSpace(line))
		}
	}
	return out.Bytes(), nil
}
