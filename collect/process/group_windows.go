package process

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/windows"
)

// SignalGroup asks a process and its group to end, and ends them with all that they started for SIGKILL. What cannot
// be found has ended.
func SignalGroup(pid int, s syscall.Signal) {
	if s != syscall.SIGKILL {
		_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(pid))
		return
	}
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run()
}

// kill ends one process at once; it may have ended by itself.
func kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

// detached are the attributes of a program that Ctrl-C does not reach.
func detached() *syscall.SysProcAttr { return OwnGroup() }

// OwnGroup are the attributes of a program in a group of its own, which Ctrl-Break can be sent to.
func OwnGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}
