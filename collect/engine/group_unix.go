//go:build unix

package engine

import (
	"os/exec"
	"syscall"
)

// ownGroup starts a command in a process group of its own, so that Ctrl-C at the terminal does not reach it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
