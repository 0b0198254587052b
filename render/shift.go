package render

import (
	"fmt"
	"math"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// ShiftTexts are sentences about the devices that moved as a whole: metrics of a device that moved alike are one
// finding, and share a sentence.
func ShiftTexts(list []judge.Shift) []string {
	type finding struct {
		device, line, first string
		outcome             schema.Outcome
		evidence            schema.Evidence
	}
	var out []string
	at := map[finding]int{}
	with := make([][]string, len(list))
	for _, s := range list {
		t := ShiftText(s)
		if t == "" {
			continue
		}
		k := finding{s.Device, s.Line, s.First, s.Outcome, s.Evidence}
		alone := s.Turns != nil || s.Mixed
		if i, known := at[k]; known && !alone {
			e, _ := s.Effect.Get()
			with[i] = append(with[i], words.Metric(s.Metric, s.Stat)+" "+words.Signed(s.Metric, e))
			continue
		}
		if !alone {
			at[k] = len(out)
		}
		out = append(out, t)
	}
	for i := range out {
		if len(with[i]) > 0 {
			out[i] += " With it " + strings.Join(with[i], ", ") + "."
		}
	}
	return out
}

// ShiftText is one sentence about a device that moved as a whole; "" for one that did not.
func ShiftText(s judge.Shift) string {
	label := words.Metric(s.Metric, s.Stat)
	e, _ := s.Effect.Get()
	switch {
	case s.Turns != nil:
		return fmt.Sprintf("On %s %s of %s moved together. %s", words.OrUnknown(s.Device), label,
			words.Plural(s.Cells, "workload"), words.InTurns(s.Metric, s.Turns, s.Outcome, s.Evidence))
	case s.Outcome == schema.BelowLimit && s.Interval != nil:
		since := ""
		if s.First != "" {
			since = " since " + s.First
		}
		return fmt.Sprintf("On %s %s of %s moved %s together%s (95%s%% interval %s): a real change, below the limit.",
			words.OrUnknown(s.Device), label, words.Plural(s.Cells, "workload"), words.Signed(s.Metric, e), since, words.Thin,
			words.Interval(s.Metric, *s.Interval))
	case s.Mixed:
		return fmt.Sprintf(
			"On %s %s of %s moved by %s on the whole and not alike: nothing is removed from their rows.",
			words.OrUnknown(s.Device), label, words.Plural(s.Cells, "workload"), words.Signed(s.Metric, e),
		)
	case s.Outcome == schema.Regressed || s.Outcome == schema.Improved || s.Large:
		word := string(s.Outcome)
		if s.Evidence != "" {
			word += ", " + string(s.Evidence)
		}
		of := "all " + words.Count(s.Cells)
		if alike := int(math.Round(s.Agree * float64(s.Cells))); alike < s.Cells {
			of = words.Of(alike, s.Cells)
		}
		return fmt.Sprintf(
			"On %s %s of %s workloads moved %s together (%s): one finding, shown once.", words.OrUnknown(s.Device), label,
			of, words.Signed(s.Metric, e), word,
		)
	}
	return ""
}
