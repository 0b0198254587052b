package arrival

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// kernel turns time stamps on for a TCP connection; nil where there are none.
func kernel(c net.Conn) reader {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	var opt error
	err = raw.Control(func(fd uintptr) {
		opt = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
	})
	if err != nil || opt != nil {
		return nil
	}
	var oob [64]byte
	return func(p []byte) (int, time.Duration, bool, error) {
		var n, oobn int
		var err error
		if waitErr := raw.Read(func(fd uintptr) bool {
			for {
				n, oobn, _, _, err = syscall.Recvmsg(int(fd), p, oob[:], 0)
				if err != syscall.EINTR {
					return err != syscall.EAGAIN
				}
			}
		}); waitErr != nil {
			return 0, 0, false, waitErr // a deadline, or the connection was closed
		}
		if err != nil {
			return 0, 0, false, os.NewSyscallError("recvmsg", err)
		}
		if n == 0 && len(p) > 0 {
			return 0, 0, false, io.EOF
		}
		lag, known := age(oob[:oobn], time.Now())
		return n, lag, known, nil
	}
}

// age returns how long before now the kernel received the bytes. The time stamp is of the wall clock: only its
// distance from now is used, and only if it is plausible, so that a clock that steps in between cannot move a
// measurement by more than a second.
func age(oob []byte, now time.Time) (lag time.Duration, known bool) {
	const header = 16 // of a control message: its length, level and type; then seconds and nanoseconds
	if len(oob) < header+16 || binary.NativeEndian.Uint32(oob[8:]) != syscall.SOL_SOCKET ||
		binary.NativeEndian.Uint32(oob[12:]) != syscall.SCM_TIMESTAMPNS {
		return 0, false
	}
	at := time.Unix(int64(binary.NativeEndian.Uint64(oob[header:])), int64(binary.NativeEndian.Uint64(oob[header+8:])))
	if lag := now.Sub(at); lag >= 0 && lag < time.Second {
		return lag, true
	}
	return 0, false
}
