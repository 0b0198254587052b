package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"al.essio.dev/pkg/shellescape"
)

// Detached is a server that was started and left running.
type Detached struct {
	Name string // of the container, or the process
	URL  string
	Log  string // command that follows its log
	Stop string // command that ends it
}

// Detach starts the program and leaves it running once it is ready; its log goes to a file below dir.
func (c *Command) Detach(ctx context.Context, dir string) (Detached, error) {
	c.detached = true
	if err := startDetached(ctx, c, dir); err != nil {
		return Detached{}, err
	}
	pid := c.child.Pid()
	c.child = nil // now Stop has nothing to end
	log := "tail -f " + shellescape.QuoteCommand([]string{c.log})
	return Detached{Name: fmt.Sprintf("process %d", pid), URL: c.URL, Log: log,
		Stop: fmt.Sprintf("kill -INT -%d", pid)}, nil
}

// Detach starts the container and leaves it running once it is ready.
func (c *Container) Detach(ctx context.Context, dir string) (Detached, error) {
	if err := startDetached(ctx, c, dir); err != nil {
		return Detached{}, err
	}
	id := c.id[:min(12, len(c.id))]
	c.logs.Stop(ctx)
	c.id, c.logs = "", nil
	engine := shellescape.QuoteCommand([]string{c.Engine})
	return Detached{Name: "container " + id, URL: c.URL, Log: engine + " logs -f " + id,
		Stop: engine + " rm -f " + id}, nil
}

// startDetached starts a server whose log goes to a new folder below dir.
func startDetached(ctx context.Context, srv Server, dir string) error {
	dir, err := filepath.Abs(filepath.Join(dir, time.Now().UTC().Format("20060102T150405Z")))
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	if _, err = srv.Start(ctx, dir); err != nil {
		srv.Stop()
	}
	return err
}
