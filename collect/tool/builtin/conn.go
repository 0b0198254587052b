package builtin

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ttreport/ttreport/collect/arrival"
	"github.com/ttreport/ttreport/collect/origin"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// conn is one connection to the server, used by one stream at a time.
type conn struct {
	raw   *arrival.Conn
	limit *io.LimitedReader // of the bytes before a body
	br    *bufio.Reader
	lines *bufio.Reader // of a body
	long  []byte        // a line that is longer than the buffer
	idle  time.Time     // since when
}

// Bounds of an answer. A server may be anybody's.
const (
	mostHead  = 1 << 20  // bytes of headers
	mostLine  = 32 << 20 // bytes of one event
	mostAfter = 64 << 10 // bytes after the last event
)

var (
	errHead    = fmt.Errorf("the answer has more than %d kB of headers", mostHead>>10)
	errLine    = fmt.Errorf("an event of the answer is longer than %d MB", mostLine>>20)
	errNoCall  = errors.New("the answer calls no tool, as tool_choice=required asks: is osl enough for one?")
	errNothing = errors.New("the answer has no content")
	errGone    = errors.New("this client disconnects in the middle of an answer")
	errChunks  = errors.New("the answer does not end: it has many times the requested number of chunks")
)

// conn returns an idle connection or opens one; reused reports which. TLS and its handshake are part of connecting,
// like TCP's: no latency of a request has either. Time stamps are of what is read above TLS, since those below would be
// of a record.
func (r *runner) conn(ctx context.Context) (c *conn, reused bool, err error) {
	r.idle.Lock()
	if n := len(r.idle.conns); n > 0 {
		c = r.idle.conns[n-1]
		r.idle.conns = r.idle.conns[:n-1]
		r.idle.Unlock()
		return c, true, nil
	}
	r.idle.Unlock()
	dialer := net.Dialer{Timeout: 10 * time.Second}
	raw, err := dialer.DialContext(ctx, "tcp", origin.HostPort(r.url))
	if err != nil {
		return nil, false, fmt.Errorf("connecting: %w", origin.Words(err))
	}
	if r.url.Scheme == "https" {
		ctx, cancel := context.WithTimeout(ctx, r.load.Timeout)
		defer cancel()
		upper := tls.Client(raw, &tls.Config{ServerName: r.url.Hostname(), MinVersion: tls.VersionTLS12})
		if err := upper.HandshakeContext(ctx); err != nil {
			return nil, false, fmt.Errorf("connecting: %w", errors.Join(err, raw.Close()))
		}
		raw = upper
	}
	top := arrival.Wrap(raw)
	limit := &io.LimitedReader{R: top}
	return &conn{raw: top, limit: limit, br: bufio.NewReaderSize(limit, 16<<10),
		lines: bufio.NewReaderSize(nil, 4<<10)}, false, nil
}

func (r *runner) close() {
	r.idle.Lock()
	defer r.idle.Unlock()
	for _, c := range r.idle.conns {
		_ = c.raw.Close() // an idle connection can be lost
	}
}

// message returns the whole HTTP request of one prompt.
func (r *runner) message(i int, q traffic.Request, t *talk) []byte {
	body := r.prompts.body(i, q, t)
	const start = "POST %s%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
	b := fmt.Appendf(make([]byte, 0, len(body)+512), start, strings.TrimSuffix(r.url.Path, "/"),
		formOf(r.load.Endpoint).path, r.url.Host, len(body))
	if r.load.APIKey != "" {
		b = fmt.Appendf(b, "Authorization: Bearer %s\r\n", r.load.APIKey)
	}
	return append(append(b, "\r\n"...), body...)
}

