// Package origin makes HTTP clients that stay with the server they were sent to.
//
// In: how long a request may take. Out: an http.Client that follows no redirect to another scheme, host or port,
// because a key or a prompt would go there too, and that bounds the headers it reads. The package must not know what
// is asked.
package origin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/ttreport/ttreport/ingest/redact"
)

// ErrElsewhere is returned for a redirect to another server.
var ErrElsewhere = errors.New("the server redirects elsewhere, which is not followed")

// mostHeaders is how long the headers of an answer may be, in bytes.
const mostHeaders = 1 << 20

// Client follows redirects within one origin. timeout bounds a request with its answer; 0: its context alone.
func Client(timeout time.Duration) *http.Client {
	return &http.Client{Timeout: timeout, Transport: transport, CheckRedirect: sameOrigin}
}

// sameOrigin refuses a redirect to another server, and too many of them.
func sameOrigin(r *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("ten redirects")
	}
	if !Same(r.URL, via[0].URL) {
		return fmt.Errorf("%w: %s; name that address if it is meant", ErrElsewhere, redact.URL(r.URL.String()))
	}
	return nil
}

// transport is shared, so that connections are. It never changes.
var transport = func() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxResponseHeaderBytes = mostHeaders
	return t
}()

// Same reports that two addresses have the same scheme, host and port (RFC 6454).
func Same(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(hostPort(a), hostPort(b))
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// Words returns what failed between us and a server in words for people, with the same error within; an error of
// another kind as it is.
func Words(err error) error {
	if what := inWords(err); what != "" {
		return worded{what, err}
	}
	return err
}

// worded is an error in other words.
type worded struct {
	text string
	err  error
}

func (w worded) Error() string { return w.text }
func (w worded) Unwrap() error { return w.err }

func inWords(err error) string {
	if err == nil || errors.As(err, new(worded)) || errors.Is(err, context.Canceled) {
		return ""
	}
	var name *net.DNSError
	if errors.As(err, &name) && name.IsNotFound {
		return fmt.Sprintf("no host has the name %s", name.Name)
	}
	where := "the server"
	if at := address(err); at != "" {
		where = at
	}
	is := func(list ...error) bool {
		for _, e := range list {
			if errors.Is(err, e) {
				return true
			}
		}
		return false
	}
	var late interface{ Timeout() bool }
	switch {
	case is(syscall.ECONNREFUSED):
		return "nothing listens at " + where
	case is(syscall.EHOSTUNREACH, syscall.ENETUNREACH):
		return where + " cannot be reached from this machine"
	case is(syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF):
		return where + " closed the connection"
	case is(os.ErrDeadlineExceeded, context.DeadlineExceeded), errors.As(err, &late) && late.Timeout():
		return where + " does not answer"
	}
	return ""
}

// address is the host and port that an error is about; "" where it names none.
func address(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Addr != nil {
		return op.Addr.String()
	}
	var asked *url.Error
	if errors.As(err, &asked) {
		if u, err := url.Parse(asked.URL); err == nil {
			return u.Host
		}
	}
	return ""
}
