// Package planfile reads plans from files: our own YAML, which check --recheck-plan writes and ttreport.yaml holds, and nm-vllm's JSON
// configurations.
//
// In flow bytes; out flow entries, one for each server start, that say what to measure on what in the words of collect's flags. What is
// measured, and how, it does not know.
package planfile

import (
	"fmt"

	"github.com/ttreport/ttreport/collect/sweep"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// File is a plan of our own.
type File struct {
	Plans []Entry `yaml:"plans"`
}

// Entry is what is measured on one server. A field that is left out is what the flag of the same name says.
type Entry struct {
	Model     string   `yaml:"model"`
	Device    string   `yaml:"device,omitempty"`
	Impl      string   `yaml:"impl,omitempty"`
	Release   string   `yaml:"release,omitempty"`
	Channel   string   `yaml:"channel,omitempty"`
	Server    string   `yaml:"server,omitempty"` // as --server takes it
	Image     string   `yaml:"image,omitempty"`
	Tokenizer string   `yaml:"tokenizer,omitempty"`
	Only      string   `yaml:"only,omitempty"` // benchmarks or evals
	Tools     []string `yaml:"tools,omitempty"`
	Sweep     string   `yaml:"sweep,omitempty"`
	Workloads []string `yaml:"workloads,omitempty"` // as --workload takes them
	Evals     []string `yaml:"evals,omitempty"`
	EvalLimit int      `yaml:"eval_limit,omitempty"`
	Repeat    int      `yaml:"repeat,omitempty"`
	Chat      bool     `yaml:"chat,omitempty"`
	Why       string   `yaml:"why,omitempty"` // for people

	// Loads are workloads that no text states whole; they come after Workloads.
	Loads []sweep.Workload `yaml:"-"`
}

// Read reads a plan of our own, strictly.
func Read(name string, data []byte) (File, error) {
	var f File
	if p := decode.YAML(name, data, &f); p != nil {
		return f, fmt.Errorf("%s:%d:%d: %s\n%s", name, p.Line, p.Column, p.Found, p.Hint)
	}
	return f, Check(name, f.Plans)
}

// Check refuses entries that say nothing, and workloads that nobody could make.
func Check(name string, list []Entry) error {
	for i, e := range list {
		if e.Model == "" {
			return fmt.Errorf("%s: plans[%d]: no model", name, i)
		}
		for _, text := range e.Workloads {
			if _, err := sweep.Parse(text); err != nil {
				return fmt.Errorf("%s: plans[%d]: %w", name, i, err)
			}
		}
	}
	return nil
}

// Marshal is the plan's file content.
func (f File) Marshal() ([]byte, error) { return decode.EncodeYAML(f) }
