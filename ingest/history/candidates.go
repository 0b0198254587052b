package history

import (
	"bytes"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
)

// StartInID is how an id that is derived begins: with the start of its run.
const StartInID = "20060102T150405Z-"

// Undated begins the id of a run that nothing dates.
const Undated = "undated-"

// span is how long before a measurement a run that holds it may have begun, for it to be looked for.
const span = 8 * 24 * time.Hour

// Index lists the documents of folders, each folder once: a reading stores thousands of runs.
type Index struct{ lists map[string][]string }

// Candidates finds the documents that may hold measurements of a run. By their names alone: an id that is derived
// begins with the start of its run, which is when one of these points began; an id that is stated is the same. Of other
// documents of the model, those of about the same time, those without a time, and those whose id is stated where this
// run's is not, count only when a file that the run was read from is named in them.
func (x *Index) Candidates(dir string, r *schema.Run) []string {
	w := wanted{
		id: schema.Slug(r.ID), model: r.Model.Name, starts: []time.Time{r.Start}, begins: map[string]bool{},
	}
	for i := range r.Points {
		w.starts = append(w.starts, r.Points[i].Start)
	}
	w.starts = slices.DeleteFunc(w.starts, time.Time.IsZero)
	slices.SortFunc(w.starts, time.Time.Compare)
	for _, t := range w.starts {
		w.begins[t.UTC().Format(StartInID)] = true
	}
	w.undated = strings.HasPrefix(w.id, Undated)
	w.derived = w.undated || w.begins[w.id[:min(len(w.id), len(StartInID))]]
	for s := range sources(r) {
		if s.SHA256 != "" && !slices.Contains(w.hashes, s.SHA256) {
			w.hashes = append(w.hashes, s.SHA256)
		}
	}
	var out []string
	for _, name := range x.documents(dir, r.Model.Name) {
		if whole := filepath.Join(dir, filepath.FromSlash(name)); w.mayBe(path.Base(name), whole) {
			out = append(out, whole)
		}
	}
	return out
}

// wanted is what is known of the documents that may hold measurements of a run.
type wanted struct {
	id, model        string
	derived, undated bool            // the id, from a start or without one
	starts           []time.Time     // of the run and its points, in order
	begins           map[string]bool // ids that are derived from one of them
	hashes           []string        // of the files that the run was read from
}

func (w *wanted) mayBe(base, whole string) bool {
	prefix := base[:min(len(base), len(StartInID))]
	if base == w.id+".json" || w.derived && w.begins[prefix] ||
		w.model != "" && w.undated && strings.HasPrefix(base, Undated) {
		return true
	}
	began, err := time.Parse(StartInID, prefix)
	if err != nil && !w.derived && !strings.HasPrefix(base, Undated) {
		return false // another stated id: another run
	}
	if n := len(w.starts); err == nil && n > 0 && (began.After(w.starts[n-1]) || began.Before(w.starts[0].Add(-span))) {
		return false // of another time
	}
	data, err := rootfs.ReadFile(whole, mostDocument)
	if err != nil {
		return false // a load of the history reports it
	}
	named := func(hash string) bool { return bytes.Contains(data, []byte(hash)) }
	return slices.ContainsFunc(w.hashes, named)
}

func (x *Index) documents(dir, model string) []string {
	key := dir + "\x00" + model
	list, known := x.lists[key]
	if !known {
		list = documents(dir, model)
		if x.lists == nil {
			x.lists = map[string][]string{}
		}
		x.lists[key] = list
	}
	return list
}

// documents lists the documents of a model below a history folder, and those of which no model is known. Without a
// model they are those of all models.
func documents(dir, model string) []string {
	models := []string{schema.Slug(model), schema.Slug("")}
	if model == "" {
		models = []string{"*"}
	}
	folder, err := rootfs.Open(dir)
	if err != nil {
		return nil // there is no history yet; a load reports anything else
	}
	var out []string
	for _, m := range models {
		names, err := fs.Glob(folder, path.Join(m, "*", "*.json"))
		if err == nil { // only a malformed pattern is an error, and this one is not
			out = append(out, names...)
		}
	}
	return out
}
