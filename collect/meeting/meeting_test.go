package meeting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// place is a free address of this host.
func place(t *testing.T) Place {
	t.Helper()
	for range 100 { // none of the ports that the system gives to connections: one of another test could take it
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(10_000)))
		if err == nil {
			defer l.Close()
			return Place{l.Addr().String(), "word"}
		}
	}
	t.Fatal("no free port")
	return Place{}
}

// Clients come before there is anybody, again for each load, and leave when both that measure have said that it is
// over; a stranger is not among them.
func TestClientsComeForEachLoad(t *testing.T) {
	p := place(t)
	ctx, end := context.WithTimeout(t.Context(), 3*time.Minute)
	defer end()
	var clients sync.WaitGroup
	var strangers atomic.Int32
	for range 3 {
		clients.Go(func() {
			if err := Join(ctx, p, 2, func(in io.Reader, out io.Writer) error {
				load := -1
				return errors.Join(json.NewDecoder(in).Decode(&load), json.NewEncoder(out).Encode(load))
			}); err != nil {
				t.Error(err)
			}
		})
	}
	stranger, leave := context.WithCancel(ctx)
	defer leave()
	go func() {
		_ = Join(stranger, Place{p.Address, "guess"}, 1, func(io.Reader, io.Writer) error { strangers.Add(1); return nil })
	}()
	for _, who := range []string{"0", "1", "1"} { // the second says it twice
		for i := range 3 {
			guests, err := Wait(ctx, p, 3, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range guests {
				did := -1
				err := errors.Join(json.NewEncoder(g).Encode(i), json.NewDecoder(g.Reader).Decode(&did))
				if err != nil || did != i {
					t.Errorf("%d %v", did, err)
				}
				g.Close()
			}
		}
		if who == "1" {
			break
		}
		if err := Over(ctx, p, who, 3, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if err := Over(ctx, p, "1", 3, time.Minute); err != nil {
		t.Fatal(err)
	}
	clients.Wait()
	if strangers.Load() != 0 {
		t.Error("a stranger was given a load")
	}
}

// Who waits says how many came; who is told to end ends.
func TestNotEveryClientComes(t *testing.T) {
	p := place(t)
	ctx, leave := context.WithCancel(t.Context())
	joined := make(chan error, 1)
	go func() { joined <- Join(ctx, p, 1, func(io.Reader, io.Writer) error { return nil }) }()
	silent := make(chan net.Conn, 1)
	go func() {
		for {
			if c, err := net.Dial("tcp", p.Address); err == nil {
				silent <- c
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	for within := 500 * time.Millisecond; ; within *= 4 { // on a slow machine the first one comes later
		_, err := Wait(ctx, p, 2, within)
		if none := err != nil && strings.Contains(err.Error(), ": 0 of 2 "); none && within < 20*time.Second {
			continue
		}
		if !errors.Is(err, ErrAlone) || err.Error() != fmt.Sprintf("not every client came: 1 of 2 did within %s", within) {
			t.Error(err)
		}
		break
	}
	(<-silent).Close()
	if err := Over(ctx, place(t), "0", 1, time.Millisecond); err != nil {
		t.Error(err)
	}
	leave()
	if err := <-joined; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := Wait(ctx, p, 1, time.Hour); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A client that comes again is one client, however late the other one is: both are told that it is over, and a load
// waits for both.
func TestOneClientComesAgain(t *testing.T) {
	p := place(t)
	ctx, end := context.WithTimeout(t.Context(), 3*time.Minute)
	defer end()
	nothing := func(io.Reader, io.Writer) error { return nil }
	again := make(chan error, 1)
	go func() { again <- Join(ctx, p, 2, nothing) }() // it expects the end of another entry, too
	late := make(chan error, 1)
	time.AfterFunc(5*pause, func() { late <- Join(ctx, p, 1, nothing) })
	if err := Over(ctx, p, "0", 2, time.Minute); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-late:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the late client was not told")
	}
	impatient, leave := context.WithCancel(ctx)
	var left sync.WaitGroup
	left.Go(func() { // it breaks its connection, and comes again
		for impatient.Err() == nil {
			visit, done := context.WithTimeout(impatient, pause)
			_, _ = p.visit(visit, "the same", nothing)
			done()
		}
	})
	if _, err := Wait(ctx, p, 3, 10*pause); !errors.Is(err, ErrAlone) {
		t.Errorf("two clients are not three: %v", err)
	}
	leave()
	left.Wait()
	if err := Over(ctx, p, "1", 1, time.Minute); err != nil {
		t.Error(err)
	}
	if err := <-again; err != nil {
		t.Error(err)
	}
}
