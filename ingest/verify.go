package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"

	"github.com/ttreport/ttreport/ingest/archive"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Verification is what became of the raw files that a history names.
type Verification struct {
	Verified  int              // files whose bytes are those that were read
	Missing   []string         // files that are not there; a workspace need not keep them
	Elsewhere int              // files outside of the folder, which are not looked at
	Unknown   int              // results of which no file, or no hash, is stored
	Problems  []schema.Problem // files with other bytes, and documents that cannot be read
}

// rawFile is a file as a document names it.
type rawFile struct{ path, sha256 string }

// Verify reads the raw files again that the documents of a history name, below a folder, and compares their SHA-256
// with the stored ones. A file may be a member of an archive.
func Verify(ctx context.Context, dir, historyDir string) (Verification, error) {
	var v Verification
	folder, err := rootfs.Open(dir)
	if err != nil {
		return v, err
	}
	stored := map[rawFile]bool{}
	v.Problems = history.Each(historyDir, func(_ string, r *schema.Run) {
		for i := range r.Points {
			stored[rawFile{r.Points[i].Source.Path, r.Points[i].Source.SHA256}] = true
		}
		for i := range r.Scores {
			stored[rawFile{r.Scores[i].Source.Path, r.Scores[i].Source.SHA256}] = true
		}
	})
	list := make([]rawFile, 0, len(stored))
	for s := range stored {
		list = append(list, s)
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].path < list[j].path || list[i].path == list[j].path && list[i].sha256 < list[j].sha256
	})
	hashes := rawHashes{folder: folder, archives: map[string]map[string]string{}}
	for _, s := range list {
		if ctx.Err() != nil {
			return v, ctx.Err()
		}
		v.verify(s, hashes)
	}
	return v, nil
}

func (v *Verification) verify(s rawFile, hashes rawHashes) {
	if s.path == "" || s.sha256 == "" {
		v.Unknown++
		return
	}
	if !fs.ValidPath(s.path) {
		v.Elsewhere++
		return
	}
	now, err := hashes.of(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.Missing = append(v.Missing, s.path)
	case err != nil:
		v.Problems = append(v.Problems, unreadable(at(&Root{}, s.path), err))
	case now != s.sha256:
		v.Problems = append(v.Problems, schema.Problem{
			Severity: schema.SevError, Path: s.path, Code: "other-bytes", Found: fmt.Sprintf("SHA-256 %.12s…", now),
			Expected: fmt.Sprintf("%.12s…, as the history states", s.sha256),
			Hint:     "restore the file, or read it again with ttreport ingest",
		})
	default:
		v.Verified++
	}
}

// rawHashes hashes files and members of archives, each archive once.
type rawHashes struct {
	folder   *rootfs.Folder
	archives map[string]map[string]string // by the archive's path: hashes of members by their path
}

func (h rawHashes) of(name string) (string, error) {
	f, err := h.folder.Open(name)
	if err == nil {
		defer f.Close()
		return hashAll(f)
	}
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		info, statErr := h.folder.Stat(at)
		if statErr != nil {
			continue
		}
		if info.IsDir() {
			break
		}
		members, memberErr := h.members(at)
		if memberErr != nil {
			return "", memberErr
		}
		if sum := members[name]; sum != "" {
			return sum, nil
		}
		return "", fs.ErrNotExist
	}
	return "", err
}

func (h rawHashes) members(name string) (map[string]string, error) {
	if known, ok := h.archives[name]; ok {
		return known, nil
	}
	f, err := h.folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	in, ok := f.(*os.File)
	if !ok {
		return nil, rootfs.ErrNotRegular
	}
	archive.Each(name, in, info.Size(), decode.DefaultLimits(), func(m archive.Member) {
		sum := sha256.Sum256(m.Data)
		out[m.Path] = hex.EncodeToString(sum[:])
	})
	h.archives[name] = out
	return out, nil
}

func hashAll(f fs.File) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", rootfs.ErrNotRegular
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
