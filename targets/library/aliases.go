package library

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// The table is YAML with another extension: the workspace's folder of targets is called targets too, and a build in
// this repository would read the table as a target file.
//
//go:embed aliases.txt
var aliasData []byte

// Aliases is the table of architectures and known devices.
type Aliases struct {
	Architectures [][]string `yaml:"architectures"`
	Devices       []string   `yaml:"devices"`
}

// DefaultAliases returns the embedded table.
func DefaultAliases() (Aliases, error) {
	var a Aliases
	if p := decode.YAML("targets/library/aliases.txt", aliasData, &a); p != nil {
		return a, fmt.Errorf("embedded alias table: %w", *p)
	}
	return a, nil
}

// Key returns the architecture key of a model's name: the first weight of its architecture, or the name itself.
func (a Aliases) Key(model string) string { return a.weights(model)[0] }

// weights lists the names of a model's architecture, the key first.
func (a Aliases) weights(model string) []string {
	for _, arch := range a.Architectures {
		for _, w := range arch {
			if strings.EqualFold(w, model) {
				return arch
			}
		}
	}
	return []string{model}
}

// knows reports whether a device name is in the table.
func (a Aliases) knows(device string) bool {
	for _, d := range a.Devices {
		if schema.SameDevice(d, device) {
			return true
		}
	}
	return false
}
