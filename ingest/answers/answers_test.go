package answers_test

import (
	"maps"
	"testing"

	"github.com/ttreport/ttreport/ingest/answers"
)

// Items of logs that tools wrote: the ids that were asked for, of the task, and no others.
func TestItems(t *testing.T) {
	const recorded = "../../testdata/recorded/"
	for _, c := range []struct {
		path, task, id string
		want           answers.Item
	}{
		{"lm-eval-0.4.13/limit-10", "demo_sub_times", "0", answers.Item{Question: "50 * 47 =", Reference: "0",
			Answer: `[["-0.1908683877612564", "True"], ["-2.49084043652326", "False"], ["-4.798906540341329", "False"], ` +
				`["-3.128253993268919", "False"]]`}},
		{"inspect-ai-0.3.285/json-a", "demo_arith", "q-14-72", answers.Item{
			Question: "Question: What is 14 + 72 = ?\nAnswer:", Reference: "86", Answer: "That makes 86."}},
	} {
		id, other := answers.ID{Task: c.task, Item: c.id}, answers.ID{Task: "another", Item: c.id}
		got, err := answers.Read(recorded+c.path, map[answers.ID]bool{id: true})
		if err != nil || !maps.Equal(got, map[answers.ID]answers.Item{id: c.want}) {
			t.Errorf("%s: %q, %v", c.path, got, err)
		}
		if got, err := answers.Read(recorded+c.path, map[answers.ID]bool{other: true}); err != nil || len(got) > 0 {
			t.Errorf("%s of another task: %q, %v", c.path, got, err)
		}
	}
	if _, err := answers.Read("not-there", nil); err == nil {
		t.Error("a folder that is not there is no error")
	}
}
