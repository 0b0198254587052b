package history

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// startInID is the beginning of a derived id: the start of its run.
const startInID = "20060102T150405Z-"

// Candidates finds the documents that may have measurements of a run, by their names only: a derived id begins with
// the start of its run, which is the start of one of these points; a stated id is equal.
func Candidates(dir string, r *schema.Run) []string {
	id := schema.Slug(r.ID)
	derived := strings.HasPrefix(id, r.Start.UTC().Format(startInID))
	begins := map[string]bool{r.Start.UTC().Format(startInID): true}
	for i := range r.Points {
		begins[r.Points[i].Start.UTC().Format(startInID)] = true
	}
	models := []string{schema.Slug(r.Model.Name), schema.Slug("")}
	if r.Model.Name == "" {
		models = []string{"*"}
	}
	var out []string
	for _, model := range models {
		names, err := fs.Glob(os.DirFS(dir), path.Join(model, "*", "*.json"))
		if err != nil {
			continue // Glob fails only for a malformed pattern
		}
		for _, name := range names {
			base := path.Base(name)
			if base == id+".json" || derived && len(base) > len(startInID) && begins[base[:len(startInID)]] {
				out = append(out, filepath.Join(dir, filepath.FromSlash(name)))
			}
		}
	}
	return out
}
