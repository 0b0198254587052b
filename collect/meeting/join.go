package meeting

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net"
	"time"
)

// pause is between two attempts: the one that measures listens for a moment before each load.
const pause = 100 * time.Millisecond

// Join serves one load after the other, each over a connection of its own, until so many have said that they measure
// nothing more. One that is not there yet, or not any more, is looked for again; the error is the context's.
func Join(ctx context.Context, p Place, many int, serve func(io.Reader, io.Writer) error) error {
	over, id := map[string]bool{}, rand.Text()
	for len(over) < many {
		who, last := p.visit(ctx, id, serve)
		if last {
			over[who] = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	return nil
}

// visit serves one load, if there is one. An error of it is known to the one that measures, who has the other end.
func (p Place) visit(
	ctx context.Context, id string, serve func(io.Reader, io.Writer) error,
) (who string, over bool) {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	c, err := dialer.DialContext(ctx, "tcp", p.Address)
	if err != nil {
		return "", false
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	if err := json.NewEncoder(c).Encode(hello{p.Word, id}); err != nil {
		return "", false
	}
	lines := json.NewDecoder(c)
	var w welcome
	if err := lines.Decode(&w); err != nil || w.Over {
		return w.Who, err == nil
	}
	_ = serve(io.MultiReader(lines.Buffered(), c), c)
	return "", false
}
