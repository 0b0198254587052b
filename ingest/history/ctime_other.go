//go:build !linux

package history

import "syscall"

// changeTime is unknown: the field has another name on every system.
func changeTime(*syscall.Stat_t) int64 { return 0 }
