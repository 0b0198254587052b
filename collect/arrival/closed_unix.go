//go:build unix

package arrival

import (
	"errors"
	"net"
	"syscall"
)

// closed reports whether an idle connection has anything to read: its end, an error, or bytes that nobody asked for.
func closed(c net.Conn) bool {
	if upper, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = upper.NetConn()
	}
	below, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := below.SyscallConn()
	if err != nil {
		return true
	}
	waiting := false
	var one [1]byte
	err = raw.Control(func(fd uintptr) {
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		waiting = errors.Is(err, syscall.EAGAIN)
	})
	return err != nil || !waiting
}
