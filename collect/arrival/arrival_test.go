package arrival_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/arrival"
)

// Data that arrived before they were read have the time of their arrival.
func TestStampIsOfTheArrival(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the kernel's stamps are read on Linux only")
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	sent, stamps := make(chan time.Time, 1), make(chan bool)
	go func() {
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		<-stamps // the other side has them on
		at := time.Now()
		if _, err := c.Write([]byte("x")); err != nil {
			t.Error(err)
		}
		sent <- at
		_, _ = c.Read(make([]byte, 1)) // until the other side is done
	}()
	raw, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := arrival.Wrap(raw)
	defer c.Close()
	close(stamps)
	want := <-sent
	arrived := time.Now()
	time.Sleep(100 * time.Millisecond) // a reader that is late
	if _, err := c.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if at := c.At(); at.Before(want) || at.Sub(arrived) > 50*time.Millisecond {
		t.Errorf("stamped %v after it was sent, and %v after it was there; the read came 100 ms later",
			at.Sub(want), at.Sub(arrived))
	}
}

// A connection without time stamps has the time of the read.
func TestPipe(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	go func() { _, _ = b.Write([]byte("x")) }()
	c, before := arrival.Wrap(a), time.Now()
	if _, err := c.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if at := c.At(); at.Before(before) || at.After(time.Now()) {
		t.Errorf("stamped %v, read after %v", at, before)
	}
}

// A handler that gets to its request late knows when it came.
func TestOfRequest(t *testing.T) {
	const late = 50 * time.Millisecond
	after := make(chan time.Duration, 1)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		time.Sleep(late)
		after <- time.Since(arrival.OfRequest(r))
	}))
	srv.Listener = arrival.Listener{Listener: srv.Listener}
	srv.Config.ConnContext = arrival.ConnContext
	srv.Start()
	defer srv.Close()
	resp, err := http.Post(srv.URL, "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if got := <-after; got < late {
		t.Errorf("the request came %s before, and the handler slept for %s", got, late)
	}
}
