package meeting

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"
)

// ErrAlone is returned where not all clients came.
var ErrAlone = errors.New("not every client came")

// ClientCommand is the command of this program that is one client of several: without arguments it makes its part of
// one load, which it reads; in a pod of its own it has an address, the file of the word and how many entries there are.
const ClientCommand = "load-client"

// Variables of the environment of a pod whose load is made by clients in other pods, too.
const (
	AddressVariable = "TTREPORT_CLIENTS"      // where it waits for them, as "0.0.0.0:7431"
	WordVariable    = "TTREPORT_CLIENTS_WORD" // the file with the word
	CountVariable   = "TTREPORT_CLIENTS_N"    // how many pods of clients there are
	WhoVariable     = "JOB_COMPLETION_INDEX"  // which of the entries this pod measures; Kubernetes sets it
)

// Place is where clients meet.
type Place struct {
	Address string // where the one that waits listens, and where the others find it: "0.0.0.0:7431", "name.space.svc:7431"
	Word    string // that only they know
}

// Lines that begin a connection, each a JSON object.
type (
	hello struct {
		Word string `json:"word"`
		ID   string `json:"id"` // of the client, each time it comes
	}
	welcome struct {
		Over bool   `json:"over,omitempty"` // nothing more is measured by Who; else the load follows
		Who  string `json:"who"`
	}
)

// Guest is a connection to a client.
type Guest struct {
	net.Conn
	Reader io.Reader // what it says
	id     string
}

// again closes a connection whose client has come again.
func (g Guest) again(old Guest) bool {
	if g.id == old.id {
		_ = old.Close()
	}
	return g.id == old.id
}

// limits of what strangers may say, and how long they may take.
const (
	mostHello   = 4 << 10
	helloWithin = 5 * time.Second
)

// Wait returns the connections of n clients when all have come. It listens no longer then.
func Wait(ctx context.Context, p Place, n int, within time.Duration) ([]Guest, error) {
	ctx, done := context.WithTimeout(ctx, within)
	defer done()
	var guests []Guest
	leave := func() {
		for _, g := range guests {
			_ = g.Close() // it comes again
		}
	}
	come, end, err := listen(ctx, p)
	if err != nil {
		return nil, err
	}
	defer end()
	for len(guests) < n {
		select {
		case g := <-come:
			guests = append(slices.DeleteFunc(guests, g.again), g)
		case <-ctx.Done():
			leave()
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("%w: %d of %d did within %s", ErrAlone, len(guests), n, within)
		}
	}
	for _, g := range guests {
		if err := json.NewEncoder(g).Encode(welcome{}); err != nil {
			leave()
			return nil, fmt.Errorf("a client is gone: %w", err)
		}
	}
	return guests, nil
}

// Over tells n clients, as they come, that who measures nothing more. It returns after a while also when not all came.
func Over(ctx context.Context, p Place, who string, n int, within time.Duration) error {
	ctx, done := context.WithTimeout(ctx, within)
	defer done()
	come, end, err := listen(ctx, p)
	if err != nil {
		return err
	}
	defer end()
	for told := map[string]bool{}; len(told) < n; {
		select {
		case g := <-come:
			told[g.id] = true                                            // who comes again is one
			_ = json.NewEncoder(g).Encode(welcome{Over: true, Who: who}) // one that is gone need not know
			_ = g.Close()
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// listen sends the clients that know the word until end is called. Those that nobody took are let go.
func listen(ctx context.Context, p Place) (come <-chan Guest, end func(), err error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", p.Address)
	if err != nil {
		return nil, nil, fmt.Errorf("waiting for clients: %w", err)
	}
	ctx, done := context.WithCancel(ctx)
	out := make(chan Guest)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // it was closed
			}
			go func() {
				g, ok := p.admit(c)
				if !ok {
					_ = c.Close() // a stranger
					return
				}
				select {
				case out <- g:
				case <-ctx.Done():
					_ = c.Close() // it comes again
				}
			}()
		}
	}()
	return out, func() { done(); _ = l.Close() }, nil
}

// admit reads what a connection begins with.
func (p Place) admit(c net.Conn) (g Guest, ok bool) {
	_ = c.SetReadDeadline(time.Now().Add(helloWithin)) // fails when it is closed, as reading does
	lines := json.NewDecoder(io.LimitReader(c, mostHello))
	var h hello
	if err := lines.Decode(&h); err != nil || subtle.ConstantTimeCompare([]byte(h.Word), []byte(p.Word)) != 1 {
		return g, false
	}
	_ = c.SetReadDeadline(time.Time{})
	return Guest{c, io.MultiReader(lines.Buffered(), c), h.ID}, true
}
