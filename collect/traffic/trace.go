package traffic

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Trace is a recorded load.
type Trace struct {
	Requests []Request
	Timed    bool   // requests have times
	ID       string // of the content: the first 8 digits of its SHA-256
	Failed   int    // requests without an answer, which are left out
}

// traceFormats are what ReadTrace reads, each with a line of it.
const traceFormats = `
  Mooncake's JSON lines: {"timestamp": 0, "input_length": 6755, "output_length": 500, "hash_ids": [1, 2]}
  Qwen-Bailian's: {"chat_id": 1, "timestamp": 0.5, "input_length": 521, "output_length": 132, "hash_ids": [1, 2]}
  agents' sessions: {"block_size": 64, "requests": [{"t": 0, "in": 25259, "out": 86, "hash_ids": [1, 2]}]}
  Azure's CSV: TIMESTAMP,ContextTokens,GeneratedTokens
  BurstGPT's CSV: Timestamp,Model,Request tokens,Response tokens`

// ReadTrace reads a trace of one of the public formats:
//
//   - Mooncake (github.com/kvcache-ai/Mooncake, FAST25-release/traces), which AIPerf and Dynamo read too: JSON lines,
//     timestamps in milliseconds, a hash stands for 512 tokens
//   - Qwen-Bailian (github.com/alibaba-edu/qwen-bailian-usagetraces-anon): the same with chat_id, timestamps in
//     seconds, 16 tokens
//   - sessions of coding agents (github.com/callanjfox/kv-cache-tester, semianalysisai/cc-traces-weka): a JSON object a
//     session, which states its block, with the requests of subagents within
//   - Azure (github.com/Azure/AzurePublicDataset, AzureLLMInferenceTrace) and BurstGPT (github.com/HPMLL/BurstGPT): CSV
//
// block is how many tokens a hash stands for; 0: the format's own. Lengths and what prompts share are exact; the text
// is made up.
func ReadTrace(data []byte, block int) (Trace, error) {
	sum := sha256.Sum256(data)
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // a byte order mark
	begin := bytes.TrimLeft(data, " \t\r\n")
	var t Trace
	var err error
	var first struct{ Requests json.RawMessage } // a session has some
	switch {
	case len(begin) == 0:
		err = fmt.Errorf("the trace has no requests; expected one of%s", traceFormats)
	case begin[0] != '{':
		t, err = readTable(data)
	case json.NewDecoder(bytes.NewReader(data)).Decode(&first) == nil && len(first.Requests) > 0:
		t, err = readSessions(data, block)
	default:
		t, err = readLines(data, block)
	}
	if err != nil {
		return Trace{}, err
	}
	if len(t.Requests) == 0 {
		return Trace{}, fmt.Errorf("the trace has no request that was answered, of %d", t.Failed)
	}
	t.ID = hex.EncodeToString(sum[:4])
	if first := t.Requests[0].At; t.Timed {
		for i := range t.Requests {
			t.Requests[i].At -= first
		}
	}
	return t, nil
}