// ask sends a message and reads its answer to the end; the clock of the request began before. unsent reports that the
// connection was closed before anything was written.
func (c *conn) ask(
	r *runner, message []byte, q traffic.Request, talk *talk, began time.Time,
) (t Timeline, unsent bool) {
	t.Sent = began.Sub(r.out.Began)
	fail := func(err error) (Timeline, bool) {
		_ = c.raw.Close() // its state is unknown: the next request gets a new one
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = fmt.Errorf("not answered within %s", r.load.Timeout)
		}
		t.Error = redact.Text(err.Error())
		return t, unsent
	}
	if err := c.raw.SetDeadline(began.Add(r.load.Timeout)); err != nil {
		unsent = true
		return fail(err)
	}
	if n, err := c.raw.Write(message); err != nil {
		unsent = n == 0 && !errors.Is(err, os.ErrDeadlineExceeded)
		return fail(fmt.Errorf("sending: %w", origin.Words(err)))
	}
	if r.pulse.missedSince(began) {
		t.Undated = append(t.Undated, latency.Sending)
	}
	resp, err := c.response()
	if err != nil {
		return fail(fmt.Errorf("reading the answer: %w", origin.Words(err)))
	}
	defer resp.Body.Close()
	if why := refusal(r.load.Endpoint, resp); why != "" {
		return fail(errors.New(why))
	}
	if err = c.answer(r, resp.Body, began, q, &t, talk); errors.Is(err, errGone) {
		_ = c.raw.Close() // which is what this request is for
		return Timeline{Sent: t.Sent, Gone: true, Request: latency.Request{E2EL: ms(time.Since(began))}}, false
	}
	switch {
	case err != nil:
		return fail(err)
	case r.load.Tools.Required && !t.Called:
		return fail(errNoCall)
	}
	t.OK = true
	r.keep(c, resp)
	return t, false
}

// soon is how long after an answer a server closes the connection that closes every one. The usual idle timeouts are
// seconds.
const soon = 20 * time.Millisecond

// keep keeps a connection for another request where the answer has ended and nothing is behind it. A
// server may close each connection behind its stream though its head says that it keeps them, as llama.cpp's of October
// 2026 does: a request that is sent just before that fails. So the first connection that could be kept is watched for a
// moment, and none is kept where that one is closed.
func (r *runner) keep(c *conn, resp *http.Response) {
	n, err := io.CopyN(io.Discard, resp.Body, mostAfter)
	if n >= mostAfter || !errors.Is(err, io.EOF) || resp.Close || c.br.Buffered() > 0 {
		_ = c.raw.Close() // the server closes it as well
		return
	}
	c.idle = time.Now()
	r.watched.Do(func() {
		_ = c.raw.SetReadDeadline(c.idle.Add(soon)) // where that fails, reading fails
		if _, err := c.br.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
			r.closes.Store(true)
		}
	})
	if r.closes.Load() {
		_ = c.raw.Close()
		return
	}
	r.idle.Lock()
	defer r.idle.Unlock()
	r.idle.conns = append(r.idle.conns, c)
}

// mostHints is how many interim responses (1xx) may come before the final one: 100 Continue and 103 Early Hints.
const mostHints = 8

// response reads the head of an answer.
func (c *conn) response() (*http.Response, error) {
	c.limit.N = mostHead
	defer func() { c.limit.N = math.MaxInt64 }()
	for range mostHints {
		resp, err := http.ReadResponse(c.br, nil)
		if c.limit.N <= 0 {
			err = errHead
		}
		if err != nil || resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			return resp, err
		}
	}
	return nil, fmt.Errorf("%d interim (1xx) responses and no final one", mostHints)
}

// refusal says why an answer is no measurement; "" where it may be one. Redirects are not followed: the key would go
// with them. Nor is a request sent again that a server refuses for now (429, 503): what it does not take counts.
func refusal(e traffic.Endpoint, resp *http.Response) string {
	beginning := func() []byte {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 500)) // as much as there is
		return bytes.TrimSpace(text)
	}
	if resp.StatusCode != http.StatusOK {
		head := fmt.Sprintf("HTTP %d", resp.StatusCode)
		if after := resp.Header.Get("Retry-After"); after != "" {
			head += fmt.Sprintf(", Retry-After %.40s", after)
		}
		if to := resp.Header.Get("Location"); to != "" {
			head += fmt.Sprintf(", to %.200s, which is not followed", to)
		}
		return fmt.Sprintf("%s: %s", head, beginning())
	}
	if how := resp.Header.Get("Content-Encoding"); how != "" && !strings.EqualFold(how, "identity") {
		return fmt.Sprintf("the answer is compressed (%.40s), which was not requested", how)
	}
	if kind := resp.Header.Get("Content-Type"); !e.Pools() && strings.HasPrefix(kind, "application/json") {
		return fmt.Sprintf("the answer is not an event stream (text/event-stream): %s", beginning())
	}
	return ""
}

