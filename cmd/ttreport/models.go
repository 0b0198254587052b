package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/ttreport/ttreport/collect/plan/spec"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/plaintext"
)

func modelsCommand(sh *shell) *cobra.Command {
	c := command("models")
	fs := c.Flags()
	python := fs.String("python", "", "`program` that executes the checkout's Python, to read its evals")
	c.RunE = func(c *cobra.Command, args []string) error {
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
				_, err := fmt.Fprintf(sh.out, "no model is known; ttreport models import PATH fills %s\n", spec.FileName)
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
				if err := importTargets(c.Context(), sh, ws, path, *python); err != nil {
					return err
				}
				if err := importDev(c.Context(), sh, name, &file, path, *python); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return c
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
