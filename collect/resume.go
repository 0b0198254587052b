package collect

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// mostJournal is how long a journal or a manifest may be, in bytes; one of a day has some hundred kB.
const mostJournal = 64 << 20

// newSession starts a run, or resumes an interrupted one. The id of a run is of its start and its system:
// "20261121T045012Z-sim-8b-simulated-1a2b3c".
func newSession(side Side, results string, report func(Event)) *session {
	var reporting sync.Mutex
	s := &session{plan: side.Plan, srv: side.Server, start: time.Now(), fits: builtin.Fits{}, report: func(e Event) {
		reporting.Lock()
		defer reporting.Unlock()
		report(e)
	}}
	if sim, ok := side.Server.(*server.Simulated); ok && !sim.Begin.IsZero() {
		s.start = sim.Begin
	}
	s.start = s.start.UTC().Truncate(time.Second)
	h := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s", s.plan.Release, time.Now().UnixNano(), s.start))
	s.id = fmt.Sprintf("%s-%s-%s-%x", s.start.Format("20060102T150405Z"), schema.Slug(s.plan.Model.Name),
		schema.Slug(s.plan.Device), h[:3])
	s.dir = filepath.Join(results, s.id)
	s.resume(results)
	s.out = Outcome{ID: s.id, Dir: s.dir}
	return s
}

// runFolder is a folder with a journal, and what that says of the run.
type runFolder struct {
	dir                 string
	id, digest, release string // "" where nothing is said
	start               time.Time
	over                bool                      // it is complete
	done                map[string]manifest.Entry // results, by item
	probes              searched
}

// searched is what the searches of a plan have measured, by item.
type searched map[string][]probed

// eventProbe is a measurement of a search in the journal, whose note has it.
const eventProbe = "probe-done"

// runFolders lists the run folders below a folder whose journals can be read, in the order of their ids, which begin
// with the time.
func runFolders(results string) []runFolder {
	var out []runFolder
	entries, _ := os.ReadDir(results) // where it cannot be read, there is nothing to go on with
	for _, e := range entries {
		dir := filepath.Join(results, e.Name())
		name := filepath.Join(dir, manifest.JournalName)
		if data, err := rootfs.ReadFile(name, mostJournal); err == nil {
			out = append(out, folderOf(dir, manifest.ReadJournal(data)))
		}
	}
	return out
}

// folderOf reads the journal of a run folder.
func folderOf(dir string, journal []manifest.Entry) runFolder {
	r := runFolder{dir: dir, done: map[string]manifest.Entry{}, probes: searched{}}
	for _, e := range journal {
		switch e.Event {
		case "run-start":
			r.id, r.digest, r.release, r.start = e.Item, e.Result, e.Note, e.Time
		case manifest.EventRunDone:
			r.over = true
		case eventProbe:
			var p probed
			if json.Unmarshal([]byte(e.Note), &p) == nil {
				r.probes[e.Item] = append(r.probes[e.Item], p)
			}
		case "point-done", "eval-done":
			r.done[e.Item] = e
		case "server-died", "point-missing", "eval-missing": // answers of a dying server are not a measurement
			delete(r.done, e.Item)
			delete(r.probes, e.Item)
		}
	}
	return r
}

// resume continues the newest unfinished run folder of the same plan, also one in which nothing is reported as done:
// what a kill left there between a result and its report would be a second measurement next to one in another folder.
func (s *session) resume(results string) {
	if s.plan.NoResume {
		return
	}
	const resumeFor = 7 * 24 * time.Hour // later the machine may have changed
	digest := s.plan.Digest()
	for _, r := range runFolders(results) {
		if r.id == "" || r.digest != digest || r.over || time.Since(r.start) > resumeFor {
			continue
		}
		m, err := r.manifest()
		if s.unstated = errors.Is(err, errLost); err != nil && !s.unstated {
			continue
		}
		if s.unstated { // it is written again
			m.Start = r.start
		}
		s.resumed = true
		s.id, s.dir, s.before, s.done, s.probes = r.id, r.dir, m.Stack, map[string]bool{}, r.probes
		for item, e := range r.done { // what is not what was measured is measured again
			if r.has(e) {
				s.done[item] = true
			}
		}
		if len(s.done) > 0 {
			s.start = m.Start
		}
	}
}

// errLost is returned for a manifest of which a power cut left nothing.
var errLost = errors.New("the manifest is empty")

