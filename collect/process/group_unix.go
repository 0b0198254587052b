//go:build unix

package process

import "syscall"

// SignalGroup sends a signal to a process and its group. No such group: all have ended.
func SignalGroup(pid int, s syscall.Signal) { _ = syscall.Kill(-pid, s) }

// kill ends one process at once; it may have ended by itself.
func kill(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }

// detached are the attributes of a program that Ctrl-C and a closed terminal do not reach.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// OwnGroup are the attributes of a program that Ctrl-C at the terminal does not reach, and that goes on without us.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
