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

// ClientCommand is the command of this program that is one client of several: it reads its part of a load.
const ClientCommand = "load-client"

// runClients runs a load on several processes of this program, each of which ends when its input does.
func runClients(ctx context.Context, l builtin.Load, n int) (builtin.Outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return builtin.Outcome{}, fmt.Errorf("clients: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	var running []*exec.Cmd
	end := func() {
		cancel()
		for _, cmd := range running {
			_ = cmd.Wait() // what it did was read
		}
	}
	defer end()
	clients, printed := make([]builtin.Client, n), make([]bytes.Buffer, n)
	for i := range n {
		cmd := exec.CommandContext(ctx, self, ClientCommand)
		cmd.WaitDelay, cmd.Stderr = 2*time.Second, &printed[i]
		in, noInput := cmd.StdinPipe()
		out, err := cmd.StdoutPipe()
		if err = errors.Join(noInput, err); err == nil {
			cmd.Cancel = in.Close
			err = cmd.Start()
		}
		if err != nil {
			return builtin.Outcome{}, fmt.Errorf("clients: %w", err)
		}
		running, clients[i] = append(running, cmd), builtin.Client{In: in, Out: out}
	}
	out, err := builtin.RunClients(ctx, l, clients)
	if err != nil && ctx.Err() == nil {
		end()                    // or it may still be printing
		for i := range printed { // the first that said anything
			if text := strings.TrimSpace(redact.Text(printed[i].String())); text != "" {
				return out, errors.Join(err, errors.New(text))
			}
		}
	}
	return out, err
}
