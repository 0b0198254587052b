//go:build unix && !linux

package process

import "syscall"

// attributes give a program a group of its own.
func attributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
