package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/ttreport/ttreport/templates"
)

const initHelp = `
Writes ttreport.yaml, targets/, notes/ and two workflows for GitHub Actions into this folder. A file that is there is
kept. The workflows measure every night and on demand, store results on the branch ttreport-history, publish the site
with GitHub Pages, open an issue for a confirmed regression, and judge pull requests, those of forks without secrets.`

// scaffold is what the files of a new workspace mention.
type scaffold struct {
	Name, Model, Device, Server, Runner string
}

func initCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{
		Use: "init", Args: noArguments,
		Short: "write ttreport.yaml, targets/, notes/ and workflows for GitHub Actions",
		Long:  initHelp,
		Example: `
# a folder to try it in: measures a simulated server
$ ttreport init
# for a server that runs on a runner of yours
$ ttreport init --model acme/M --device n150 --server http://127.0.0.1:8000 --runner n150`,
	}
	fs := c.Flags()
	var s scaffold
	fs.StringVar(&s.Model, "model", "sim-8b", "`name` of the model that is measured")
	fs.StringVar(&s.Device, "device", "simulated", "`name` of the device")
	fs.StringVar(&s.Server, "server", "sim", "`address` of the server, or how to start it")
	fs.StringVar(&s.Runner, "runner", "ubuntu-latest", "`label` of the runner that measures")
	c.RunE = func(_ *cobra.Command, args []string) error {
		return s.write(sh)
	}
	return c
}

// write writes the files that are not there.
func (s scaffold) write(sh *shell) error {
	for _, v := range []string{s.Model, s.Device, s.Server, s.Runner} {
		if v == "" || strings.ContainsAny(v, "\n\r'\"[]{}#") {
			return fail(exitUsage, "names have no quotes, brackets or line ends", "init: %q cannot stand in a YAML file", v)
		}
	}
	here, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	s.Name = filepath.Base(here)
	files := templates.Init()
	root, err := os.OpenRoot(".") // nothing is written through a link that leads out
	if err != nil {
		return fail(exitInput, "see the permissions of the folder", "init: %w", err)
	}
	defer root.Close()
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return s.file(sh, root, files, name)
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(sh.out, "next: ttreport collect && ttreport build, then commit; ttreport help ci explains the workflows")
	return nil
}

// file writes one file unless it is there.
func (s scaffold) file(sh *shell, root *os.Root, files fs.FS, name string) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	t, err := template.New(name).Delims("[[", "]]").Parse(string(text))
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, s); err != nil {
		return err
	}
	target := filepath.FromSlash(name)
	if err := root.MkdirAll(filepath.Dir(target), 0o777); err != nil {
		return fail(exitInput, "see the permissions of the folder", "init: %w", err)
	}
	f, err := root.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	switch {
	case errors.Is(err, fs.ErrExist):
		fmt.Fprintf(sh.out, "kept   %s, which is there\n", name)
		return nil
	case err != nil:
		return fail(exitInput, "see the permissions of the folder", "init: %w", err)
	}
	if _, err = f.Write(out.Bytes()); err == nil {
		err = f.Close()
	}
	if err != nil {
		return fail(exitInput, "see the space of the disk, and remove "+name, "init: %w", err)
	}
	fmt.Fprintf(sh.out, "wrote  %s\n", name)
	return nil
}
