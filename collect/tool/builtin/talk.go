package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/traffic"
)

// talk is a conversation: what was said before the next turn, as the body of a request has it. nil is none.
type talk struct {
	endpoint traffic.Endpoint
	before   []byte // messages, each with a comma behind it
	user     []byte // what the user says in this turn, escaped
	answer   strings.Builder
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
	t.before = append(t.before, `"},`...)
	if t.endpoint == traffic.Responses {
		t.before = fmt.Appendf(t.before, outputMessage, escaped)
	} else {
		t.before = fmt.Appendf(t.before, `{"role":"assistant","content":%s}`, escaped)
	}
	t.before = append(t.before, ',')
}

// outputMessage is an earlier answer among the input of responses, with every field that the API calls required.
// llama.cpp refuses an assistant's message whose content is a string.
const outputMessage = `{"type":"message","id":"msg_0","role":"assistant","status":"completed",` +
	`"content":[{"type":"output_text","text":%s,"annotations":[]}]}`

// turns returns how many requests a stream sends one after the other as a conversation.
func (l Load) turns() int { return max(1, l.Turns) }

// converse sends the turns of a conversation, whose first request is i. Where a turn fails, the ones behind it fail.
func (r *runner) converse(ctx context.Context, i int) {
	t := &talk{endpoint: r.load.Endpoint}
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
