package builtin

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Client is a client of several that was started elsewhere: what it reads and what it writes.
type Client struct {
	In  io.Writer
	Out io.Reader
	URL string // of the server, where the client reaches it under another address; "": that of the load
	Own bool   // it has a key of its own: that of the load does not go to it
}

// settling is how long after the last client is ready all of them begin: each learns of it meanwhile.
const settling = 300 * time.Millisecond

// asked is how often a client is asked for its clock. The answer that came soonest counts, as in NTP.
const asked = 8

// clock is what is known of a client's clock: how much it is ahead of ours, and half of the round trip in which that
// was measured, by which it can be wrong.
type clock struct {
	ahead, error time.Duration
	trip         time.Duration // the longest one
}

// RunClients runs a load on several clients, which begin at one instant, and joins what they did as if one had run.
// Each is told the instant by its own clock, so that clients on hosts whose clocks differ begin together.
func RunClients(ctx context.Context, l Load, clients []Client) (Outcome, error) {
	from, clocks := make([]*json.Decoder, len(clients)), make([]clock, len(clients))
	out := Outcome{Requests: make([]Timeline, l.Requests), Clients: len(clients), Counted: true,
		Pools: l.Endpoint.Pools()}
	wait := settling
	for i, c := range clients {
		part := l
		part.Part, part.Progress, part.RequestID = Part{i, len(clients)}, nil, nil
		part.URL = cmp.Or(c.URL, l.URL)
		if c.Own {
			part.APIKey = ""
		}
		if i > 0 {
			part.Warmups = 0 // the server is warm when the first has done them
		}
		if err := json.NewEncoder(c.In).Encode(part); err != nil {
			return out, fmt.Errorf("client %d of %d: %w", i+1, len(clients), err)
		}
		from[i] = json.NewDecoder(bufio.NewReader(c.Out))
		var r ready // one after the other, so that no client measures the others' preparations
		if err := from[i].Decode(&r); err != nil || r.Error != "" {
			return out, fmt.Errorf("client %d of %d is not ready: %w", i+1, len(clients), cmp.Or(err, errors.New(r.Error)))
		}
		var err error
		if clocks[i], err = clockOf(c.In, from[i]); err != nil {
			return out, fmt.Errorf("client %d of %d: %w", i+1, len(clients), err)
		}
		wait = max(wait, settling+4*clocks[i].trip)
		out.ClockOffset = max(out.ClockOffset, clocks[i].ahead.Abs())
		out.ClockError = max(out.ClockError, clocks[i].error)
		if r.Host != "" && !slices.Contains(out.Hosts, r.Host) {
			out.Hosts = append(out.Hosts, r.Host)
		}
	}
	out.Began = time.Now().Add(wait)
	for i, c := range clients {
		if err := json.NewEncoder(c.In).Encode(begin{Begin: out.Began.Add(clocks[i].ahead)}); err != nil {
			return out, fmt.Errorf("client %d of %d: %w", i+1, len(clients), err)
		}
	}
	return out, join(ctx, l, &out, from)
}

// clockOf measures a client's clock.
func clockOf(to io.Writer, from *json.Decoder) (best clock, err error) {
	for i := range asked {
		before := time.Now()
		if err := json.NewEncoder(to).Encode(begin{Clock: true}); err != nil {
			return best, err
		}
		var r ready
		if err := from.Decode(&r); err != nil {
			return best, err
		}
		trip := time.Since(before)
		longest := max(best.trip, trip)
		if i == 0 || trip/2 < best.error {
			best = clock{ahead: r.Ready.Sub(before.Add(trip / 2)), error: trip / 2}
		}
		best.trip = longest
	}
	return best, nil
}
