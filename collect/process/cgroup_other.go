//go:build !linux

package process

import "syscall"

// cgroup is a control group of Linux: there is none.
type cgroup struct{}

func newCgroup(string) *cgroup            { return nil }
func (*cgroup) path() string              { return "" }
func (*cgroup) into(*syscall.SysProcAttr) {}
func (*cgroup) end()                      {}
