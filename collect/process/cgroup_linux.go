package process

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cgroup is a control group (version 2) of what we start: nothing that runs in it can leave it, whatever session it
// makes and whatever it does to its environment.
type cgroup struct {
	dir string
	f   *os.File
}

// newCgroup makes a group below our own. It returns nil where there are none of version 2, or ours was not delegated to
// us: the mark and the guard are all there is then.
func newCgroup(mark string) *cgroup {
	mount, own := cgroupMount(), ownCgroup()
	if mount == "" || own == "" {
		return nil
	}
	dir := filepath.Join(mount, own, "ttreport-"+mark)
	if os.Mkdir(dir, 0o755) != nil {
		return nil
	}
	f, err := os.Open(dir)
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "cgroup.procs"))
	}
	if err != nil {
		_ = os.Remove(dir) // it is empty
		return nil
	}
	return &cgroup{dir, f}
}

// cgroupMount is where control groups of version 2 are mounted, "" for nowhere.
func cgroupMount() string {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		before, after, found := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(before)
		// Of a mount of a part of the hierarchy our place is not known.
		if found && strings.HasPrefix(after, "cgroup2 ") && len(fields) > 4 && fields[3] == "/" {
			return fields[4]
		}
	}
	return ""
}

// ownCgroup is our group below the mount.
func ownCgroup() string {
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "0::"); ok {
			return strings.TrimSuffix(rest, "\n")
		}
	}
	return ""
}

// path is the group's folder, "" without a group.
func (g *cgroup) path() string {
	if g == nil {
		return ""
	}
	return g.dir
}

// into starts a program within the group.
func (g *cgroup) into(a *syscall.SysProcAttr) {
	if g != nil {
		a.UseCgroupFD, a.CgroupFD = true, int(g.f.Fd())
	}
}

// end kills what is in the group and removes it.
func (g *cgroup) end() {
	if g == nil {
		return
	}
	_ = g.f.Close() // it was read only
	for range 100 {
		if os.Remove(g.dir) == nil {
			return
		}
		if os.WriteFile(filepath.Join(g.dir, "cgroup.kill"), []byte("1"), 0) != nil { // before Linux 5.14
			g.killEach()
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (g *cgroup) killEach() {
	data, err := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
	if err != nil {
		return
	}
	for word := range strings.FieldsSeq(string(data)) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
		}
	}
}
