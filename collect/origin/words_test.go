package origin

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// People read what failed, not what the system calls it.
func TestWordsOfWhatFailed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent := listener.Addr().String() // it takes connections and never answers
	defer listener.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing := gone.Addr().String()
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	ask := func(host string) error {
		_, err := Client(50 * time.Millisecond).Get("http://" + host + "/v1/models")
		return err
	}
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"refused", ask(refusing), "nothing listens at " + refusing},
		{"silent", ask(silent), silent + " does not answer"},
		{"no such name", &net.OpError{Op: "dial", Err: &net.DNSError{Name: "nowhere", IsNotFound: true}},
			"unknown host nowhere"},
		{"dial", &net.OpError{Op: "dial", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 80},
			Err: os.ErrDeadlineExceeded}, "10.0.0.1:80 does not answer"},
		{"reset", &os.SyscallError{Syscall: "read", Err: syscall.ECONNRESET}, "the server closed the connection"},
		{"end", io.ErrUnexpectedEOF, "the server closed the connection"},
		{"cancelled", context.Canceled, "context canceled"},
		{"other", http.ErrBodyNotAllowed, http.ErrBodyNotAllowed.Error()},
	} {
		got := Words(c.err)
		if got.Error() != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if !errors.Is(got, c.err) || strings.Contains(got.Error(), "i/o timeout") {
			t.Errorf("%s: %q is not %v any more", c.name, got, c.err)
		}
		if again := Words(got); again.Error() != got.Error() {
			t.Errorf("%s: words of words: %q", c.name, again)
		}
	}
	if Words(nil) != nil {
		t.Error("no error has words")
	}
}
