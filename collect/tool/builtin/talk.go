package builtin

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

// talk is a conversation: what was said before the next turn, as the body of a request has it. nil is none.
type talk struct {
	before []byte // messages, each with a comma behind it
	user   []byte // what the user says in this turn, escaped
	answer strings.Builder
}

// said adds the turn: what the user said, and what was answered. Without an answer a conversation would
// have two questions in a row, which chat templates refuse.
func (t *talk) said() {
	answer := t.answer.String()
	t.answer.Reset()
	if answer == "" {
		answer = "-"
	}
	escaped, _ := json.Marshal(answer) // strings can always be written
	t.before = append(t.before, `{"role":"user","content":"`...)
	t.before = append(t.before, t.user...)
	t.before = append(t.before, `"},{"role":"assistant","content":`...)
	t.before = append(t.before, escaped...)
	t.before = append(t.before, "},"...)
}

// turns returns how many requests a stream sends one after the other as a conversation.
func (l Load) turns() int { return max(1, l.Turns) }

// converse sends the turns of a conversation, whose first request is i. Where a turn fails, the ones behind it fail.
func (r *runner) converse(ctx context.Context, i int) {
	t := &talk{}
	for turn := range r.load.turns() {
		if turn > 0 {
			pause := time.NewTimer(r.load.Think)
			select {
			case <-ctx.Done():
				pause.Stop()
				return
			case <-pause.C:
			}
		}
		r.out.Requests[i+turn] = r.turn(ctx, i+turn, t)
		t.said()
		if failed := r.out.Requests[i+turn].Error; failed != "" {
			for j := i + turn + 1; j < i+r.load.turns(); j++ {
				now := time.Since(r.out.Began)
				r.out.Requests[j] = Timeline{Sent: now, Error: "an earlier turn failed: " + failed}
				r.report(r.out.Requests[j])
			}
			return
		}
	}
}
