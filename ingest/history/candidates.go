package history

import (
	"bytes"
	"io/fs"
	"path"
	"path/filepath"
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
	id := schema.Slug(r.ID)
	begins := map[string]bool{}
	first, last := r.Start, r.Start
	for _, t := range append(pointStarts(r), r.Start) {
		begins[t.UTC().Format(StartInID)] = !t.IsZero()
		if t.Before(first) || first.IsZero() {
			first = t
		}
		if t.After(last) {
			last = t
		}
	}
	isDerived := begins[id[:min(len(id), len(StartInID))]] || strings.HasPrefix(id, Undated)
	hashes := hashesOf(r)
	var out []string
	for _, name := range x.documents(dir, r.Model.Name) {
		base := path.Base(name)
		whole := filepath.Join(dir, filepath.FromSlash(name))
		prefix := base[:min(len(base), len(StartInID))]
		began, err := time.Parse(StartInID, prefix)
		switch {
		case base == id+".json", isDerived && begins[prefix],
			r.Model.Name != "" && strings.HasPrefix(id, Undated) && strings.HasPrefix(base, Undated):
			out = append(out, whole)
		case err != nil && !isDerived && !strings.HasPrefix(base, Undated):
			// another stated id: another run
		case err == nil && !last.IsZero() && (began.After(last) || began.Before(first.Add(-span))):
			// of another time
		case names(whole, hashes):
			out = append(out, whole)
		}
	}
	return out
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

func pointStarts(r *schema.Run) []time.Time {
	var out []time.Time
	for i := range r.Points {
		if t := r.Points[i].Start; len(out) == 0 || !t.Equal(out[len(out)-1]) {
			out = append(out, t)
		}
	}
	return out
}

// hashesOf lists the hashes of the files that a run was read from.
func hashesOf(r *schema.Run) map[string]bool {
	out := map[string]bool{}
	for i := range r.Points {
		out[r.Points[i].Source.SHA256] = true
	}
	for i := range r.Scores {
		out[r.Scores[i].Source.SHA256] = true
	}
	delete(out, "")
	return out
}

// names reports that a document names one of the hashes. What cannot be read is reported when history is loaded.
func names(file string, hashes map[string]bool) bool {
	data, err := rootfs.ReadFile(file, mostDocument)
	if err != nil {
		return false
	}
	for hash := range hashes {
		if bytes.Contains(data, []byte(hash)) {
			return true
		}
	}
	return false
}
