package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Spec describes a program to run.
type Spec struct {
	Argv  []string
	Env   []string      // "NAME=value", added to the environment that the parent has; later ones win
	Log   string        // file for its output, both streams, appended, without secrets; "" for none
	Limit time.Duration // how long it may take; 0: until the context ends
	Grace time.Duration // between asking and ending; 0: 30 s
	// Outlives lets it go on when we have ended; its log is what it writes itself.
	Outlives bool
}

// Result is the outcome of a program.
type Result struct {
	Code  int           // exit code; -1 when a signal ended it
	Wall  time.Duration // from start to end
	CPU   time.Duration // of it and its children that it waited for
	Ended bool          // ended by us: the limit or the context
}

// ErrLimit is returned for a program that took longer than its limit and was ended.
var ErrLimit = errors.New("it took longer than its limit and was ended")

// Child is a running program.
type Child struct {
	spec  Spec
	cmd   *exec.Cmd
	log   io.Closer
	mark  string
	guard *guard
	group *cgroup
	begun time.Time
	done  chan struct{} // closed when it has ended
	err   error         // of waiting
}

// Start starts a program. If it returns an error, nothing runs.
func Start(spec Spec) (*Child, error) {
	if len(spec.Argv) == 0 {
		return nil, errors.New("no command")
	}
	if spec.Grace == 0 {
		spec.Grace = 30 * time.Second
	}
	c := &Child{spec: spec, begun: time.Now(), done: make(chan struct{}), mark: newMark()}
	if !spec.Outlives {
		c.group = newCgroup(c.mark)
	}
	c.cmd = c.command()
	if spec.Log != "" {
		f, err := openLog(spec.Log)
		if err != nil {
			return nil, err
		}
		if spec.Outlives {
			c.log, c.cmd.Stdout, c.cmd.Stderr = f, f, f
		} else {
			l := newLog(f, mostLog, keptHead)
			c.log, c.cmd.Stdout, c.cmd.Stderr = l, l, l
		}
	}
	if !spec.Outlives {
		c.guard = newGuard(c.mark, c.group, spec.Grace)
	}
	started := make(chan error)
	go c.run(started)
	if err := <-started; err != nil {
		c.guard.dismiss()
		c.group.end()
		c.closeLog()
		return nil, fmt.Errorf("starting %s: %w", filepath.Base(spec.Argv[0]), err)
	}
	return c, nil
}

// command is the program with the mark in its environment, in our control group where there is one.
func (c *Child) command() *exec.Cmd {
	cmd := exec.Command(c.spec.Argv[0], c.spec.Argv[1:]...)
	cmd.Env = append(append(os.Environ(), c.spec.Env...), markName+"="+c.mark)
	cmd.SysProcAttr = attributes(c.spec.Outlives)
	c.group.into(cmd.SysProcAttr)
	// Should a grandchild keep the output open, waiting ends all the same: the group is ended then.
	cmd.WaitDelay = time.Second
	return cmd
}

// run starts the program and waits for it on one thread: the kernel takes the end of the thread that started it for
// our end.
func (c *Child) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.cmd.Start()
	if err != nil && c.group != nil { // perhaps the kernel starts nothing in a group
		c.group.end()
		c.group = nil
		again := c.command()
		again.Stdout, again.Stderr = c.cmd.Stdout, c.cmd.Stderr
		c.cmd = again
		err = c.cmd.Start()
	}
	started <- err
	if err != nil {
		return
	}
	c.err = c.cmd.Wait()
	c.signal(syscall.SIGKILL) // what it left behind in its group
	EndMarked(c.mark)         // and outside of it
	c.group.end()             // and without the mark
	c.guard.dismiss()
	c.closeLog()
	close(c.done)
}

func (c *Child) closeLog() {
	if c.log != nil {
		_ = c.log.Close() // the program wrote to it, not we
	}
}

// Done is closed when the program has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Mark is in the environment of the program and of all that it starts; see [Marked].
func (c *Child) Mark() string { return c.mark }

// Pid is the process id, which is that of its group too.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

func (c *Child) signal(s syscall.Signal) { SignalGroup(c.cmd.Process.Pid, s) }

type hurryKey struct{}

// WithHurry returns a context that carries a second one: when that is done, programs are killed without a grace.
func WithHurry(ctx, hurry context.Context) context.Context {
	return context.WithValue(ctx, hurryKey{}, hurry)
}

// Hurry returns the context that WithHurry added; without one it is never done.
func Hurry(ctx context.Context) context.Context {
	if h, ok := ctx.Value(hurryKey{}).(context.Context); ok {
		return h
	}
	return context.Background()
}

// Stop asks the group to end, kills it after the grace or when hurry is done, and waits.
func (c *Child) Stop(hurry context.Context) {
	select {
	case <-c.done:
		return
	default:
	}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		c.signal(s)
		select {
		case <-c.done:
			return
		case <-hurry.Done():
		case <-time.After(c.spec.Grace / 2):
			continue
		}
		break
	}
	c.signal(syscall.SIGKILL)
	<-c.done
}

// Result returns the outcome of a program that has ended.
func (c *Child) Result() Result {
	<-c.done
	r := Result{Code: -1, Wall: time.Since(c.begun)}
	if s := c.cmd.ProcessState; s != nil {
		r.Code, r.CPU = s.ExitCode(), s.UserTime()+s.SystemTime()
	}
	return r
}

// Run runs a program to its end. An exit code other than zero is not an error: tools exit 0 after failing and 1 after
// measuring, so their result file decides. An error means that the program could not start, took too long
// ([ErrLimit]), or was interrupted (the context's error).
func Run(ctx context.Context, spec Spec) (Result, error) {
	c, err := Start(spec)
	if err != nil {
		return Result{Code: -1}, err
	}
	var limit <-chan time.Time
	if spec.Limit > 0 {
		t := time.NewTimer(spec.Limit)
		defer t.Stop()
		limit = t.C
	}
	why := error(nil)
	select {
	case <-c.done:
	case <-ctx.Done():
		why = context.Cause(ctx)
	case <-limit:
		why = fmt.Errorf("%w (%s)", ErrLimit, spec.Limit)
	}
	if why != nil {
		c.Stop(Hurry(ctx))
	}
	r := c.Result()
	r.Ended = why != nil
	return r, why
}

// LastLines returns at most a number of last lines of a log, without empty lines and overwritten progress bars.
func LastLines(path string, most int) []string {
	const tail = 16 << 10
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > tail {
		if _, err := f.Seek(-tail, io.SeekEnd); err != nil {
			return nil
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, tail))
	if err != nil {
		return nil
	}
	var out []string
	for line := range bytes.Lines(data) {
		text := string(bytes.TrimRight(line, "\r\n"))
		if at := strings.LastIndexByte(text, '\r'); at >= 0 {
			text = text[at+1:]
		}
		if text = strings.TrimSpace(text); text != "" {
			out = append(out, text)
		}
	}
	return out[max(0, len(out)-most):]
}
