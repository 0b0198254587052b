package process

import (
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
	mount, own := "", ""
	mounts, _ := os.ReadFile("/proc/self/mountinfo") // where there is none, there are no groups
	for line := range strings.Lines(string(mounts)) {
		before, after, found := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		// Of a mount of a part of the hierarchy our place is not known.
		if found && strings.HasPrefix(after, "cgroup2 ") && len(fields) > 4 && fields[3] == "/" && mount == "" {
			mount = fields[4]
		}
	}
	groups, _ := os.ReadFile("/proc/self/cgroup") // likewise
	for line := range strings.Lines(string(groups)) {
		if rest, ok := strings.CutPrefix(line, "0::"); ok {
			own = strings.TrimSuffix(rest, "\n")
		}
	}
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
			data, _ := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
			for word := range strings.FieldsSeq(string(data)) {
				if pid, err := strconv.Atoi(word); err == nil && pid > 1 {
					_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
				}
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
}