// readLines reads JSON lines of Mooncake or Qwen-Bailian.
func readLines(data []byte, block int) (Trace, error) {
	const example = `expected one like {"timestamp": 0, "input_length": 6755, "output_length": 500, "hash_ids": [1, 2]}`
	t := Trace{Timed: true}
	turns := map[int64]int{} // by chat
	var last time.Duration
	for i, line := range bytes.Split(data, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var l struct {
			Chat      *int64   `json:"chat_id"`        // Qwen-Bailian
			Parent    int64    `json:"parent_chat_id"` // the turn before it; -1: none
			Timestamp *float64 `json:"timestamp"`
			Input     int      `json:"input_length"`
			Output    int      `json:"output_length"`
			Hashes    []uint64 `json:"hash_ids"`
		}
		l.Parent = -1
		if err := json.Unmarshal(line, &l); err != nil {
			return Trace{}, fmt.Errorf("line %d: %w; %s", i+1, err, example)
		}
		unit, own := time.Millisecond, 512 // tokens for which a hash stands
		if l.Chat != nil {
			unit, own = time.Second, 16
		}
		stamp := 0.
		if t.Timed = t.Timed && l.Timestamp != nil; t.Timed {
			stamp = *l.Timestamp
		}
		at := time.Duration(stamp * float64(unit))
		switch {
		case !isLength(l.Input) || !isLength(l.Output):
			return Trace{}, fmt.Errorf("line %d: input_length or output_length is not a number of tokens; %s", i+1, example)
		case !(stamp >= 0) || stamp > 1e12/float64(unit/time.Millisecond):
			return Trace{}, fmt.Errorf("line %d: timestamp %g is not a time from the start; %s", i+1, stamp, example)
		case t.Timed && at < last:
			return Trace{}, fmt.Errorf("line %d: its timestamp is before that of the line above", i+1)
		}
		q := request(l.Input, l.Output, l.Hashes, cmp.Or(block, own))
		last, q.At = at, at
		if before, ok := turns[l.Parent]; ok {
			q.After = []int{before}
		}
		if l.Chat != nil {
			turns[*l.Chat] = len(t.Requests)
		}
		t.Requests = append(t.Requests, q)
	}
	return t, nil
}

func isLength(tokens int) bool { return tokens >= 1 && tokens <= longest }

// request is a request that shares blocks with others.
func request(in, out int, hashes []uint64, block int) Request {
	return Request{
		ISL: in, OSL: out, BlockTokens: block,
		Blocks: hashes[:min(len(hashes), in/block)], // a block that is not full is the request's own
	}
}

// Mean returns the mean lengths, whole tokens.
func (t Trace) Mean() (isl, osl int) {
	for _, q := range t.Requests {
		isl, osl = isl+q.ISL, osl+q.OSL
	}
	n := max(1, len(t.Requests))
	return (isl + n/2) / n, (osl + n/2) / n
}

// Rate returns the requests a second of a timed trace; 0 for any other.
func (t Trace) Rate() float64 {
	if n := len(t.Requests); t.Timed && n > 1 && t.Requests[n-1].At > 0 {
		return float64(n-1) / t.Requests[n-1].At.Seconds()
	}
	return 0
}

// Take returns the first n requests, all if n is 0, at a multiple of the speed at which they were recorded.
func (t Trace) Take(n int, speed float64) []Request {
	if n == 0 || n > len(t.Requests) {
		n = len(t.Requests)
	}
	out := slices.Clone(t.Requests[:n])
	for i := range out {
		if !t.Timed {
			out[i].At = 0
		} else if speed > 0 {
			out[i].At = time.Duration(float64(out[i].At) / speed)
			out[i].Pause = time.Duration(float64(out[i].Pause) / speed)
		}
	}
	return out
}

