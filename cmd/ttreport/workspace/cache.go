package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/userdir"
)

// Cache is the file of the columns of this workspace, in the cache folder of the user: what lies in a workspace may
// have been committed by anybody. "" where there is no such folder, and in CI, where every build reads everything.
func (w *Workspace) Cache() string { return w.cached("columns.cache") }

// Judged is the file that keeps how far this workspace's history was judged; "" as for [Workspace.Cache].
func (w *Workspace) Judged() string { return w.cached("judged.cache") }

// LastBuild is the file that remembers what the last build read and wrote; "" as for [Workspace.Cache].
func (w *Workspace) LastBuild() string { return w.cached("build.json") }

// SiteRecord is the file that remembers what the parts of a site in a folder were made of; "" as for [Workspace.Cache].
func (w *Workspace) SiteRecord(folder string) string {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(abs))
	return w.cached("site-" + hex.EncodeToString(sum[:8]) + ".json")
}

func (w *Workspace) cached(name string) string {
	if os.Getenv("CI") != "" {
		return ""
	}
	base, err := userdir.Cache()
	if err != nil {
		return ""
	}
	abs, err := filepath.Abs(w.Dir)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	sum := sha256.Sum256([]byte(abs)) // no two workspaces share a folder
	return filepath.Join(base, schema.Slug(filepath.Base(abs))+"-"+hex.EncodeToString(sum[:8]), name)
}
