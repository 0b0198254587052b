package spec

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/rootfs"
)

// specNames are files of a checkout of tt-inference-server that hold specifications, the newest first.
func specNames() []string {
	return []string{"release_model_spec.json", "model_specs_output.json", "model_spec.json"}
}

// ErrNoSpecFile is returned for a folder that holds no file of specifications.
var ErrNoSpecFile = errors.New("no file of specifications")

// Import adds the specifications of a file, or of a checkout of tt-inference-server, and returns how many there were.
func (f *File) Import(name string) (int, error) {
	name, err := specFile(name)
	if err != nil {
		return 0, err
	}
	data, err := rootfs.ReadFile(name, mostSpec)
	if err != nil {
		return 0, err
	}
	list, err := Read(name, data)
	if err != nil {
		return 0, err
	}
	f.Add(list...)
	return len(list), nil
}

// specFile is a file, or that of a checkout.
func specFile(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return name, err
	}
	for _, n := range specNames() {
		if _, err := os.Stat(filepath.Join(name, n)); err == nil {
			return filepath.Join(name, n), nil
		}
	}
	return "", fmt.Errorf("%w: %s has none of %s", ErrNoSpecFile, name, strings.Join(specNames(), ", "))
}

// Write writes the catalogue as a table.
func (f File) Write(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "MODEL\tDEVICE\tIMPL\tCONTEXT\tMAX CONCURRENCY\tSTATUS\tIMAGE")
	for _, m := range f.Models {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.Model, m.Device, m.Impl,
			plaintext.Dash(m.Context), plaintext.Dash(m.Concurrency), m.Status,
			plaintext.Middle(m.Image, plaintext.PathWidth))
	}
	return tw.Flush()
}