func (r runFolder) manifest() (m manifest.Manifest, err error) {
	name := filepath.Join(r.dir, manifest.FileName)
	text, err := rootfs.ReadFile(name, mostJournal)
	switch {
	case err != nil:
		return m, err
	case len(strings.Trim(string(text), " \n\x00")) == 0:
		return m, errLost
	}
	m, problem := manifest.Read(name, text)
	if problem != nil {
		return m, errors.New(problem.Code)
	}
	return m, nil
}

// has reports that a result is what the journal says of it.
func (r runFolder) has(e manifest.Entry) bool {
	name := filepath.Join(r.dir, filepath.FromSlash(e.Result))
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || info.Size() != e.Size {
		return false
	}
	_, sum, err := hashOf(name)
	return err == nil && sum == e.SHA256
}

// hashOf returns the size and the SHA-256 of a file.
func hashOf(name string) (size int64, sum string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// Interrupted returns the run folder that the next collection of the plan continues, and the items that are there;
// dir is "" where there is none.
func Interrupted(p plan.Plan, results string) (dir string, done map[string]bool) {
	s := &session{plan: p}
	s.resume(results)
	return s.dir, s.done
}

// Finished returns the run folder of a complete run of a plan below results; "" when there is none.
func Finished(p plan.Plan, results string) string {
	digest := p.Digest()
	for _, r := range runFolders(results) {
		if r.digest == digest && r.over {
			return r.dir
		}
	}
	return ""
}

// sameServer refuses to resume on another server than the one that the first part was measured on.
func (s *session) sameServer() error {
	if len(s.done)+len(s.probes) == 0 || s.unstated {
		return nil
	}
	if err := otherStack(s.before, s.end.Stack); err != nil {
		return err
	}
	text := fmt.Sprintf("%d of %d were measured before", len(s.done), len(s.plan.Items()))
	for item, list := range s.probes {
		if !s.done[item] {
			text += fmt.Sprintf(", and %s of a search", plaintext.Plural(len(list), "measurement"))
		}
	}
	s.report(Event{Run: s.id, Step: "resume", Text: text, Final: true})
	return nil
}

// otherStack returns an error where two servers are not the same.
func otherStack(a, b schema.Stack) error {
	var other []string
	for _, x := range []struct{ name, was, is string }{
		{"engine", a.Engine, b.Engine}, {"version", a.Version, b.Version},
		{"image", a.Image, b.Image}, {"digest", a.Digest, b.Digest},
	} {
		if x.was != x.is {
			other = append(other, fmt.Sprintf("%s was %q and is now %q", x.name, x.was, x.is))
		}
	}
	if !maps.Equal(a.Commits, b.Commits) {
		other = append(other, "commits differ")
	}
	if len(other) > 0 {
		return fmt.Errorf("%w: %s", ErrOtherServer, strings.Join(other, ", "))
	}
	return nil
}

// withoutKeys takes the keys that this process knows out of a file, or of all files of a folder: results are uploaded
// and committed.
func withoutKeys(at string) error {
	return filepath.WalkDir(at, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if clean := redact.Known(data); !bytes.Equal(clean, data) {
			return durable.WriteSynced(name, clean)
		}
		return nil
	})
}

// log adds an entry to the journal. A result that it calls done is flushed to the disk first, with its sidecar and the
// folders above it.
func (s *session) log(event, item, result, note string) (err error) {
	e := manifest.Entry{Time: s.now().UTC(), Event: event, Item: item, Result: result, Note: redact.Text(note)}
	if item != "" && (strings.HasSuffix(event, "-failed") || strings.HasSuffix(event, "-stopped")) {
		left := withoutKeys(filepath.Join(s.dir, "raw", item)) // it is uploaded, too
		if left != nil && !errors.Is(left, fs.ErrNotExist) {
			return full(fmt.Errorf("what %s left: %w", item, left))
		}
	}
	if strings.HasSuffix(event, "-done") && result != "" {
		name := filepath.Join(s.dir, filepath.FromSlash(result))
		all := name
		if dir := filepath.Dir(name); filepath.Base(dir) != "raw" { // a folder of this item alone
			all = dir
		}
		if err = withoutKeys(all); err != nil {
			return full(fmt.Errorf("the result: %w", err))
		}
		if e.Size, e.SHA256, err = hashOf(name); err != nil {
			return full(fmt.Errorf("the result: %w", err))
		}
		list := []string{name, filepath.Dir(name), filepath.Dir(filepath.Dir(name))}
		if _, err := os.Stat(name + manifest.SidecarSuffix); err == nil {
			list = append(list, name+manifest.SidecarSuffix)
		}
		for _, n := range list {
			if err := durable.Sync(n); err != nil {
				return full(err)
			}
		}
	}
	return s.journal.Log(e)
}
