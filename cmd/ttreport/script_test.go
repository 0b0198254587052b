package main

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"ttreport": func() {
			os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

// Each script is a story of a person; its first line says which.
func TestStories(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}
