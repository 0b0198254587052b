package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
)

// Fingerprint is a hash of the names, sizes and times of all files below roots: equal fingerprints mean that reading
// again would give the same result. Nothing is opened. ok is false if a file or folder could not be examined, which
// reading will report.
func Fingerprint(roots []Root) (hash string, files int, ok bool) {
	sum := sha256.New()
	for i := range roots {
		list, problems := walk(&roots[i])
		if len(problems) > 0 {
			return "", 0, false
		}
		for _, f := range list {
			info, err := fs.Stat(f.root.FS, f.rel)
			if err != nil {
				return "", 0, false
			}
			fmt.Fprintf(sum, "%q %d %d\n", f.shown(), info.Size(), info.ModTime().UnixNano())
			files++
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), files, true
}
