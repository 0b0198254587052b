package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
)

func inspectCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{
		Use: "inspect PATH…", Short: "list what each file is, what was understood and what was not",
		Long: `
Reads files and folders and writes nothing. Every file is listed with its format, the numbers found in it and
its problems; then the runs that the files make together, with the reason for each grouping; then problems, worst first.

--json prints the same as one document of schema ttreport/inspect/v1, runs in full.`,
		Example: `
# what is in this folder?
$ ttreport inspect results/
# which files were not understood?
$ ttreport inspect --json results/ | jq '.files[] | select(.format == "unknown").path'
# identity from folder names
$ ttreport inspect --pattern '{release}/{device}/{model}/*' archive/`,
	}
	fs := c.Flags()
	asJSON := fs.Bool("json", false, "print one JSON document")
	all := fs.Bool("all", false, "list every file and every problem")
	strict := fs.Bool("strict", false, "exit 3 when there is a problem that is an error")
	id := identityFlags(fs)
	c.RunE = func(c *cobra.Command, args []string) error {
		return inspect(c.Context(), sh, args, id, *asJSON, *all, *strict)
	}
	return c
}

func inspect(ctx context.Context, sh *shell, paths []string, id *identity, asJSON, all, strict bool) error {
	if len(paths) == 0 {
		return fail(exitUsage, "ttreport inspect results/", "inspect: no file or folder given")
	}
	set, err := load(ctx, paths, id)
	if err != nil {
		return err
	}
	if asJSON {
		err = listJSON(sh.out, set)
	} else {
		list(sh.out, set, all)
	}
	if errors := schema.CountSeverity(set.Problems, schema.SevError); err == nil && strict && errors > 0 {
		err = failure{code: exitInput, err: fmt.Errorf("%s in the input", plaintext.Plural(errors, "error"))}
	}
	return err
}
