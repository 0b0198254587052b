package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Docker's program without its daemon is no way to start a container, and the finding has the reason.
func TestContainersNeedADaemon(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	for script, want := range map[string]string{
		"#!/bin/sh\necho fine\n": "docker",
		"#!/bin/sh\necho Client: 27\necho Cannot connect to the Docker daemon >&2\nexit 1\n": "docker is installed " +
			"but does not answer: Cannot connect to the Docker daemon",
	} {
		if err := os.WriteFile(filepath.Join(bin, "docker"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		f := containers(t.Context())
		if f.OK != !strings.Contains(script, "exit 1") || f.Found != want || f.OK != (f.Fix == "") {
			t.Errorf("%+v, want %q", f, want)
		}
	}
}
