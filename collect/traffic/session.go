package traffic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

const sessionExample = "expected one like " +
	`{"block_size": 64, "requests": [{"t": 0, "in": 25259, "out": 86, "hash_ids": [1, 2]}]}`

// session is the record of one session of a coding agent.
type session struct {
	ID       string        `json:"id"`
	Block    int           `json:"block_size"`
	Scope    string        `json:"hash_id_scope"` // "global": equal numbers are equal blocks in other sessions as well
	Requests []sessionCall `json:"requests"`
}

// sessionCall is a request of a session, or the place where an agent started another one, with the requests of that.
// Times are seconds.
type sessionCall struct {
	T        *float64      `json:"t"`
	Type     string        `json:"type"`
	In       int           `json:"in"`
	Out      int           `json:"out"`
	Hashes   []uint64      `json:"hash_ids"`
	Took     float64       `json:"api_time"`   // until it was answered; 0: not stated
	Think    float64       `json:"think_time"` // between the answer before it and this request
	Requests []sessionCall `json:"requests"`
}

const (
	subagent   = "subagent"
	mostNested = 8
)

// readSessions reads sessions, which begin together.
func readSessions(data []byte, block int) (Trace, error) {
	t := Trace{Timed: true}
	from := json.NewDecoder(bytes.NewReader(data))
	for n := uint64(0); ; n++ {
		var s session
		err := from.Decode(&s)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Trace{}, fmt.Errorf("session %d: %w; %s", n+1, err, sessionExample)
		}
		if s.Block = cmp.Or(block, s.Block); s.Block < 1 || s.Block > longest {
			return Trace{}, fmt.Errorf("session %d: block_size is not a number of tokens; %s", n+1, sessionExample)
		}
		salt := n * 0x9e3779b97f4a7c15 // apart from those of other sessions
		if s.Scope == "global" {
			salt = 0
		}
		r := sessionReader{Trace: &t, block: s.Block, salt: salt, absolute: absolute(s.Requests)}
		if _, err := r.calls(s.Requests, nil, 0, 0); err != nil {
			return Trace{}, fmt.Errorf("session %d: %w; %s", n+1, err, sessionExample)
		}
	}
	t.Requests = inOrder(t.Requests)
	return t, nil
}

// inOrder sorts requests by their times. What they wait for was before them and stays so.
func inOrder(list []Request) []Request {
	order, at := make([]int, len(list)), make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[a].At, list[b].At) })
	out := make([]Request, len(list))
	for to, from := range order {
		out[to], at[from] = list[from], to
	}
	for _, q := range out {
		for k, j := range q.After {
			q.After[k] = at[j]
		}
	}
	return out
}

// absolute reports whether the times of subagents count from the session's beginning. Some recorders count from where
// the subagent began: then one of its first times is before that.
func absolute(calls []sessionCall) bool {
	for _, c := range calls {
		if c.Type == subagent && c.T != nil && slices.ContainsFunc(c.Requests, func(x sessionCall) bool {
			return x.T != nil && *x.T < *c.T
		}) {
			return false
		}
	}
	return true
}

type sessionReader struct {
	*Trace
	block    int
	salt     uint64
	absolute bool
}

// asked is a request that later ones of its session may have waited for.
type asked struct {
	number   int
	answered float64 // when its answer was there; where that is not stated, when it was sent
	stated   bool
}

// calls adds requests, whose times count from an instant, and returns those that nothing waited for yet. before are
// those that were sent before the first of the list.
func (r *sessionReader) calls(list []sessionCall, before []asked, from float64, depth int) ([]asked, error) {
	thread := thread{before: before}
	for i, c := range list {
		at, ok := c.at(from)
		if !ok {
			return nil, fmt.Errorf("request %d: t is no time in seconds from the start, or api_time is below 0", i+1)
		}
		nests := c.Type == subagent
		switch {
		case nests && depth == mostNested:
			return nil, fmt.Errorf("request %d: subagents within subagents more than %d deep", i+1, mostNested)
		case nests:
			if r.absolute {
				at = 0
			}
			of, err := r.calls(c.Requests, slices.Concat(thread.before, thread.past, thread.own), at, depth+1)
			if err != nil {
				return nil, fmt.Errorf("request %d: %w", i+1, err)
			}
			thread.own = append(thread.own, of...)
		case c.Out == 0 && isLength(c.In):
			r.Failed++
		case !isLength(c.In) || !isLength(c.Out):
			return nil, fmt.Errorf("request %d: in %d or out %d is not a number of tokens", i+1, c.In, c.Out)
		default:
			q := request(c.In, c.Out, slices.Clone(c.Hashes), r.block)
			for j := range q.Blocks {
				q.Blocks[j] ^= r.salt
			}
			q.At = inSeconds(at)
			thread.follow(&q, asked{len(r.Requests), at + c.Took, c.Took > 0}, at, c.Think)
			r.Requests = append(r.Requests, q)
		}
	}
	return thread.own, nil
}

// at is when a call was made, seconds; ok is false where its times are none.
func (c sessionCall) at(from float64) (_ float64, ok bool) {
	const span = 366 * 24 * 3600.         // at most
	if c.T == nil && c.Type == subagent { // its requests have times
		return from, true
	}
	if c.T == nil || !(*c.T >= 0) || from+*c.T > span || c.Took < 0 || c.Think < 0 {
		return 0, false
	}
	return from + *c.T, true
}

func inSeconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }

// thread is what the next request of an agent may wait for.
type thread struct {
	before []asked // what was sent before it began
	past   []asked // what its last request waited for
	own    []asked // its requests that nothing waited for yet
}

// follow makes a request that was sent at a time the next one of the thread.
func (t *thread) follow(q *Request, as asked, at, think float64) {
	used, rest := waitFor(q, t.own, at, think)
	for _, earlier := range [][]asked{t.past, t.before} {
		if len(used) == 0 {
			used, _ = waitFor(q, earlier, at, think)
		}
	}
	if len(used) > 0 {
		t.past = used
	}
	t.own = append(rest, as)
}

// waitFor makes a request wait for those that were answered when it was sent, and returns them and the others, which it
// cannot have needed. Between the last answer and a request is what a person or a tool took.
func waitFor(q *Request, of []asked, at, think float64) (used, rest []asked) {
	pause := math.Inf(1)
	for _, x := range of {
		if x.answered > at {
			rest = append(rest, x)
			continue
		}
		used, q.After = append(used, x), append(q.After, x.number)
		if x.stated {
			pause = min(pause, at-x.answered)
		}
	}
	if math.IsInf(pause, 1) {
		pause = think
	}
	if len(q.After) > 0 {
		q.Pause = inSeconds(pause)
	}
	return used, rest
}
