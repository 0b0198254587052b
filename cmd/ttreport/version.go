package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func versionCommand(sh *shell) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version and how it was built", Args: noArguments,
		Long: "Prints the module version, the commit it was built from and the Go version.",
		Example: `
# what is this?
$ ttreport version`,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(sh.out, versionText())
			return err
		},
	}
}

// versionText is the version and how the program was built.
func versionText() string {
	var b strings.Builder
	fmt.Fprintln(&b, versionLine())
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision", "vcs.time", "vcs.modified", "CGO_ENABLED":
				fmt.Fprintf(&b, "%s %s\n", s.Key, s.Value)
			}
		}
	}
	fmt.Fprintf(&b, "go %s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return b.String()
}

// versionLine is the name and version that pages and sidecars carry. It does not change with the clock or the machine.
func versionLine() string {
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	return "ttreport " + version
}
