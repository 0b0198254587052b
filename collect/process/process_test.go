//go:build unix

package process_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/process"
)

func sh(script string) []string { return []string{"/bin/sh", "-c", script} }

// alive reports whether a process exists and is not a zombie.
func alive(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(data), ") Z ")
}

func pidIn(t *testing.T, file string) int {
	t.Helper()
	for range 200 {
		if data, err := os.ReadFile(file); err == nil && strings.HasSuffix(string(data), "\n") {
			pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the child did not print its number")
	return 0
}

func gone(t *testing.T, pid int) {
	t.Helper()
	for range 200 {
		if !alive(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Errorf("process %d is still there", pid)
}

func TestExitCodesAreNoErrors(t *testing.T) {
	log := filepath.Join(t.TempDir(), "deep", "log")
	r, err := process.Run(context.Background(),
		process.Spec{Argv: sh("echo out; echo err >&2; printf '10%%\\r100%%\\n'; echo $TOLD; exit 7"),
			Env: []string{"TOLD=yes"}, Log: log})
	if err != nil || r.Code != 7 || r.Ended {
		t.Errorf("%+v %v", r, err)
	}
	if got := strings.Join(process.LastLines(log, 3), "|"); got != "err|100%|yes" {
		t.Error(got)
	}
	if _, err := process.Run(context.Background(), process.Spec{Argv: []string{"/no/such/program"}}); err == nil {
		t.Error("a program that is not there gives no error")
	}
}

// A tool that hangs is ended with its children, also those that ignore signals.
func TestLimitEndsTheGroup(t *testing.T) {
	dir := t.TempDir()
	note := filepath.Join(dir, "pid")
	began := time.Now()
	r, err := process.Run(context.Background(),
		process.Spec{
			Argv: sh("trap '' INT TERM; (trap '' INT TERM; echo $$ > /dev/null; sh -c 'echo $PPID' > " + note + "; sleep 60) " +
				"& wait; sleep 60"),
			Limit: 300 * time.Millisecond, Grace: 200 * time.Millisecond})
	if !errors.Is(err, process.ErrLimit) || !r.Ended || time.Since(began) > 10*time.Second {
		t.Errorf("%+v %v after %s", r, err, time.Since(began))
	}
	gone(t, pidIn(t, note))
}

// A child that a program leaves behind is ended.
func TestLeftChildrenEnd(t *testing.T) {
	note := filepath.Join(t.TempDir(), "pid")
	r, err := process.Run(context.Background(), process.Spec{Argv: sh("sleep 60 & echo $! > " + note)})
	if err != nil || r.Code != 0 {
		t.Fatal(r, err)
	}
	gone(t, pidIn(t, note))
}

func TestInterruptionAsksFirst(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	why := errors.New("the server died")
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(200*time.Millisecond, func() { cancel(why) })
	_, err := process.Run(ctx, process.Spec{Argv: sh("trap 'echo asked; exit 0' INT; while :; do sleep 0.05; done"),
		Log: log})
	if !errors.Is(err, why) || strings.Join(process.LastLines(log, 1), "") != "asked" {
		t.Errorf("%v %q", err, process.LastLines(log, 5))
	}
}

// A second Ctrl-C does not wait for the grace.
func TestHurry(t *testing.T) {
	c, err := process.Start(process.Spec{Argv: sh("trap '' INT TERM; while :; do sleep 0.05; done"), Grace: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	hurry, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	c.Stop(hurry)
	gone(t, c.Pid())
}

// A second interrupt ends waiting: the hurry is passed on with the context.
func TestHurryInContext(t *testing.T) {
	hurry, rush := context.WithCancel(context.Background())
	ctx, cancel := context.WithCancel(process.WithHurry(context.Background(), hurry))
	go func() {
		time.Sleep(300 * time.Millisecond)
		cancel()
		time.Sleep(300 * time.Millisecond)
		rush()
	}()
	began := time.Now()
	_, err := process.Run(ctx, process.Spec{Argv: []string{"sh", "-c", "trap '' INT TERM; sleep 60 & wait; sleep 60"},
		Grace: time.Minute})
	if err == nil || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}
