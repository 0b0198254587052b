//go:build unix

package doctor

import "syscall"

// freeBytes is the room for files of this user on the disk of a folder.
func freeBytes(dir string) (float64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return float64(s.Bavail) * float64(s.Bsize), nil
}
