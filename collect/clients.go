package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/redact"
)

// ClientCommand is the command of this program that is one client of several; see [builtin.Serve].
const ClientCommand = "load-client"

// clientsOf returns by how many clients a load is made: no client is without a stream or a request.
func clientsOf(most int, l builtin.Load) int {
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
	var printed bytes.Buffer
	for range n {
		cmd := exec.CommandContext(ctx, self, ClientCommand)
		cmd.WaitDelay = time.Second
		if len(clients) == 0 {
			cmd.Stderr = &printed // one is enough for a message
		}
		in, err := cmd.StdinPipe()
		if err != nil {
			return builtin.Outcome{}, fmt.Errorf("clients: %w", err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return builtin.Outcome{}, fmt.Errorf("clients: %w", err)
		}
		if err := cmd.Start(); err != nil {
			return builtin.Outcome{}, fmt.Errorf("clients: %w", err)
		}
		defer func() {
			_ = in.Close() // which ends it
			_ = cmd.Wait() // what it did was read
		}()
		clients = append(clients, builtin.Client{In: in, Out: out})
	}
	out, err := builtin.RunClients(ctx, l, clients)
	if err != nil && ctx.Err() == nil {
		cancel()
		if text := strings.TrimSpace(redact.Text(printed.String())); text != "" {
			err = errors.Join(err, errors.New(text))
		}
	}
	return out, err
}
