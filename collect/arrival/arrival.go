// Package arrival wraps a connection so that it reports when the bytes that were read arrived.
//
// In: a connection. Out: the same connection, which says when each of its bytes arrived. It must not know what the
// bytes mean. On a busy machine a goroutine may read milliseconds after the data came. A client that takes the time
// then reports its own slowness as the server's; a server that does so hides its own. On Linux the kernel stamps each
// segment as it comes in (SO_TIMESTAMPNS, socket(7)); elsewhere, and above TLS, the time of the read is taken.
package arrival

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Conn is a connection with the time of its last arrival. One goroutine may read while another calls At.
type Conn struct {
	net.Conn
	began time.Time
	last  atomic.Int64 // nanoseconds after began
	read  reader       // nil: no time stamps of the kernel
	took  Taken
	full  bool // the last read filled its buffer: more may have been there
}

// Taken is what the last read of a connection took. What several segments held has the time of the last one.
type Taken struct {
	Number  int           // of the read
	After   time.Time     // everything arrived behind this time, when a read had taken all there was
	At      time.Time     // when the last byte arrived
	Lag     time.Duration // from then to the read
	Stamped bool          // At is the kernel's, not the time of the read
}

// reader reads, and returns how long ago the kernel received the last of the bytes; known is false where it does not
// say.
type reader func(p []byte) (n int, lag time.Duration, known bool, err error)

// Wrap returns c with time stamps.
func Wrap(c net.Conn) *Conn {
	return &Conn{Conn: c, began: time.Now(), read: kernel(c)}
}

// Read implements io.Reader.
func (c *Conn) Read(p []byte) (n int, err error) {
	t := Taken{Number: c.took.Number + 1, After: c.took.At.Add(c.took.Lag)}
	if c.full {
		t.After = c.took.After
	}
	if c.read != nil {
		n, t.Lag, t.Stamped, err = c.read(p)
	} else {
		n, err = c.Conn.Read(p)
	}
	c.last.Store(int64(time.Since(c.began) - t.Lag))
	t.At = c.At()
	c.took, c.full = t, n == len(p)
	return n, err
}

// Taken returns what the last read took. The goroutine that reads may call it.
func (c *Conn) Taken() Taken { return c.took }

// At returns when the last bytes that were read arrived.
func (c *Conn) At() time.Time { return c.began.Add(time.Duration(c.last.Load())) }

// Closed reports whether an idle connection cannot be used again: the other side closed it, or sent what nobody asked
// for.
func (c *Conn) Closed() bool { return closed(c.Conn) }

// Listener makes connections that know when a request reached this machine, because one handler among many starts late.
type Listener struct{ net.Listener }

// Accept implements net.Listener.
func (l Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return Wrap(c), nil
}

type connKey struct{}

// ConnContext is for the field of that name of an http.Server, whose handlers then may call [OfRequest].
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// OfRequest returns when a request reached this machine. It is called before the body is read: after that the
// connection waits for the next request. It is now where the server has no [Listener].
func OfRequest(r *http.Request) time.Time {
	if c, ok := r.Context().Value(connKey{}).(*Conn); ok {
		return c.At()
	}
	return time.Now()
}
