package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/ttreport/ttreport/ingest/redact"
)

// bisectEntry is one line of a bisection's journal: a measurement, or a build that is skipped.
type bisectEntry struct {
	Build   int     `json:"build"` // from 1, after the good one
	Ref     string  `json:"ref"`
	Good    float64 `json:"good,omitempty"`  // the metric of the good build
	Value   float64 `json:"value,omitempty"` // and of this one, measured in turns
	Took    float64 `json:"took_s,omitempty"`
	Skipped string  `json:"skipped,omitempty"`
}

// bisectJournal is the file that a bisection is resumed from. Each entry is on the disk when add returns.
type bisectJournal struct{ f *os.File }

// openBisectJournal reads what is there, up to a line that was cut short, and opens the journal for more.
func openBisectJournal(name string, each func(bisectEntry)) (*bisectJournal, error) {
	data, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	kept := 0
	for line := range bytes.Lines(data) {
		var e bisectEntry
		if !bytes.HasSuffix(line, []byte("\n")) || json.Unmarshal(line, &e) != nil ||
			e.Skipped == "" && !(e.Good > 0 && e.Value > 0) {
			break
		}
		kept += len(line)
		each(e)
	}
	if rest := data[kept:]; bytes.Contains(rest, []byte("\n")) {
		line := bytes.Count(data[:kept], []byte("\n")) + 1
		return nil, fmt.Errorf("%s: line %d is no entry of a bisection: %.60q", name, line, strings.TrimSpace(string(rest)))
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	if err = f.Truncate(int64(kept)); err == nil {
		_, err = f.Seek(int64(kept), 0)
	}
	return &bisectJournal{f}, err
}

func (j *bisectJournal) add(e bisectEntry) error {
	b, err := json.Marshal(e)
	if err == nil {
		_, err = j.f.Write(append(b, '\n'))
	}
	if err == nil {
		err = j.f.Sync()
	}
	if err != nil {
		return fmt.Errorf("the journal: %w", err)
	}
	return nil
}

// Close closes the file.
func (j *bisectJournal) Close() { _ = j.f.Close() }

// command is the command line of the bisection, without secrets.
func (h *hunt) command() string {
	argv := []string{"ttreport", "bisect", "--model", h.o.model, "--device", h.o.device, "--metric", h.o.metric,
		"--workload", h.o.workloads[0].Text()}
	for _, x := range []struct{ flag, value string }{
		{"--good", h.o.good}, {"--bad", h.o.bad}, {"--list", h.o.list}, {"--build", h.o.build}, {"--server", h.o.server},
	} {
		if x.value != "" {
			argv = append(argv, x.flag, x.value)
		}
	}
	return shellescape.QuoteCommand(redact.Argv(argv))
}
