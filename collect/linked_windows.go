package collect

import (
	"os"

	"golang.org/x/sys/windows"
)

// linked is not known: the temporary folder of Windows is the user's own.
func linked(os.FileInfo) bool { return false }

// diskIsFull are the errors of a disk without room, or of a user's share of it.
func diskIsFull() []error {
	return []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED}
}