// next is the payload of the next event of the stream, which holds until the next one; more is false at its end.
func (c *conn) next() (data []byte, more bool, err error) {
	for {
		line, err := c.lines.ReadSlice('\n')
		for c.long = c.long[:0]; errors.Is(err, bufio.ErrBufferFull); {
			if c.long = append(c.long, line...); len(c.long) > mostLine {
				return nil, false, errLine
			}
			line, err = c.lines.ReadSlice('\n')
		}
		if len(c.long) > 0 {
			c.long = append(c.long, line...)
			line = c.long
		}
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			if errors.Is(err, io.EOF) {
				return nil, false, nil
			}
			return nil, false, err
		}
		data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		if !ok {
			continue
		}
		if data = bytes.TrimSpace(data); bytes.Equal(data, []byte("[DONE]")) {
			return nil, false, nil
		}
		return data, true, nil
	}
}

// answer reads the body of an answer.
func (c *conn) answer(
	r *runner, body io.Reader, began time.Time, q traffic.Request, t *Timeline, said *talk,
) error {
	e := r.load.Endpoint
	if e.Pools() {
		return c.whole(r, body, began, t)
	}
	c.lines.Reset(body)
	t.ITL = make([]float64, 0, min(q.OSL, 1<<16))
	f := following{Timeline: t, asked: q, began: began, said: said, pulse: r.pulse} // a stream of events
	for {
		data, more, err := c.next()
		if err != nil {
			return fmt.Errorf("the stream broke after %d chunks: %w", f.chunks, origin.Words(err))
		}
		if !more && f.chunks == 0 {
			return errNothing
		}
		if !more {
			f.E2EL = ms(f.last.Sub(f.began))
			f.Out = cmp.Or(f.Out, f.chunks) // a server without usage: one token a chunk
			return nil
		}
		x := delta{tokens: true}
		if said != nil || e == traffic.Responses || !certainText(data) {
			x = deltaOf(e, data)
		}
		if err := f.add(x, c.raw); err != nil {
			return err
		}
	}
}

// following is an answer that is being read.
type following struct {
	*Timeline
	asked       traffic.Request
	began, last time.Time
	chunks      int // with tokens
	said        *talk
	pulse       *pulse
	read        int  // that took the last of them
	late        bool // it was
}

// add adds an event, which arrived when the connection says.
func (f *following) add(x delta, from *arrival.Conn) error {
	if x.problem != "" {
		return errors.New(x.problem)
	}
	if x.in > 0 {
		f.In, f.Out, f.Cached, f.Drafted, f.Accepted = x.in, x.out, x.cached, x.drafted, x.accepted
	}
	if !x.tokens {
		return nil
	}
	f.Called = f.Called || x.call
	taken := from.Taken()
	at := taken.At
	f.date(taken)
	if f.chunks > 16*f.asked.OSL+4096 {
		return errChunks
	}
	if f.said != nil {
		f.said.answer.WriteString(x.text)
	}
	if f.Answer == 0 && !x.reasoning {
		f.Answer = ms(at.Sub(f.began))
	}
	if f.chunks++; f.chunks == 1 {
		f.TTFT = ms(at.Sub(f.began))
	} else {
		f.ITL = append(f.ITL, ms(at.Sub(f.last)))
	}
	if f.last = at; f.asked.GiveUp > 0 && f.chunks >= f.asked.GiveUp {
		return errGone
	}
	return nil
}

// date notes which chunks arrived at a time that is not known: of those that a late read took the last one alone has a
// time, where the kernel stamped it.
func (f *following) date(t arrival.Taken) {
	if t.Number != f.read {
		f.read, f.late = t.Number, f.pulse.late(t)
	} else if f.late && t.Stamped {
		f.Undated = append(f.Undated, f.chunks-1)
	}
	if f.late && !t.Stamped {
		f.Undated = append(f.Undated, f.chunks)
	}
}

