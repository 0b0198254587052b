//go:build !unix

package arrival

import (
	"errors"
	"net"
	"os"
	"time"
)

// closed reports whether an idle connection has anything to read: its end, an error, or bytes that nobody asked for.
func closed(c net.Conn) bool {
	if err := c.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		return true
	}
	var one [1]byte
	_, err := c.Read(one[:])
	return !errors.Is(err, os.ErrDeadlineExceeded)
}
