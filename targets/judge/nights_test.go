package judge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/judge"
)

// Runs of one night without a release are one build of many models; a model that is measured again, another version of
// an engine on a device, a pause and another channel begin one; a second engine does not.
func TestNights(t *testing.T) {
	began := time.Date(2026, 8, 5, 22, 0, 0, 0, time.UTC)
	run := func(id string, hours float64, model, device, version string) columns.RunHead {
		return columns.RunHead{
			ID: id, Start: began.Add(time.Duration(hours * float64(time.Hour))), Model: schema.Model{Name: model},
			Device: device, Engine: "vllm", Version: version,
		}
	}
	other := run("pr", 1, "c", "n150", "1")
	other.Channel = schema.ChannelPR
	sglang := run("2", 1, "a", "n150", "9")
	sglang.Engine = "sglang"
	undated := run("undated", 0, "d", "n150", "1")
	undated.Start = time.Time{}
	for _, c := range []struct {
		name string
		runs []columns.RunHead
		want string
	}{
		{"a night", []columns.RunHead{run("1", 0, "a", "n150", "1"), run("2", 1, "b", "n150", "1"),
			run("3", 5, "a", "t3k", "2")}, "1: 1 2 3"},
		{"two nights", []columns.RunHead{run("3", 24, "a", "n150", "1"), run("1", 0, "a", "n150", "1"),
			run("4", 25, "b", "n150", "1"), run("2", 1, "b", "n150", "1")}, "1: 1 2, 3: 3 4"},
		{"a pause", []columns.RunHead{run("1", 0, "a", "n150", "1"), run("2", 7, "b", "n150", "1")}, "1: 1, 2: 2"},
		{"measured again", []columns.RunHead{run("1", 0, "a", "n150", "1"), run("2", 1, "a", "N150 ", "1"),
			run("3", 2, "a", "n150", "1")}, "1: 1, 2: 2, 3: 3"},
		{"two engines", []columns.RunHead{run("1", 0, "a", "n150", "1"), sglang, run("3", 2, "a", "n150", "1")},
			"1: 1 2, 3: 3"},
		{"another version", []columns.RunHead{run("1", 0, "a", "n150", "1"), run("2", 1, "b", "n150", "2")}, "1: 1, 2: 2"},
		{"channels", []columns.RunHead{run("1", 0, "a", "n150", "1"), other}, "1: 1, pr: pr"},
		{"undated", []columns.RunHead{run("1", 0, "a", "n150", "1"), undated}, "1: 1, undated: undated"},
	} {
		cols := &columns.Columns{Runs: c.runs}
		var got []string
		for _, r := range judge.Releases(cols, nil) {
			var ids []string
			for _, i := range r.Runs {
				ids = append(ids, cols.Runs[i].ID)
			}
			got = append(got, r.Name+": "+strings.Join(ids, " "))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}
