package collect

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// log adds an entry to the journal; what it calls done is on the disk.
func (s *session) log(event, item, result, note string) error {
	e := manifest.Entry{Time: s.now().UTC(), Event: event, Item: item, Result: result, Note: redact.Text(note)}
	if strings.HasSuffix(event, "-done") && result != "" {
		var err error
		if e.Size, e.SHA256, err = keptResult(filepath.Join(s.dir, filepath.FromSlash(result))); err != nil {
			return full(err)
		}
	}
	return s.journal.Log(e)
}

// keptResult flushes a result, its sidecar and the folders above it to the disk, and returns the result's size and
// hash.
func keptResult(name string) (size int64, sum string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, "", fmt.Errorf("the result: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return 0, "", fmt.Errorf("the result: %w", err)
	}
	list := []string{name, filepath.Dir(name), filepath.Dir(filepath.Dir(name))}
	if _, err := os.Stat(name + manifest.SidecarSuffix); err == nil {
		list = append(list, name+manifest.SidecarSuffix)
	}
	for _, n := range list {
		if err := durable.Sync(n); err != nil {
			return 0, "", err
		}
	}
	return size, hex.EncodeToString(h.Sum(nil)), nil
}

// stillThere reports that a result is what the journal says of it. Journals of earlier versions do not say.
func stillThere(name string, e manifest.Entry) bool {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	if e.SHA256 == "" {
		return true
	}
	if info.Size() != e.Size {
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, io.LimitReader(f, e.Size+1)) // it may grow
	return err == nil && hex.EncodeToString(sum.Sum(nil)) == e.SHA256
}
