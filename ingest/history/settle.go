package history

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Settled is a run after a look at what history holds of the same measurements under other names.
type Settled struct {
	Run      schema.Run       // what remains to be stored
	Replaces []string         // documents in dir that Run contains whole; to be deleted when it is stored
	Problems []schema.Problem // measurements that stay where they are
}

// Nothing reports that all of the run is in history already.
func (s *Settled) Nothing() bool { return len(s.Run.Points) == 0 && len(s.Run.Scores) == 0 }

// Settle keeps one measurement from standing in history twice. The same files read again under another identity (a
// device or a release stated later, by a flag or a manifest) give another id. Where the new identity only adds to what was
// unknown, and all of the old document was read again, the new one replaces it and keeps its stamped targets. Else the old
// one stays, and what it holds is left out of the run: a flag must not move history from one device to another.
//
// others are further folders whose documents count and are never replaced.
func Settle(dir string, r schema.Run, others ...string) Settled {
	s := Settled{Run: r}
	for _, in := range append([]string{dir}, others...) {
		for _, name := range namesakes(in, &r) {
			if name == filepath.Join(in, PathOf(&r)) {
				continue // its own document, which Put updates
			}
			old, problem := Read(name)
			if problem != nil || !fits(old.Model.Name, r.Model.Name) {
				continue // a damaged document is told when history is loaded
			}
			held := heldBy(&old)
			rest, shared := without(s.Run, held)
			clash := clashes(&old, &r)
			switch {
			case shared == 0:
			case in == dir && len(clash) == 0 && shared == len(held) && knowsMore(&r, &old):
				s.Run = update(old, s.Run)
				s.Replaces = append(s.Replaces, name)
			default:
				s.Run = rest
				s.Problems = append(s.Problems, stays(name, &old, clash, shared, from(&r)))
			}
		}
	}
	return s
}

// namesakes finds documents that may hold the same measurements, by name alone: an id that is derived opens with when its
// run began, which is when one of these points did; an id that is stated is the same.
func namesakes(dir string, r *schema.Run) []string {
	const stamp = "20060102T150405Z-"
	id := schema.Slug(r.ID)
	derived := strings.HasPrefix(id, r.Start.UTC().Format(stamp))
	begins := map[string]bool{r.Start.UTC().Format(stamp): true}
	for i := range r.Points {
		begins[r.Points[i].Start.UTC().Format(stamp)] = true
	}
	models := []string{schema.Slug(r.Model.Name), schema.Slug("")}
	if r.Model.Name == "" {
		models = []string{"*"}
	}
	var out []string
	for _, model := range models {
		names, err := filepath.Glob(filepath.Join(globbed(dir), model, "*", "*.json"))
		if err != nil {
			continue // only of a malformed pattern, and this one is not
		}
		for _, name := range names {
			base := filepath.Base(name)
			if base == id+".json" || derived && len(base) > len(stamp) && begins[base[:len(stamp)]] {
				out = append(out, name)
			}
		}
	}
	return out
}

// globbed escapes what a pattern gives a meaning.
func globbed(dir string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// heldBy is the set of measurements of a run: one may be a line among others of its file.
func heldBy(r *schema.Run) map[string]bool {
	held := map[string]bool{}
	for i := range r.Points {
		held[pointID(&r.Points[i])] = true
	}
	for i := range r.Scores {
		held[scoreID(&r.Scores[i])] = true
	}
	return held
}

func pointID(p *schema.Point) string {
	return fmt.Sprint(p.Source.SHA256, p.Key.String(), p.Repeat, p.Start.UTC())
}

func scoreID(s *schema.Score) string {
	return s.Source.SHA256 + s.Task + "\x00" + s.Metric + "\x00" + s.Filter
}

// without returns the run less what is held, and how many measurements that leaves out.
func without(r schema.Run, held map[string]bool) (schema.Run, int) {
	out, n := r, 0
	out.Points, out.Scores = nil, nil
	for i := range r.Points {
		if held[pointID(&r.Points[i])] {
			n++
			continue
		}
		out.Points = append(out.Points, r.Points[i])
	}
	for i := range r.Scores {
		if held[scoreID(&r.Scores[i])] {
			n++
			continue
		}
		out.Scores = append(out.Scores, r.Scores[i])
	}
	return out, n
}

// identity is what a later reading may state otherwise.
func identity(r *schema.Run) [4][2]string {
	return [4][2]string{{"model", r.Model.Name}, {"device", r.Device.Name}, {"release", r.Release}, {"implementation", r.Impl}}
}

// fits reports that two statements do not contradict: they are the same, or one is missing.
func fits(a, b string) bool { return a == "" || b == "" || a == b }

// clashes lists where two identities contradict.
func clashes(old, now *schema.Run) []string {
	var out []string
	is := identity(now)
	for i, was := range identity(old) {
		if !fits(was[1], is[i][1]) {
			out = append(out, fmt.Sprintf("%s %s, now %s", was[0], was[1], is[i][1]))
		}
	}
	return out
}

// knowsMore reports that nothing which old states is unknown now.
func knowsMore(now, old *schema.Run) bool {
	is := identity(now)
	for i, was := range identity(old) {
		if was[1] != "" && is[i][1] == "" {
			return false
		}
	}
	return true
}

// from is a file of the run, to say where a problem was met.
func from(r *schema.Run) string {
	if len(r.Points) > 0 {
		return r.Points[0].Source.Path
	}
	if len(r.Scores) > 0 {
		return r.Scores[0].Source.Path
	}
	return ""
}

func stays(name string, old *schema.Run, clash []string, shared int, path string) schema.Problem {
	p := schema.Problem{Severity: schema.SevNote, Path: path, Code: "in-history", Expected: "one identity of a measurement",
		Found: fmt.Sprintf("results that are in history already, %d of them in %s", shared, filepath.ToSlash(name)), Used: "what is stored",
		Hint: "if the stored identity is the wrong one, delete the document and read all of its files again"}
	if len(clash) > 0 {
		p.Severity, p.Code = schema.SevError, "other-identity"
		p.Found += ": " + strings.Join(clash, "; ")
	}
	return p
}