// whole reads an answer that is not a stream.
func (c *conn) whole(r *runner, body io.Reader, began time.Time, t *Timeline) error {
	data, err := io.ReadAll(io.LimitReader(body, mostLine+1))
	if err != nil {
		return fmt.Errorf("the answer broke after %d bytes: %w", len(data), err)
	}
	if len(data) > mostLine {
		return errLine
	}
	taken := c.raw.Taken()
	if t.E2EL = ms(taken.At.Sub(began)); !taken.Stamped && r.pulse.late(taken) {
		t.Undated = append(t.Undated, t.Last())
	}
	v := decode.Parse(data, 32)
	if x := v.Get("error"); x.Kind() == decode.Object {
		return errors.New("the server reports: " + x.Get("message").Str())
	}
	if max(v.Get("data").Len(), v.Get("results").Len()) == 0 {
		return errNothing
	}
	for _, count := range []string{"prompt_tokens", "total_tokens"} {
		if n, _ := v.At("usage", count).Int(); t.In == 0 {
			t.In = n
		}
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// talk is a conversation: what was said before the next turn. nil is none.
type talk struct {
	endpoint traffic.Endpoint
	before   []any  // messages
	user     string // what the user says in this turn
	answer   strings.Builder
}

// said adds the turn: what the user said, and what was answered. Without an answer a conversation would
// have two questions in a row, which chat templates refuse.
func (t *talk) said() {
	answer := object{"role": "assistant", "content": cmp.Or(t.answer.String(), "-")}
	if t.endpoint == traffic.Responses { // with every field that the API calls required: llama.cpp refuses a mere text
		answer["type"], answer["id"], answer["status"] = "message", "msg_0", "completed"
		answer["content"] = []any{object{"type": "output_text", "text": answer["content"], "annotations": []any{}}}
	}
	t.answer.Reset()
	t.before = append(t.before, object{"role": "user", "content": t.user}, answer)
}

// turns returns how many requests a stream sends one after the other as a conversation.
func (l Load) turns() int { return max(1, l.Turns) }

// converse sends the turns of a conversation, whose first request is i. Where a turn fails, the ones behind it fail.
func (r *runner) converse(ctx context.Context, i int) {
	t := &talk{endpoint: r.load.Endpoint}
	for turn := range r.load.turns() {
		if turn > 0 && process.Sleep(ctx, r.load.Think) != nil {
			return
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

// Bounds of a client that is on time.
const (
	beats    = 5 * time.Millisecond
	overdue  = 10 * time.Millisecond // behind the time of a beat
	lateRead = time.Millisecond      // behind an arrival
)

// pulse tells when this program did not run: a goroutine notes the time every few milliseconds, and is late where all
// are, as on a machine that others keep busy or that was stopped. nil is none.
type pulse struct {
	began        time.Time
	beat, missed atomic.Int64 // when it was last noted, and noted too late, after began
	stopped      chan struct{}
}

func newPulse() *pulse {
	p := &pulse{began: time.Now(), stopped: make(chan struct{})}
	go func() {
		tick := time.NewTicker(beats)
		defer tick.Stop()
		for {
			select {
			case <-p.stopped:
				return
			case <-tick.C:
			}
			now := int64(time.Since(p.began))
			if now-p.beat.Load() > int64(beats+overdue) {
				p.missed.Store(now)
			}
			p.beat.Store(now)
		}
	}()
	return p
}

// missedSince reports whether this program did not run for some time that ended behind an instant.
func (p *pulse) missedSince(at time.Time) bool {
	if p == nil {
		return false
	}
	now := int64(time.Since(p.began))
	return now-p.beat.Load() > int64(beats+overdue) || p.missed.Load() > int64(at.Sub(p.began))
}

// late reports whether what a read took may have waited for it: all that came in other segments than the last one
// arrived at a time that is not known then.
func (p *pulse) late(t arrival.Taken) bool {
	return p != nil && (t.Lag > lateRead || p.missedSince(t.After))
}
