package process

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ttreport/ttreport/ingest/redact"
)

// Spec describes a program to run.
type Spec struct {
	Argv  []string
	Env   []string      // "NAME=value", added to the environment that the parent has; later ones win
	Log   string        // file for its output, both streams, appended, without secrets; "" for none
	Limit time.Duration // how long it may take; 0: until the context ends
	Grace time.Duration // between asking and ending; 0: 30 s
	// Killed is a command that is run when we were killed: it ends what the program's end does not, as a container.
	Killed []string
	// Outlives lets it go on when we have ended; its log is what it writes itself.
	Outlives bool
}

// Result is the outcome of a program.
type Result struct {
	Code int           // exit code; -1 when a signal ended it
	CPU  time.Duration // of it and its children that it waited for
}

// ErrLimit is returned for a program that took longer than its limit and was ended.
var ErrLimit = errors.New("it exceeded its time limit and was stopped")

// Child is a running program.
type Child struct {
	spec  Spec
	cmd   *exec.Cmd
	log   io.Closer
	mark  string
	guard *guard
	done  chan struct{} // closed when it has ended
}

// Start starts a program. If it returns an error, nothing runs.
func Start(spec Spec) (*Child, error) {
	if len(spec.Argv) == 0 {
		return nil, errors.New("no command")
	}
	if spec.Grace == 0 {
		spec.Grace = 30 * time.Second
	}
	mark := make([]byte, 16)
	_, _ = rand.Read(mark) // never fails
	c := &Child{spec: spec, done: make(chan struct{}), mark: fmt.Sprintf("%x", mark)}
	c.cmd = exec.Command(spec.Argv[0], spec.Argv[1:]...)
	c.cmd.Env = append(append(os.Environ(), spec.Env...), markName+"="+c.mark)
	c.cmd.SysProcAttr = OwnGroup()
	// Should a grandchild keep the output open, waiting ends all the same: the group is ended then.
	c.cmd.WaitDelay = time.Second
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
		c.guard = newGuard(c.mark, spec.Grace, spec.Killed)
	}
	if err := c.cmd.Start(); err != nil {
		c.guard.dismiss()
		c.closeLog()
		return nil, fmt.Errorf("starting %s: %w", filepath.Base(spec.Argv[0]), err)
	}
	go func() {
		_ = c.cmd.Wait()          // the state of the process says more
		c.signal(syscall.SIGKILL) // what it left behind in its group
		EndMarked(c.mark)         // and outside of it
		c.guard.dismiss()
		c.closeLog()
		close(c.done)
	}()
	return c, nil
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

// Sleep waits, or returns the error of the context.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

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
	<-c.done
	r := Result{Code: -1}
	if s := c.cmd.ProcessState; s != nil {
		r.Code, r.CPU = s.ExitCode(), s.UserTime()+s.SystemTime()
	}
	return r, why
}

// Tail returns at most so many bytes of the end of a log; nil where it cannot be read.
func Tail(path string, most int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	_, _ = f.Seek(-most, io.SeekEnd) // a shorter log is read from its start
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil
	}
	return data
}

// LastLines returns at most a number of last lines of a log, without empty lines and overwritten progress bars.
func LastLines(path string, most int) []string {
	var out []string
	for line := range bytes.Lines(Tail(path, 16<<10)) {
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

// markName is a variable in the environment of what we start. Its children inherit it, also those that leave the
// process group and the session, so they can be found and ended.
const markName = "TTREPORT_CHILD_OF"

// Marked are the processes of this user that carry a mark. Where there is no /proc there are none.
func Marked(mark string) []int {
	if len(mark) != 32 {
		return nil
	}
	want := []byte("\x00" + markName + "=" + mark + "\x00")
	all, _ := os.ReadDir("/proc")
	var out []int
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		data, _ := os.ReadFile("/proc/" + e.Name() + "/environ") // of another user, or gone
		if bytes.Contains(slices.Concat([]byte{0}, data, []byte{0}), want) {
			out = append(out, pid)
		}
	}
	return out
}

// EndMarked ends what carries a mark at once, and what was started meanwhile.
func EndMarked(mark string) {
	for range 10 {
		list := Marked(mark)
		if len(list) == 0 {
			return
		}
		for _, pid := range list {
			kill(pid)
		}
	}
}

// guardScript waits for a line, and ends without one what carries the mark: then we were killed. It asks first.
const guardScript = `read -r word; [ "$word" = done ] && exit 0
grace=$1; shift
end() {
  for p in /proc/[0-9]*; do
    tr '\0' '\n' <"$p/environ" 2>/dev/null | grep -qx -- "$0" && kill -"$1" "${p#/proc/}" 2>/dev/null
  done
}
end TERM; [ $# = 0 ] || "$@" >/dev/null 2>&1; sleep "$grace"; end KILL; end KILL`

// guard is a process that outlives us when we are killed without a chance to end what we started: the program and its
// children, also those in sessions of their own, are found by the mark.
type guard struct {
	cmd  *exec.Cmd
	line io.WriteCloser // its end without a line is our end
}

// newGuard returns nil where there is no shell.
func newGuard(mark string, grace time.Duration, killed []string) *guard {
	seconds := max(1, int((grace / 3).Seconds()))
	cmd := exec.Command("/bin/sh", append([]string{"-c", guardScript, markName + "=" + mark, strconv.Itoa(seconds)},
		killed...)...)
	cmd.SysProcAttr = detached() // Ctrl-C and a closed terminal are not for it
	line, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return nil
	}
	return &guard{cmd, line}
}

// dismiss ends the guard when all has ended.
func (g *guard) dismiss() {
	if g == nil {
		return
	}
	_, _ = io.WriteString(g.line, "done\n") // without a reader it has ended
	_ = g.line.Close()                      // likewise
	_ = g.cmd.Wait()                        // its exit code says nothing
}

// mostLog is how long a log may get, in bytes, and keptHead how much of its beginning stays when it is longer: what a
// program says of its configuration comes first, and why it failed last.
const (
	mostLog  = 64 << 20
	keptHead = 8 << 20
)

// logFile takes what a program prints: without secrets, and with a bound on its size. A program that prints without end
// neither fills the disk nor our memory.
type logFile struct {
	mu    sync.Mutex // both streams of a program may be written to
	file  *os.File
	clean *redact.Writer
	size  int64
	most  int64
	head  int64
}

func openLog(name string) (*os.File, error) {
	err := os.MkdirAll(filepath.Dir(name), 0o777)
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return f, nil
}

func newLog(f *os.File, most, head int64) *logFile {
	l := &logFile{file: f, most: most, head: head}
	if info, err := f.Stat(); err == nil {
		l.size = info.Size()
	}
	l.clean = redact.NewWriter(writer(l.append))
	return l
}

// writer is a function that is an io.Writer.
type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// Write implements io.Writer. A disk that is full must not end the program that is measured: its output is lost then.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.clean.Write(p)
	return len(p), nil
}

// Close writes what is left and closes the file.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.clean.Close()
	return l.file.Close()
}

// append writes to the file and takes its middle out when it gets too long.
func (l *logFile) append(p []byte) (int, error) {
	if l.size+int64(len(p)) > l.most {
		if err := l.file.Truncate(l.head); err != nil {
			return 0, err
		}
		note := fmt.Appendf(nil, "\n… about %d MB of output were left out here …\n", (l.size-l.head)>>20)
		n, err := l.file.Write(note)
		if l.size = l.head + int64(n); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, err
}
