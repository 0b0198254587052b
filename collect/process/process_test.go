//go:build unix

package process_test

import (
	"context"
	"errors"
	"os"
	"os/signal"
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

// comes reports whether something happens within half a minute.
func comes(so func() bool) bool {
	for end := time.Now().Add(30 * time.Second); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

func pidIn(t *testing.T, file string) int {
	t.Helper()
	var data []byte
	if !comes(func() bool { data, _ = os.ReadFile(file); return strings.HasSuffix(string(data), "\n") }) {
		t.Fatal("the child did not print its number")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func gone(t *testing.T, pid int) {
	t.Helper()
	if !comes(func() bool { return !alive(pid) }) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("process %d is still there", pid)
	}
}

// says reports whether the last line of a log becomes another.
func says(log, line string) bool {
	return comes(func() bool { return strings.Join(process.LastLines(log, 1), "") == line })
}

func TestExitCodesAreNoErrors(t *testing.T) {
	log := filepath.Join(t.TempDir(), "deep", "log")
	r, err := process.Run(context.Background(),
		process.Spec{Argv: sh("echo out; echo err >&2; printf '10%%\\r100%%\\n'; echo $TOLD; exit 7"),
			Env: []string{"TOLD=yes"}, Log: log})
	if err != nil || r.Code != 7 {
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
	script := "trap '' INT TERM; (trap '' INT TERM; sh -c 'echo $PPID' > " + note + "; sleep 600) & wait; sleep 600"
	for limit := 300 * time.Millisecond; ; limit *= 4 { // on a slow machine the children begin later
		began := time.Now()
		r, err := process.Run(context.Background(),
			process.Spec{Argv: sh(script), Limit: limit, Grace: 200 * time.Millisecond})
		if !errors.Is(err, process.ErrLimit) || time.Since(began) > limit+time.Minute {
			t.Fatalf("%+v %v after %s", r, err, time.Since(began))
		}
		if data, _ := os.ReadFile(note); strings.HasSuffix(string(data), "\n") || limit > 20*time.Second {
			break
		}
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
	// As ttreport does, so that programs are not started with the signal ignored, as nohup and CI may start the tests.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	log := filepath.Join(t.TempDir(), "log")
	why := errors.New("the server died")
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		says(log, "ready")
		cancel(why)
	}()
	_, err := process.Run(ctx, process.Spec{
		Argv: sh("trap 'echo asked; exit 0' INT; echo ready; while :; do sleep 0.05; done"), Log: log, Grace: time.Hour})
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
	log := filepath.Join(t.TempDir(), "log")
	go func() {
		says(log, "ready")
		cancel()
		time.Sleep(300 * time.Millisecond)
		rush()
	}()
	began := time.Now()
	_, err := process.Run(ctx, process.Spec{Argv: sh("trap '' INT TERM; echo ready; sleep 600 & wait; sleep 600"),
		Log: log, Grace: time.Hour})
	if err == nil || time.Since(began) > 2*time.Minute {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}
