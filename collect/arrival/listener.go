package arrival

import (
	"context"
	"net"
	"net/http"
	"time"
)

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
