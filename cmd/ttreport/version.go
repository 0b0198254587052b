package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/pflag"
)

func versionCommand() command {
	return command{
		name: "version", summary: "print the version and how it was built",
		help: "Prints the module version, the commit it was built from and the Go version.",
		examples: []example{
			{"what is this?", "ttreport version"},
		},
		setup: func(*pflag.FlagSet) runFunc {
			return func(_ context.Context, sh *shell, args []string) error {
				if len(args) > 0 {
					return fail(exitUsage, "ttreport version", "version: unexpected %q", args[0])
				}
				fmt.Fprintln(sh.out, versionLine())
				if info, ok := debug.ReadBuildInfo(); ok {
					for _, s := range info.Settings {
						switch s.Key {
						case "vcs.revision", "vcs.time", "vcs.modified", "CGO_ENABLED":
							fmt.Fprintf(sh.out, "%s %s\n", s.Key, s.Value)
						}
					}
				}
				fmt.Fprintf(sh.out, "go %s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
				return nil
			}
		},
	}
}

// versionLine is the name and version that pages and sidecars carry. It does not change with the clock or the machine.
func versionLine() string {
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	return "ttreport " + version
}