// questions are the first of each conversation of a ShareGPT file, a JSON list.
func questions(data []byte) ([]string, error) {
	var list []struct {
		Conversations []struct {
			Value string `json:"value"`
		} `json:"conversations"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		const example = `[{"conversations": [{"from": "human", "value": "…"}]}]`
		return nil, fmt.Errorf("%w; expected a list like %s", err, example)
	}
	var out []string
	for _, c := range list {
		if len(c.Conversations) > 1 && c.Conversations[0].Value != "" {
			out = append(out, c.Conversations[0].Value)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("it has no conversation of two turns or more")
	}
	return out, nil
}

// traceTable is a format of CSV, by the heads of its columns.
type traceTable struct {
	at, in, out string
	time        func(string) (time.Duration, error)
	example     string
}

var traceTables = [...]traceTable{
	{"TIMESTAMP", "ContextTokens", "GeneratedTokens", clock, "2023-11-16 18:17:03.9799600,4808,10"},
	{"Timestamp", "Request tokens", "Response tokens", seconds, "5,ChatGPT,472,18,490,Conversation log"},
}

// clock reads a time of day as Azure's traces have it: 2023-11-16 18:17:03.9799600, in 2024 with +00:00.
func clock(text string) (time.Duration, error) {
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil { // with any fraction of a second
			return at.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)), nil
		}
	}
	return 0, fmt.Errorf("%.40q is not a time", text)
}

func seconds(text string) (time.Duration, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0) || v > 1e9 {
		return 0, fmt.Errorf("%.40q is not a number of seconds from the start", text)
	}
	return time.Duration(v * float64(time.Second)), nil
}

// readTable reads CSV. A request of which nothing came back failed, and is left out.
func readTable(data []byte) (Trace, error) {
	from := csv.NewReader(bytes.NewReader(data))
	from.FieldsPerRecord, from.TrimLeadingSpace = -1, true
	heads, err := from.Read()
	if err != nil {
		return Trace{}, fmt.Errorf("%w; expected one of%s", err, traceFormats)
	}
	var columns []int // of the time and of both lengths
	at := slices.IndexFunc(traceTables[:], func(f traceTable) bool {
		columns = nil
		for _, name := range []string{f.at, f.in, f.out} {
			is := func(head string) bool { return strings.TrimSpace(head) == name }
			columns = append(columns, slices.IndexFunc(heads, is))
		}
		return !slices.Contains(columns, -1)
	})
	if at < 0 {
		return Trace{}, fmt.Errorf("%.60q is not the start of a known trace; expected one of%s",
			strings.Join(heads, ","), traceFormats)
	}
	f := traceTables[at]
	t := Trace{Timed: true}
	var last time.Duration
	for {
		row, err := from.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return Trace{}, fmt.Errorf("%w; expected rows like %s", err, f.example)
		}
		line, _ := from.FieldPos(0)
		q, err := f.request(row, columns)
		if err == nil && q.At < last {
			err = fmt.Errorf("its %s is before that of the line above", f.at)
		}
		if err != nil {
			return Trace{}, fmt.Errorf("line %d: %w; expected one like %s", line, err, f.example)
		}
		if last = q.At; q.ISL == 0 || q.OSL == 0 {
			t.Failed++
			continue
		}
		t.Requests = append(t.Requests, q)
	}
}

// request reads a row.
func (f traceTable) request(row []string, columns []int) (q Request, err error) {
	if len(row) <= slices.Max(columns) {
		return q, fmt.Errorf("it has %d columns", len(row))
	}
	if q.At, err = f.time(strings.TrimSpace(row[columns[0]])); err != nil {
		return q, fmt.Errorf("%s: %w", f.at, err)
	}
	for i, length := range []*int{&q.ISL, &q.OSL} {
		text := strings.TrimSpace(row[columns[i+1]])
		v, err := strconv.ParseFloat(text, 64) // pandas writes 512.0
		if *length = int(v); err != nil || !(v >= 0) || v > longest || v != math.Trunc(v) {
			return q, fmt.Errorf("%s %.40q is not a number of tokens", []string{f.in, f.out}[i], text)
		}
	}
	return q, nil
}

const sessionExample = "expected one like " +
	`{"block_size": 64, "requests": [{"t": 0, "in": 25259, "out": 86, "hash_ids": [1, 2]}]}`

// session is the record of one session of a coding agent.
type session struct {
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
		r := sessionReader{Trace: &t, block: s.Block, salt: salt, absolute: true}
		for _, c := range s.Requests { // where one of the first times is before its subagent began, they count from there
			early := func(x sessionCall) bool { return x.T != nil && *x.T < *c.T }
			if c.Type == subagent && c.T != nil && slices.ContainsFunc(c.Requests, early) {
				r.absolute = false
			}
		}
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

type sessionReader struct {
	*Trace
	block    int
	salt     uint64
	absolute bool // times of subagents count from the session's beginning; some recorders count from where one began
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
			return nil, fmt.Errorf("request %d: t must be a time in seconds from the start, and api_time must be 0 or more", i+1)
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
