package server

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/ingest/schema"
)

// A collection that is killed with SIGKILL cannot end the server that it started, and the device would stay in use.
// So a server that is started at an address is noted on this machine until it is ended, and the next collection that
// finds the address taken by such a server ends it first.

// leftoverFile returns the file that notes the server started at an address.
func leftoverFile(address string) string {
	return filepath.Join(os.TempDir(), "ttreport-locks", schema.Slug("server "+address)+".server")
}

// note records how to end what was started at an address: "process PID START", or "container ENGINE ID".
func note(address, kind, a, b string) {
	// A failure is ignored: the note only matters after SIGKILL.
	_ = os.MkdirAll(filepath.Dir(leftoverFile(address)), 0o777)
	us := os.Getpid()
	text := strings.Join([]string{kind, a, b, strconv.Itoa(us), startTicks(us)}, "\t")
	_ = os.WriteFile(leftoverFile(address), []byte(text), 0o644)
}

func forget(address string) { _ = os.Remove(leftoverFile(address)) }

// endLeftover ends the server that an earlier collection started at an address and could not end. It returns what it
// ended, "" for nothing. A process is recognised by its id and start time, because ids are reused.
func endLeftover(ctx context.Context, address string) string {
	data, err := os.ReadFile(leftoverFile(address))
	if err != nil {
		return ""
	}
	f := strings.Split(string(data), "\t")
	if len(f) != 5 {
		return ""
	}
	if owner, err := strconv.Atoi(f[3]); err != nil || startTicks(owner) == f[4] {
		return "" // the collection that started it is still running
	}
	defer forget(address)
	switch f[0] {
	case "process":
		pid, err := strconv.Atoi(f[1])
		if err != nil || pid < 2 || startTicks(pid) != f[2] || f[2] == "" {
			return ""
		}
		for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
			_ = syscall.Kill(-pid, s)
			for range 100 {
				if startTicks(pid) != f[2] {
					return "process " + f[1]
				}
				select {
				case <-ctx.Done():
					return ""
				case <-time.After(100 * time.Millisecond):
				}
			}
		}
	case "container":
		if exec.CommandContext(ctx, f[1], "rm", "-f", f[2]).Run() == nil {
			return "container " + f[2]
		}
	}
	return ""
}

// startTicks returns when a process started, in ticks after boot, as the kernel states it (proc(5), field 22 of
// stat); "" if there is no such process.
func startTicks(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, ok := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return fields[19]
}

// freePort makes sure that nothing listens at an address: a leftover server of ours is ended, any other server is an
// error.
func freePort(ctx context.Context, address string, waiting func(error)) error {
	err := checkPortFree(ctx, address)
	if err == nil {
		return nil
	}
	ended := endLeftover(ctx, address)
	if ended == "" {
		return err
	}
	if waiting != nil {
		waiting(fmt.Errorf("an earlier collection was killed and left %s there; it was ended", ended))
	}
	for range 50 {
		if err = checkPortFree(ctx, address); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// noteProcess records a child that serves at an address.
func noteProcess(address string, c *process.Child) {
	note(address, "process", strconv.Itoa(c.Pid()), startTicks(c.Pid()))
}
