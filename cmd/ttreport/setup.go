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
	"github.com/ttreport/ttreport/collect/doctor"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/templates"
)

func doctorCommand(sh *shell) *cobra.Command {
	var needed []string
	var reset, create string
	o := doctor.Request{Port: 8000}
	return command("doctor", map[string]any{
		"for": &needed, "reset": &reset, "make": &create, "model": &o.Model, "image": &o.Image, "port": &o.Port,
	}, func(c *cobra.Command, args []string) error {
		ctx := c.Context()
		ws, err := openWorkspace(".")
		if err != nil {
			return err
		}
		if err := doctor.Check(append([]string{reset, create}, needed...)...); err != nil {
			return fail(exitUsage, "tools are "+strings.Join(doctor.Tools(), ", "), "doctor: %w", err)
		}
		o.Dir, o.Exec = ws.Dir, ws.Config.Exec
		o.Tools = tool.Environments{Configured: ws.Config.Tools, Say: func(s string) { sh.say("%s", s) }}
		if reset != "" {
			a, _ := tool.Named(reset)
			if err := o.Tools.Reset(a); err != nil {
				return fail(exitCollect, "check the permissions of the cache folder", "doctor: %w", err)
			}
		}
		if create != "" {
			a, _ := tool.Named(create)
			if _, err := o.Tools.Ensure(ctx, a); err != nil {
				return fail(exitCollect, "the log next to the environment's folder has the details", "doctor: %w", err)
			}
		}
		list := doctor.Examine(ctx, o)
		if ctx.Err() != nil { // what was asked of programs and servers is cut short
			return ctx.Err()
		}
		if err := doctor.Write(sh.out, list); err != nil {
			return err
		}
		if missing := doctor.Missing(list, needed); missing > 0 {
			return fail(exitCollect, "the last column has the commands", "%s missing",
				plaintext.Plural(missing, "needed tool"))
		}
		return nil
	})
}

// scaffold is what the files of a new workspace mention.
type scaffold struct {
	Name, Model, Device, Server, Runner string
}

func initCommand(sh *shell) *cobra.Command {
	s := scaffold{Model: "sim-8b", Device: "simulated", Server: "sim", Runner: "ubuntu-latest"}
	return command("init", map[string]any{
		"model": &s.Model, "device": &s.Device, "server": &s.Server, "runner": &s.Runner,
	}, func(_ *cobra.Command, args []string) error {
		return s.write(sh)
	})
}

// write writes the files that are not there.
func (s scaffold) write(sh *shell) error {
	for _, v := range []string{s.Model, s.Device, s.Server, s.Runner} {
		if v == "" || strings.ContainsAny(v, "\n\r'\"[]{}#") {
			return fail(exitUsage, "names must not have quotes, brackets or line breaks",
				"init: %q cannot be written to a YAML file", v)
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
		return fail(exitInput, "check the permissions of the folder", "init: %w", err)
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
		return fail(exitInput, "check the permissions of the folder", "init: %w", err)
	}
	f, err := root.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	switch {
	case errors.Is(err, fs.ErrExist):
		fmt.Fprintf(sh.out, "kept   %s, which exists\n", name)
		return nil
	case err != nil:
		return fail(exitInput, "check the permissions of the folder", "init: %w", err)
	}
	if _, err = f.Write(out.Bytes()); err == nil {
		err = f.Close()
	}
	if err != nil {
		return fail(exitInput, "check the free space of the disk, and remove "+name, "init: %w", err)
	}
	fmt.Fprintf(sh.out, "wrote  %s\n", name)
	return nil
}
