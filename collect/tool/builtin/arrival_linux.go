package builtin

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// arrival reads a TCP connection and knows when what it read had arrived, by the kernel's own stamp: on a busy client a
// goroutine gets to read milliseconds after the data came, and a client that stamps then reports its own slowness as the
// server's.
type arrival struct {
	*net.TCPConn
	raw  syscall.RawConn
	oob  [64]byte
	last time.Time
}

// newArrival asks the kernel for stamps; where it refuses, the time of the read is used.
func newArrival(c net.Conn) (*arrival, bool) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return nil, false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, false
	}
	var opt error
	if err := raw.Control(func(fd uintptr) { opt = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1) }); err != nil || opt != nil {
		return nil, false
	}
	return &arrival{TCPConn: tcp, raw: raw}, true
}

// Read implements io.Reader.
func (a *arrival) Read(p []byte) (int, error) {
	var n, oobn int
	var err error
	if waitErr := a.raw.Read(func(fd uintptr) bool {
		for {
			n, oobn, _, _, err = syscall.Recvmsg(int(fd), p, a.oob[:], 0)
			if err != syscall.EINTR {
				return err != syscall.EAGAIN
			}
		}
	}); waitErr != nil {
		return 0, waitErr // a deadline, or the connection was closed
	}
	now := time.Now()
	a.last = now
	if err != nil {
		return 0, os.NewSyscallError("recvmsg", err)
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	if sec, nsec, ok := stamp(a.oob[:oobn]); ok {
		// The stamp is of the wall clock. Only its distance from now is used, and only a plausible one, so that a clock
		// that steps in between cannot move a measurement by more than the delay it corrects.
		if lag := now.Sub(time.Unix(sec, nsec)); lag > 0 && lag < time.Second {
			a.last = now.Add(-lag)
		}
	}
	return n, nil
}

// at is when the last bytes read had arrived.
func (a *arrival) at() time.Time { return a.last }

// stamp finds the time stamp in control messages: a header of 16 bytes, then seconds and nanoseconds.
func stamp(oob []byte) (sec, nsec int64, ok bool) {
	const header = 16
	if len(oob) < header+16 || binary.NativeEndian.Uint32(oob[8:]) != syscall.SOL_SOCKET || binary.NativeEndian.Uint32(oob[12:]) != syscall.SCM_TIMESTAMPNS {
		return 0, 0, false
	}
	return int64(binary.NativeEndian.Uint64(oob[header:])), int64(binary.NativeEndian.Uint64(oob[header+8:])), true
}
