package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/plan/spec"
	"github.com/ttreport/ttreport/ingest/durable"
)

func modelsCommand() command {
	return command{
		name: "models", args: "[import PATH…]", summary: "list what is known of models before they are served, or import it",
		help: `
models.yaml holds limits, images and commits of models on devices; ttreport collect takes from it what no flag states.
import fills it from a checkout of tt-inference-server (its release_model_spec.json), or from runtime specifications;
entries of the same model, device and implementation are replaced, others stay.`,
		examples: []example{
			{"fill models.yaml", "ttreport models import ../tt-inference-server"},
			{"what is known?", "ttreport models"},
		},
		setup: func(*pflag.FlagSet) runFunc {
			return func(_ context.Context, sh *shell, args []string) error {
				ws, err := workspace.Open(".")
				if err != nil {
					return failure{code: exitUsage, err: err}
				}
				name := filepath.Join(ws.Dir, spec.FileName)
				file, err := spec.ReadCatalogue(name)
				if err != nil {
					return failure{code: exitUsage, err: err}
				}
				switch {
				case len(args) == 0:
					return listModels(sh, file)
				case args[0] != "import" || len(args) < 2:
					return fail(exitUsage, "ttreport models import ../tt-inference-server", "models: unexpected %q", args[0])
				}
				return importModels(sh, name, file, args[1:])
			}
		},
	}
}

func listModels(sh *shell, f spec.File) error {
	if len(f.Models) == 0 {
		fmt.Fprintf(sh.out, "no model is known; ttreport models import PATH fills %s\n", spec.FileName)
		return nil
	}
	tw := tabwriter.NewWriter(sh.out, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "MODEL\tDEVICE\tIMPL\tCONTEXT\tMAX CONCURRENCY\tSTATUS\tIMAGE")
	for _, m := range f.Models {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			m.Model, m.Device, m.Impl, dash(m.Context), dash(m.Concurrency), m.Status, middle(m.Image, pathWidth))
	}
	return tw.Flush()
}

// specNames are files of a checkout that hold specifications, the newest first.
func specNames() []string {
	return []string{"release_model_spec.json", "model_specs_output.json", "model_spec.json"}
}

// importModels reads specifications and lays them over the catalogue.
func importModels(sh *shell, name string, file spec.File, paths []string) error {
	added := 0
	for _, path := range paths {
		source, err := specFile(path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(source)
		if err != nil {
			return failure{code: exitInput, err: fmt.Errorf("models: %w", err)}
		}
		list, err := spec.Read(source, data)
		if err != nil {
			hint := "expected release_model_spec.json of tt-inference-server, or a runtime_model_spec_*.json"
			return failure{code: exitInput, err: fmt.Errorf("models: %w", err), hint: hint}
		}
		file.Add(list...)
		added += len(list)
	}
	file.Sort()
	data, err := file.Marshal()
	if err != nil {
		return err
	}
	if err := durable.WriteFile(name, data); err != nil {
		return failure{code: exitInput, err: fmt.Errorf("models: %w", err)}
	}
	fmt.Fprintf(sh.out, "%s imported; %s holds %d\n", plural(added, "specification"), spec.FileName, len(file.Models))
	return nil
}

// specFile is a file, or that of a checkout.
func specFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", failure{code: exitInput, err: fmt.Errorf("models: %w", err)}
	}
	if !info.IsDir() {
		return path, nil
	}
	for _, n := range specNames() {
		if _, err := os.Stat(filepath.Join(path, n)); err == nil {
			return filepath.Join(path, n), nil
		}
	}
	return "", fail(exitInput, "name the file itself", "models: %s has none of %s", path, strings.Join(specNames(), ", "))
}
