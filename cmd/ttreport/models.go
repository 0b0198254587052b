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
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/plan/spec"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/targets/library"
)

func modelsCommand(sh *shell) *cobra.Command {
	var python string
	return command("models", map[string]any{"python": &python}, func(c *cobra.Command, args []string) error {
		ws, err := openWorkspace(".")
		if err != nil {
			return err
		}
		name := filepath.Join(ws.Dir, spec.FileName)
		file, err := spec.ReadCatalogue(name)
		switch {
		case err != nil:
			return failure{code: exitUsage, err: err}
		case len(args) == 0:
			if len(file.Models) == 0 {
				_, err := fmt.Fprintf(sh.out, "no models are known; ttreport models import PATH adds them to %s\n", spec.FileName)
				return err
			}
			return file.Write(sh.out)
		case args[0] != "import" || len(args) < 2:
			return fail(exitUsage, "ttreport models import ../tt-inference-server", "models: unexpected %q", args[0])
		}
		if err := importModels(sh, name, &file, args[1:]); err != nil {
			return err
		}
		for _, path := range args[1:] {
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				if err := importTargets(c.Context(), sh, ws, path, python); err != nil {
					return err
				}
				if err := importDev(c.Context(), sh, name, &file, path, python); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// importModels adds specifications to the catalogue.
func importModels(sh *shell, name string, file *spec.File, paths []string) error {
	added := 0
	for _, path := range paths {
		n, err := file.Import(path)
		switch {
		case errors.Is(err, spec.ErrNoSpecFile):
			return fail(exitInput, "name the file itself", "models: %w", err)
		case err != nil:
			const fix = "expected release_model_spec.json of tt-inference-server, or a runtime_model_spec_*.json"
			return fail(exitInput, fix, "models: %w", err)
		}
		added += n
	}
	return writeModels(sh, name, file, plaintext.Plural(added, "specification"))
}

// importDev adds the specifications of a checkout that are in development, where none of the model on the device is
// released.
func importDev(ctx context.Context, sh *shell, name string, file *spec.File, checkout, python string) error {
	if _, err := os.Stat(filepath.Join(checkout, "workflows", "model_specs", "dev")); err != nil || python == "" {
		return nil
	}
	data, err := ofPython(ctx, sh, checkout, python, "models")
	if err != nil {
		return err
	}
	list, err := spec.Read(checkout, data)
	if err != nil {
		return fail(exitInput, "the checkout may be newer than this program", "models: %w", err)
	}
	added := 0
	var released []string
	for _, m := range list {
		if known, _ := file.Find(m.Model, m.Device, m.Impl); known.Image != "" {
			released = append(released, m.Model+" "+m.Device)
			continue
		}
		m.Image, m.Release, added = "", "", added+1 // it pins none
		file.Add(m)
	}
	if len(released) > 0 {
		sh.say("left out: %s in development of models that are released for the device: %s",
			plaintext.Plural(len(released), "specification"), strings.Join(slices.Compact(released), ", "))
	}
	return writeModels(sh, name, file, plaintext.Plural(added, "specification")+" in development")
}

// writeModels writes the catalogue, and says what was imported.
func writeModels(sh *shell, name string, file *spec.File, what string) error {
	file.Sort()
	data, err := file.Marshal()
	if err != nil {
		return err
	}
	if err := durable.WriteFile(name, data); err != nil {
		return fail(exitInput, "", "models: %w", err)
	}
	_, err = fmt.Fprintf(sh.out, "%s imported; %s holds %d\n", what, spec.FileName, len(file.Models))
	return err
}

// ttEvals prints what a checkout of tt-inference-server has as Python: its evals as a target file, its specifications
// in development. It needs an environment in which run.py runs.
//
//go:embed tt_evals.py
var ttEvals string

// Names of target files that are taken from a checkout.
const (
	evalsFile     = "tt-evals.yaml"
	referenceFile = "model_performance_reference.json"
)

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
	data, err := ofPython(ctx, sh, checkout, python, "evals")
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

// ofPython runs the script for what it is asked for. What it left out is shown.
func ofPython(ctx context.Context, sh *shell, checkout, python, what string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, "-c", ttEvals, checkout, what)
	var out, bad bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bad
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(bad.String()), "\n")
		const fix = "--python names a Python with the packages of the checkout, such as the one of its run.py"
		last := lines[len(lines)-1]
		return nil, fail(exitInput, fix, "models: the %s of %s cannot be read: %w: %s", what, checkout, err, last)
	}
	for line := range strings.Lines(bad.String()) {
		if strings.HasPrefix(line, "left out: ") {
			sh.say("%s", strings.TrimSpace(line))
		}
	}
	return out.Bytes(), nil
}
