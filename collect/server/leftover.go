package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/userdir"
)

// A collection that is killed without warning cannot end the server that it started, and with it the device would stay
// taken. So what we start at an address is noted on this machine until we end it, and the next collection that finds
// the address taken by such a server ends it first.

// leftover is the note: which process or container it is, and which collection started it. It holds nothing that could
// be executed, and lies in a folder of the user alone.
type leftover struct {
	Boot       string // of the kernel on which the numbers below hold
	Pid        int    // of the process, which leads its group; 0 for a container
	Start      string // of the process, in ticks after boot
	Mark       string // in the environment of the process and its children
	Engine     string // docker or podman
	Container  string // id
	Owner      int    // process that collects
	OwnerStart string
}

// leftoverFile is where the server that we started at an address is noted.
func leftoverFile(address string) (string, error) {
	dir, err := userdir.Private()
	if err != nil {
		return "", err
	}
	host := "unknown" // the part of an address that is no secret
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		host = u.Host
	}
	return filepath.Join(dir, schema.Slug("server "+host)+".json"), nil
}

// note writes down what was started at an address. Without the note only a kill at the worst moment costs more.
func note(address string, l leftover) {
	name, err := leftoverFile(address)
	if err != nil {
		return
	}
	l.Boot, l.Owner = bootID(), os.Getpid()
	l.OwnerStart = startTicks(l.Owner)
	if data, err := json.Marshal(l); err == nil {
		_ = durable.WriteFile(name, data)
	}
}

func forget(address string) {
	if name, err := leftoverFile(address); err == nil {
		_ = os.Remove(name)
	}
}

// readNote is what was noted at an address; ok is false where there is nothing that can be believed.
func readNote(address string) (l leftover, ok bool) {
	name, err := leftoverFile(address)
	if err != nil {
		return l, false
	}
	data, err := rootfs.ReadFile(name, 4096)
	return l, err == nil && json.Unmarshal(data, &l) == nil && l.Boot == bootID()
}

// endLeftover ends the server that an earlier collection started at an address and could not end; it reports what it
// ended, "" for nothing. A process is the same one when it began at the same time: numbers are given again. engine is
// the container engine of this request, "" for the installed one.
func endLeftover(ctx context.Context, address, engine string) string {
	l, ok := readNote(address)
	if !ok || l.OwnerStart != "" && startTicks(l.Owner) == l.OwnerStart { // the collection that started it still measures
		return ""
	}
	defer forget(address)
	if l.Container != "" {
		return l.endContainer(ctx, engine)
	}
	ended := l.endLeader(ctx)
	if left := process.Marked(l.Mark); len(left) > 0 { // children whose leader has gone, or that left its group
		process.EndMarked(l.Mark)
		ended = cmp.Or(ended, fmt.Sprintf("process %d", left[0]))
	}
	return ended
}

// endLeader ends the process that was started, and its group.
func (l leftover) endLeader(ctx context.Context) string {
	if l.Pid < 2 || l.Start == "" || startTicks(l.Pid) != l.Start {
		return ""
	}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		process.SignalGroup(l.Pid, s)
		for range 100 {
			if startTicks(l.Pid) != l.Start {
				return fmt.Sprintf("process %d", l.Pid)
			}
			if process.Sleep(ctx, 100*time.Millisecond) != nil {
				return ""
			}
		}
	}
	return ""
}

// containerID is how engines name containers, in full.
var containerID = regexp.MustCompile(`^[0-9a-f]{12,64}$`)

func (l leftover) endContainer(ctx context.Context, engine string) string {
	if filepath.Base(engine) != l.Engine { // another engine does not know it; a name is all that is taken from the note
		engine = l.Engine
		if engine != "docker" && engine != "podman" {
			return ""
		}
	}
	if !containerID.MatchString(l.Container) || exec.CommandContext(ctx, engine, "rm", "-f", l.Container).Run() != nil {
		return ""
	}
	return "container " + l.Container
}

// bootID is the kernel's name for the time since it started; "" where it has none.
func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// startTicks is when a process started, in ticks after boot, as the kernel states it (proc(5), field 22 of stat); ""
// when it is not there.
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

// freePort makes sure that nothing listens at an address: a server that we left behind is ended, another one is an
// error.
func freePort(ctx context.Context, address, engine string, waiting func(time.Duration, error)) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("server address: %w", err)
	}
	free := func() bool {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", u.Host)
		if err == nil {
			_ = conn.Close() // only the connection was needed
		}
		return err != nil
	}
	began := time.Now()
	if free() {
		return nil
	}
	tries := 1 // a server that ends with its collection may have done so just now
	if ended := endLeftover(ctx, address, engine); ended != "" {
		if tries = 50; waiting != nil {
			waiting(time.Since(began), fmt.Errorf("an earlier collection was killed and left %s there; it was ended", ended))
		}
	}
	for ; tries > 0; tries-- {
		if free() {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("%w: something listens on %s already; end it, choose another --port, or measure it with --server %s",
		ErrPortTaken, u.Host, address)
}

// Detached is a server that was started and left running.
type Detached struct {
	Name string // of the container, or the process
	URL  string
	Log  string // command that follows its log
	Stop string // command that ends it
}

// Detach starts the program and leaves it running once it is ready; its log goes to a file below dir.
func (c *Command) Detach(ctx context.Context, dir string) (Detached, error) {
	c.detached = true
	if err := startDetached(ctx, c, dir); err != nil {
		return Detached{}, err
	}
	pid := c.child.Pid()
	c.child = nil // now Stop has nothing to end
	forget(c.URL)
	log := "tail -f " + shellescape.QuoteCommand([]string{c.log})
	return Detached{Name: fmt.Sprintf("process %d", pid), URL: c.URL, Log: log,
		Stop: fmt.Sprintf("kill -INT -%d", pid)}, nil
}

// Detach starts the container and leaves it running once it is ready.
func (c *Container) Detach(ctx context.Context, dir string) (Detached, error) {
	if err := startDetached(ctx, c, dir); err != nil {
		return Detached{}, err
	}
	id := c.id[:min(12, len(c.id))]
	c.logs.Stop(ctx)
	forget(c.URL)
	c.id, c.logs = "", nil
	engine := shellescape.QuoteCommand([]string{c.Engine})
	return Detached{Name: "container " + id, URL: c.URL, Log: engine + " logs -f " + id,
		Stop: engine + " rm -f " + id}, nil
}

// startDetached starts a server whose log goes to a new folder below dir.
func startDetached(ctx context.Context, srv Server, dir string) error {
	dir, err := filepath.Abs(filepath.Join(dir, time.Now().UTC().Format("20060102T150405Z")))
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	if _, err = srv.Start(ctx, dir); err != nil {
		srv.Stop()
	}
	return err
}
