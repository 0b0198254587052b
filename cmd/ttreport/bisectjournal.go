package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/ttreport/ttreport/ingest/durable"
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

// bisectJournal is the file that a bisection is resumed from.
type bisectJournal = durable.Journal[bisectEntry]

// openBisectJournal reads what is there, up to a line that was cut short, and opens the journal for more. One that is
// damaged before its end is left as it is.
func openBisectJournal(name string, each func(bisectEntry)) (*bisectJournal, error) {
	data, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	list, size := durable.ReadJournal[bisectEntry](data)
	at := slices.IndexFunc(list, func(e bisectEntry) bool { return e.Skipped == "" && !(e.Good > 0 && e.Value > 0) })
	if at >= 0 || size < len(data) {
		lines := strings.Split(string(data), "\n")
		if at < 0 {
			at = len(list)
		}
		return nil, fmt.Errorf("%s: line %d is no entry of a bisection: %.60q", name, at+1, lines[at])
	}
	for _, e := range list {
		each(e)
	}
	return durable.OpenJournal[bisectEntry](name)
}

// command is the command line of the bisection, without secrets: what makes it another one, not how far it may go.
func (h *hunt) command() string {
	argv := []string{"ttreport", "bisect", "--model", h.o.model, "--device", h.o.device, "--metric", h.o.metric,
		"--workload", h.o.workloads[0].Text()}
	if h.o.improved {
		argv = append(argv, "--improved")
	}
	for _, x := range []struct{ flag, value, usual string }{
		{"--repo", h.o.repo, "."}, {"--good", h.o.good, ""}, {"--bad", h.o.bad, ""}, {"--list", h.o.list, ""},
		{"--images", h.o.images, ""}, {"--tags", h.o.tags, ""}, {"--build", h.o.build, ""},
		{"--server", h.o.server, ""}, {"--port", strconv.Itoa(h.o.port), "0"},
		{"--least", h.o.least, leastUsual}, {"--error", h.o.error, errorUsual},
		{"--seed", strconv.FormatUint(h.o.seed, 10), "1"},
	} {
		if x.value != x.usual {
			argv = append(argv, x.flag, x.value)
		}
	}
	return shellescape.QuoteCommand(redact.Argv(append(argv, h.o.containerFlags()...)))
}
