// Package preview serves a built site on the loopback interface, for looking at it in a browser.
//
// In flows a folder; out flows HTTP on 127.0.0.1. It never listens anywhere else and never writes.
package preview

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Serve serves dir until ctx ends. started is called with the address once it answers. port 0 takes a free one.
func Serve(ctx context.Context, dir string, port int, started func(url string)) error {
	ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("preview: %w", err)
	}
	srv := &http.Server{Handler: http.FileServer(http.Dir(dir)), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() }) // Serve then returns
	defer stop()
	started("http://" + ln.Addr().String() + "/")
	if err := srv.Serve(ln); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("preview: %w", err)
	}
	return nil
}
