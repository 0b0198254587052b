package process

import "syscall"

// attributes give a program a group of its own. Unless it is to outlive us, the kernel asks it to end when we are gone,
// also by SIGKILL.
func attributes(outlives bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if !outlives {
		a.Pdeathsig = syscall.SIGTERM
	}
	return a
}
