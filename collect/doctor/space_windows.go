package doctor

import "golang.org/x/sys/windows"

// freeBytes is the room for files of this user on the disk of a folder.
func freeBytes(dir string) (float64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, err
	}
	return float64(free), nil
}
