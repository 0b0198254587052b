package collect

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// resumeFor is how long an interrupted run can be resumed: later the machine may have changed.
const resumeFor = 7 * 24 * time.Hour

// mostJournal is how long a journal or a manifest may be, in bytes; one of a day has some hundred kB.
const mostJournal = 64 << 20

// resume continues the newest unfinished run folder of the same plan, also one in which nothing is reported as done:
// what a kill left there between a result and its report would be a second measurement beside one in another folder.
func (s *session) resume(results string) {
	names, err := filepath.Glob(filepath.Join(results, "*", manifest.JournalName))
	if err != nil || s.plan.NoResume {
		return
	}
	digest := s.plan.Digest()
	for _, name := range names { // in the order of their ids, which begin with the time
		data, err := rootfs.ReadFile(name, mostJournal)
		if err != nil {
			continue
		}
		id, start, done := unfinished(manifest.ReadJournal(data), digest)
		if id == "" || time.Since(start) > resumeFor {
			continue
		}
		text, err := rootfs.ReadFile(filepath.Join(filepath.Dir(name), manifest.FileName), mostJournal)
		if err != nil {
			continue
		}
		m, problem := manifest.Read(name, text)
		lost := len(strings.Trim(string(text), " \n\x00")) == 0 // in a power cut; it is written again
		if problem != nil && !lost {
			continue
		}
		if s.unstated = lost; lost {
			m.Start = start
		}
		for item, e := range done { // what is not what was measured is measured again
			if !stillThere(filepath.Join(filepath.Dir(name), filepath.FromSlash(e.Result)), e) {
				delete(done, item)
			}
		}
		s.resumed = true
		s.id, s.dir, s.before, s.done = id, filepath.Dir(name), m.Stack, map[string]bool{}
		for item := range done {
			s.done[item] = true
		}
		if len(done) > 0 {
			s.start = m.Start
		}
	}
}

// Interrupted returns the run folder that the next collection of the plan continues, and the items that are there;
// dir is "" where there is none.
func Interrupted(p plan.Plan, results string) (dir string, done map[string]bool) {
	s := &session{plan: p}
	s.resume(results)
	return s.dir, s.done
}

// unfinished reads a journal. For an unfinished run of the plan it returns the run's id and its results by item.
func unfinished(entries []manifest.Entry, digest string) (id string, start time.Time, done map[string]manifest.Entry) {
	done = map[string]manifest.Entry{}
	for _, e := range entries {
		switch e.Event {
		case "run-start":
			if e.Result != digest {
				return "", time.Time{}, nil
			}
			id, start = e.Item, e.Time
		case "run-done":
			return "", time.Time{}, nil
		case "point-done", "eval-done":
			done[e.Item] = e
		case "server-died", "point-missing", "eval-missing": // answers of a dying server are not a measurement
			delete(done, e.Item)
		}
	}
	return id, start, done
}

// sameServer refuses to resume on another server than the one that the first part was measured on.
func (s *session) sameServer() error {
	if len(s.done) == 0 || s.unstated {
		return nil
	}
	if err := otherStack(s.before, s.end.Stack); err != nil {
		return err
	}
	text := fmt.Sprintf("%d of %d were measured before", len(s.done), len(s.plan.Items()))
	s.report(Event{Run: s.id, Step: "resume", Text: text, Final: true})
	return nil
}

// otherStack returns an error where two servers are not the same.
func otherStack(a, b manifest.Stack) error {
	var other []string
	for _, x := range []struct{ name, was, is string }{
		{"engine", a.Engine, b.Engine}, {"version", a.Version, b.Version},
		{"image", a.Image, b.Image}, {"digest", a.Digest, b.Digest},
	} {
		if x.was != x.is {
			other = append(other, fmt.Sprintf("%s was %q and is %q", x.name, x.was, x.is))
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
