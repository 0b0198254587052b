package origin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
)

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
