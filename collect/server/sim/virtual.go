package sim

import (
	"slices"
	"time"
)

// Virtual is the simulator on a clock of its own: requests are submitted for a time, steps take no real time, and the
// result depends only on the configuration and the requests. It serves one caller; there is no network and no queue
// limit.
type Virtual struct {
	batch
	begin time.Time
	now   time.Duration // after begin: the end of the last step
	queue []*sequence   // by time of arrival
	token func(number int, at time.Duration, last bool)
}

// NewVirtual starts a simulator whose clock begins at a moment; zero: now.
func NewVirtual(cfg Config, begin time.Time) *Virtual {
	if begin.IsZero() {
		begin = time.Now()
	}
	return &Virtual{batch: newBatch(withDefaults(cfg)), begin: begin}
}

// Config returns the configuration, with defaults.
func (v *Virtual) Config() Config { return v.cfg }

// Time returns the time of the clock.
func (v *Virtual) Time() time.Time { return v.begin.Add(v.now) }

// Elapsed returns how long the clock has run.
func (v *Virtual) Elapsed() time.Duration { return v.now }

// Submit queues a request of a prompt length that arrives at a time. Its tokens carry the number that the caller gives
// it.
func (v *Virtual) Submit(number int, at time.Duration, prompt, want int) {
	q := &sequence{prompt: prompt, want: want, arrives: at, end: func() {}, gone: func() bool { return false }}
	q.token = func(n int) { v.token(number, v.now, n+1 == want) }
	i := len(v.queue)
	for i > 0 && v.queue[i-1].arrives > at {
		i--
	}
	v.queue = slices.Insert(v.queue, i, q)
}

// Step runs the next step and calls token for each token: the request's number, the time, and whether it was its last
// one. It returns false when there is nothing left to do. A request must be submitted before the step that begins at
// or after its time.
func (v *Virtual) Step(token func(number int, at time.Duration, last bool)) bool {
	if len(v.running) == 0 {
		if len(v.queue) == 0 {
			return false
		}
		v.now = max(v.now, v.queue[0].arrives)
	}
	here := 0
	for here < len(v.queue) && v.queue[here].arrives <= v.now {
		here++
	}
	waiting := v.admit(v.queue[:here])
	v.queue = v.queue[here-len(waiting):]
	v.now += v.step()
	v.token = token
	v.emit()
	return true
}

// Answer returns the answer to a question; the clock advances by the time that it takes.
func (v *Virtual) Answer(question string) string {
	v.Submit(0, v.now, words(question), 1)
	for v.Step(func(int, time.Duration, bool) {}) {
		continue
	}
	return v.cfg.answer(question)
}
