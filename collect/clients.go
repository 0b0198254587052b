package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/redact"
)

// ClientCommand is the command of this program that is one client of several: it reads its part of a load.
const ClientCommand = "load-client"

// clientsOf returns by how many clients a load is made: no client is without a stream or a request.
func clientsOf(most int, l builtin.Load) int {
	if l.Ordered() { // what waits for an answer does so in one process
		return 1
	}
	n := min(max(1, most), l.Requests)
	if l.Concurrency > 0 {
		n = min(n, l.Concurrency)
	}
	return n
}

// runClients runs a load on several processes of this program.
func runClients(ctx context.Context, l builtin.Load, n int) (builtin.Outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return builtin.Outcome{}, fmt.Errorf("clients: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var clients []builtin.Client
	var ends []func()
	end := sync.OnceFunc(func() {
		for _, end := range ends {
			end()
		}
	})
	defer end()
	printed := make([]bytes.Buffer, n)
	for i := range n {
		c, wait, err := startClient(ctx, self, &printed[i])
		if err != nil {
			return builtin.Outcome{}, fmt.Errorf("clients: %w", err)
		}
		ends, clients = append(ends, wait), append(clients, c)
	}
	out, err := builtin.RunClients(ctx, l, clients)
	if err != nil && ctx.Err() == nil {
		cancel()
		end()                    // or it may still be printing
		for i := range printed { // the first that said anything
			if text := strings.TrimSpace(redact.Text(printed[i].String())); text != "" {
				return out, errors.Join(err, errors.New(text))
			}
		}
	}
	return out, err
}

// startClient starts a client, which ends when its input does; end waits for that.
func startClient(ctx context.Context, program string, printed *bytes.Buffer) (c builtin.Client, end func(), err error) {
	cmd := exec.CommandContext(ctx, program, ClientCommand)
	cmd.WaitDelay, cmd.Stderr = 2*time.Second, printed
	in, err := cmd.StdinPipe()
	if err != nil {
		return c, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return c, nil, err
	}
	cmd.Cancel = in.Close
	if err := cmd.Start(); err != nil {
		return c, nil, err
	}
	return builtin.Client{In: in, Out: out}, func() {
		_ = in.Close() // which ends it
		_ = cmd.Wait() // what it did was read
	}, nil
}
