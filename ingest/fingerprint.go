package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Contents is a hash of the names and contents of all files below roots. ok is false if one could not be read.
func Contents(roots []Root) (hash string, files int, ok bool) {
	return hashed(roots, func(at found) (string, error) {
		f, err := at.root.FS.Open(at.rel)
		if err != nil {
			return "", err
		}
		content := sha256.New()
		_, err = io.Copy(content, f)
		return fmt.Sprintf("%q %x\n", at.shown(), content.Sum(nil)), errors.Join(err, f.Close())
	})
}

// Fingerprint is a hash of the names, sizes and times of all files below roots: equal fingerprints mean that reading
// again would give the same result. Nothing is opened. ok is false if a file or folder could not be examined, which
// reading will report.
func Fingerprint(roots []Root) (hash string, files int, ok bool) {
	return hashed(roots, func(at found) (string, error) {
		info := at.info
		if info == nil { // a link, or a file that was named
			var err error
			if info, err = fs.Stat(at.root.FS, at.rel); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("%q %d %d\n", at.shown(), info.Size(), info.ModTime().UnixNano()), nil
	})
}

// hashed is a hash of what is said of each file below roots, in their order. All processors look at files.
func hashed(roots []Root, say func(found) (string, error)) (hash string, files int, ok bool) {
	var all []found
	for i := range roots {
		list, problems := (&walker{root: &roots[i], infos: true}).walk()
		if len(problems) > 0 {
			return "", 0, false
		}
		all = append(all, list...)
	}
	said := make([]string, len(all))
	workers := runtime.GOMAXPROCS(0)
	var group errgroup.Group
	for w := range workers {
		group.Go(func() (err error) {
			for i := w; i < len(all) && err == nil; i += workers {
				said[i], err = say(all[i])
			}
			return err
		})
	}
	if group.Wait() != nil {
		return "", 0, false
	}
	sum := sha256.New()
	for _, line := range said {
		io.WriteString(sum, line)
	}
	return hex.EncodeToString(sum.Sum(nil)), len(all), true
}
