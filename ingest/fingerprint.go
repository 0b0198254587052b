package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
)

// Contents is a hash of the names and contents of all files below roots. ok is false if one could not be read.
func Contents(roots []Root) (hash string, files int, ok bool) {
	sum := sha256.New()
	for i := range roots {
		list, problems := walk(&roots[i])
		if len(problems) > 0 {
			return "", 0, false
		}
		for _, at := range list {
			f, err := at.root.FS.Open(at.rel)
			if err != nil {
				return "", 0, false
			}
			content := sha256.New()
			_, err = io.Copy(content, f)
			_ = f.Close() // only read
			if err != nil {
				return "", 0, false
			}
			fmt.Fprintf(sum, "%q %x\n", at.shown(), content.Sum(nil))
			files++
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), files, true
}

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
