package process

import (
	"io"
	"os/exec"
	"strconv"
	"time"
)

// guardScript waits for a line, and ends without one what carries the mark: then we were killed. It asks first.
const guardScript = `read -r word; [ "$word" = done ] && exit 0
grace=$1 group=$2
end() {
  for p in /proc/[0-9]*; do
    tr '\0' '\n' <"$p/environ" 2>/dev/null | grep -qx -- "$0" && kill -"$1" "${p#/proc/}" 2>/dev/null
  done
  [ -z "$group" ] || while read -r p; do kill -"$1" "$p"; done <"$group/cgroup.procs"
} 2>/dev/null
end TERM; sleep "$grace"; end KILL; end KILL
[ -n "$group" ] || exit 0
for try in 1 2 3 4 5; do
  rmdir "$group" && exit 0
  echo 1 >"$group/cgroup.kill"
  sleep 1
done 2>/dev/null`

// guard is a process that outlives us when we are killed without a chance to end what we started. The kernel's
// parent-death signal reaches the first child alone; its children, also those in sessions of their own, are found by
// the mark, and in the control group where there is one.
type guard struct {
	cmd  *exec.Cmd
	line io.WriteCloser // its end without a line is our end
}

// newGuard returns nil where there is no shell: then the parent-death signal is all there is.
func newGuard(mark string, group *cgroup, grace time.Duration) *guard {
	seconds := max(1, int((grace / 3).Seconds()))
	cmd := exec.Command("/bin/sh", "-c", guardScript, markName+"="+mark, strconv.Itoa(seconds), group.path())
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
