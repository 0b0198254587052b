// Package origin asks servers over HTTP, and stays with the server that it was sent to.
//
// In: a request, or how long one may take. Out: its answer ([Ask]), or an http.Client that follows no redirect to
// another scheme, host or port, because a key or a prompt would go there too, and that bounds the headers it reads. The
// package must not know what is asked.
package origin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ttreport/ttreport/ingest/redact"
)

// ErrElsewhere is returned for a redirect to another server.
var ErrElsewhere = errors.New("the server redirects to another address; redirects are not followed")

// Client follows redirects within one origin. timeout bounds a request with its answer; 0: its context alone.
func Client(timeout time.Duration) *http.Client {
	sameOrigin := func(r *http.Request, via []*http.Request) error {
		switch {
		case len(via) >= 10:
			return errors.New("ten redirects")
		case !Same(r.URL, via[0].URL):
			return fmt.Errorf("%w: %s; use that address if you mean it", ErrElsewhere, redact.URL(r.URL.String()))
		}
		return nil
	}
	return &http.Client{Timeout: timeout, Transport: transport, CheckRedirect: sameOrigin}
}

// Ask sends a request and returns the status and the body of its answer. key is sent as a bearer token, "" for none,
// and body as JSON, nil for none. Errors are those of [Words].
func Ask(ctx context.Context, method, address, key string, body any) (status int, text []byte, err error) {
	var sent []byte
	if body != nil {
		if sent, err = json.Marshal(body); err != nil {
			return 0, nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(sent))
	if err != nil {
		return 0, nil, fmt.Errorf("server address: %w", err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := Client(0).Do(r)
	if err != nil {
		return 0, nil, Words(err)
	}
	defer answer.Body.Close()
	const mostAnswer = 4 << 20 // bytes
	text, err = io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	return answer.StatusCode, text, Words(err)
}

// transport is shared, so that connections are. It never changes.
var transport = func() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxResponseHeaderBytes = 1 << 20
	return t
}()

// Same reports that two addresses have the same scheme, host and port (RFC 6454).
func Same(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(HostPort(a), HostPort(b))
}

// IsHere reports whether a host is this machine, by its loopback interface.
func IsHere(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// HostPort is the host of an address and its port, also where it states none.
func HostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// worded is an error in other words.
type worded struct {
	text string
	error
}

func (w worded) Error() string { return w.text }
func (w worded) Unwrap() error { return w.error }

// Words returns what failed between us and a server in words for people, with the same error within; an error of
// another kind as it is.
func Words(err error) error {
	if err == nil || errors.As(err, new(worded)) || errors.Is(err, context.Canceled) {
		return err
	}
	where := place(err)
	is := func(list ...error) bool {
		return slices.ContainsFunc(list, func(e error) bool { return errors.Is(err, e) })
	}
	var name *net.DNSError
	var late interface{ Timeout() bool }
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return worded{"unknown host " + name.Name, err}
	case is(syscall.ECONNREFUSED):
		return worded{"nothing listens at " + where, err}
	case is(syscall.EHOSTUNREACH, syscall.ENETUNREACH):
		return worded{where + " cannot be reached from this machine", err}
	case is(syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF):
		return worded{where + " closed the connection", err}
	case is(os.ErrDeadlineExceeded, context.DeadlineExceeded), errors.As(err, &late) && late.Timeout():
		return worded{where + " does not answer", err}
	}
	return err
}

// place is the host and port that an error is about.
func place(err error) string {
	var op *net.OpError
	var asked *url.Error
	if errors.As(err, &op) && op.Addr != nil {
		return op.Addr.String()
	}
	if errors.As(err, &asked) {
		if u, err := url.Parse(asked.URL); err == nil && u.Host != "" {
			return u.Host
		}
	}
	return "the server"
}
