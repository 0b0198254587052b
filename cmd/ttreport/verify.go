package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/plaintext"
)

func verifyCommand() command {
	return command{
		name: "verify", summary: "compare raw result files with the SHA-256 that history/ has of them",
		help: `
Reads the raw files that the documents of history/ name, below the current folder, and compares their SHA-256 with
the stored ones. Files that are not there any more are counted: a workspace need not keep them. --strict fails for
them too.

Exit codes: 0 nothing differs; 3 a file differs or cannot be read.`,
		examples: []example{{"are these the files that were measured?", "ttreport verify"}},
		setup: func(fs *pflag.FlagSet) runFunc {
			var patience time.Duration
			lockFlag(fs, &patience)
			strict := fs.Bool("strict", false, "exit 3 also when a file is missing or lies elsewhere")
			return func(ctx context.Context, sh *shell, args []string) error {
				if len(args) > 0 {
					return fail(exitUsage, "run it in the workspace", "verify: unexpected %q", args[0])
				}
				return verify(ctx, sh, *strict, patience)
			}
		},
	}
}

func verify(ctx context.Context, sh *shell, strict bool, patience time.Duration) error {
	ws, err := openWorkspace(".")
	if err != nil {
		return err
	}
	release, err := lock(ctx, sh, ws.Dir, folderlock.Shared, patience)
	if err != nil {
		return err
	}
	defer release()
	v, err := ingest.Verify(ctx, ws.Dir, ws.History())
	if err != nil {
		return err
	}
	printErrors(sh, v.Problems)
	fmt.Fprintf(sh.out, "%s verified, %d differ or cannot be read, %d missing, %d elsewhere\n",
		plaintext.Plural(v.Verified, "file"), len(v.Problems), len(v.Missing), v.Elsewhere)
	if n := len(v.Problems); n > 0 {
		return fail(exitInput, "restore them, or read them again with ttreport ingest", "%s not as stored",
			plaintext.Plural(n, "file"))
	}
	if v.Unknown > 0 {
		sh.say("note: %s stored without a hash, so nothing can be said of them", plaintext.Plural(v.Unknown, "file"))
	}
	if n := len(v.Missing) + v.Elsewhere + v.Unknown; strict && n > 0 {
		return fail(exitInput, "restore them from where they are kept", "%s not verified, and --strict was given",
			plaintext.Plural(n, "file"))
	}
	return nil
}
