package site

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/rows"
)

// manifestName lists the files that a build wrote, so that a later one removes what it no longer writes and nothing
// else. While files take their places it lists those of both builds: a build that is killed leaves none that the next
// one does not own.
const manifestName = ".ttreport-site.json"

const manifestTemporary = manifestName + ".new"

// newName is the folder in which files wait until all of a build are made: one that fails changes no page. Where it is
// left, a build did not end.
const newName = ".ttreport-new"

var (
	// ErrForeignFolder is returned for an output folder that holds something we did not write.
	ErrForeignFolder = errors.New("the folder is not empty and was not written by ttreport")
	// ErrForeignFile is returned for a page in whose place there is a file that we did not write.
	ErrForeignFile = errors.New("there is a file that was not written by ttreport")
)

type manifestFile struct {
	Schema string   `json:"schema"`
	Files  []string `json:"files"`
}

// publisher writes files into the output folder, and never outside of it: whatever links are in it. Several goroutines
// may put files at once.
type publisher struct {
	dir     string
	root    *os.Root
	old     []string        // files of the last build, as the manifest names them
	known   map[string]bool // the same
	placing bool            // files may be those of this build or of the last one
	damaged bool            // the manifest is empty after a power cut: what is there is ours
	mu      sync.Mutex
	now     map[string]bool
	folded  map[string]bool // likewise in small letters; nil where capitals are told apart
	staged  []staged
	written []string
	removed int

	// The parts of the last build and of this one are kept in a file outside of the site, in a folder that nobody else
	// can write to: what a committed site says of itself is not believed. A record that cannot be read or written, or
	// was damaged, costs time and nothing else.
	record   string // that file; "" for none
	oldUnits map[string]unit
	units    unitsFile
	sums     map[string]string // SHA-256 of the files of this build
}

// unit is a part of the site that is made, or left as it is, as one.
type unit struct {
	Made  string            `json:"made"`  // hash of everything that it was made of
	Files map[string]string `json:"files"` // that it consists of, with the SHA-256 of each
	Facts json.RawMessage   `json:"facts,omitempty"`
}

// unitsFile is the record.
type unitsFile struct {
	Schema string          `json:"schema"`
	Folder string          `json:"folder"` // of the site, absolute
	Units  map[string]unit `json:"units"`
}

// staged is a file that waits for its place.
type staged struct {
	step                 step
	temporary, path, old string
}

func openPublisher(dir, record string) (*publisher, error) {
	if err := Check(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("output folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("output folder: %w", err)
	}
	p := &publisher{
		dir: dir, root: root, now: map[string]bool{}, known: map[string]bool{}, record: record, sums: map[string]string{},
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		p.record = ""
	}
	p.units = unitsFile{"ttreport/units/v1", absolute, map[string]unit{}}
	var last unitsFile
	err = json.Unmarshal(durable.ReadRecord(p.record), &last)
	if err == nil && last.Schema == p.units.Schema && last.Folder == absolute {
		p.oldUnits = last.Units
	}
	if err := p.open(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// open reads what earlier builds left. The manifest is there from the first file on, so that a build that is cut short
// can be built over.
func (p *publisher) open() error {
	data, err := p.root.ReadFile(manifestName)
	var m manifestFile
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = p.writeManifest(nil)
	case err == nil && len(bytes.Trim(data, " \n\x00")) == 0:
		p.damaged = true
	case err == nil:
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", filepath.Join(p.dir, manifestName), err)
	}
	p.old = m.Files
	if err := p.root.RemoveAll(newName); err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	if err := p.root.Mkdir(newName, 0o777); err != nil {
		return fmt.Errorf("output folder: %w", err)
	}
	if _, err := p.root.Lstat(strings.ToUpper(newName)); err == nil {
		p.folded = map[string]bool{}
	}
	for _, name := range p.old {
		p.known[name] = true
	}
	return nil
}

func (p *publisher) close() {
	if !p.placing {
		_ = p.root.RemoveAll(newName) // the next build removes it too
	}
	_ = p.root.Close() // everything was written
}

// put makes a file of a step; it takes its place when all are made, and those of earlier steps have theirs.
func (p *publisher) put(of step, path string, data []byte) error {
	local := filepath.FromSlash(path)
	if !filepath.IsLocal(local) {
		return fmt.Errorf("page %q would be outside of the output folder", path)
	}
	sum, changed := sumOf(data), !p.holds(local, data)
	p.mu.Lock()
	p.sums[path] = sum
	taken := p.now[path]
	if p.folded != nil { // or one that differs in capitals alone
		folded := strings.ToLower(path)
		taken, p.folded[folded] = p.folded[folded], true
	}
	if taken {
		p.mu.Unlock()
		return fmt.Errorf("two pages are %s: names of releases, models or runs that give one path; rename one", path)
	}
	p.now[path] = true
	temporary := ""
	if changed {
		temporary = filepath.Join(newName, strconv.Itoa(len(p.staged)))
		p.written, p.staged = append(p.written, path), append(p.staged, staged{of, temporary, local, ""})
	}
	p.mu.Unlock()
	if !changed {
		return nil
	}
	if err := p.root.WriteFile(temporary, data, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// holds reports whether a file has exactly this content.
func (p *publisher) holds(local string, data []byte) bool {
	info, err := p.root.Lstat(local)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(data)) {
		return false
	}
	old, err := p.root.ReadFile(local)
	return err == nil && bytes.Equal(old, data)
}

// keep takes over a unit of the last build that was made of the same and whose files are all still there, byte by byte.
func (p *publisher) keep(name, made string) (unit, bool) {
	u, ok := p.oldUnits[name]
	if !ok || made == "" || u.Made != made {
		return unit{}, false
	}
	for path, sum := range u.Files {
		local := filepath.FromSlash(path)
		if info, err := p.root.Lstat(local); err != nil || !info.Mode().IsRegular() {
			return unit{}, false
		}
		if data, err := p.root.ReadFile(local); err != nil || sumOf(data) != sum {
			return unit{}, false
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for path := range u.Files {
		p.now[path] = true
	}
	p.units.Units[name] = u
	return u, true
}

// remember notes a unit that was made, of these files.
func (p *publisher) remember(name, made string, files []string, facts json.RawMessage) {
	u := unit{Made: made, Files: make(map[string]string, len(files)), Facts: facts}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range files {
		u.Files[f] = p.sums[f]
	}
	p.units.Units[name] = u
}

func sumOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// finish puts all files in their places, removes those of earlier builds that this one did not make, and lists what is
// there.
func (p *publisher) finish() error {
	if err := p.check(); err != nil {
		return err
	}
	slices.SortStableFunc(p.staged, func(a, b staged) int { return cmp.Compare(a.step, b.step) })
	if len(p.staged) > 0 && p.record != "" { // after a build that was cut short nothing is taken for current
		_ = os.Remove(p.record)
	}
	both := maps.Clone(p.now)
	maps.Copy(both, p.known)
	if err := p.writeManifest(slices.Sorted(maps.Keys(both))); err != nil {
		return err
	}
	p.placing = true
	for i := range p.staged {
		if err := p.place(&p.staged[i]); err != nil {
			p.undo(p.staged[:i])
			p.placing = p.writeManifest(p.old) != nil
			return fmt.Errorf("writing %s: %w", p.staged[i].path, err)
		}
	}
	if err := p.removeOld(); err != nil {
		return err
	}
	if err := p.writeManifest(slices.Sorted(maps.Keys(p.now))); err != nil {
		return err
	}
	p.placing = false
	if p.record == "" {
		return nil
	}
	if data, err := json.Marshal(p.units); err == nil {
		_ = durable.WriteRecord(p.record, data)
	}
	return nil
}

// place gives a file its place, and keeps the one that was there.
func (p *publisher) place(s *staged) error {
	if err := p.root.MkdirAll(filepath.Dir(s.path), 0o777); err != nil {
		return err
	}
	old := s.temporary + ".old"
	if p.root.Link(s.path, old) == nil { // there is none, or the file system has no links: then it cannot be put back
		s.old = old
	}
	return p.root.Rename(s.temporary, s.path)
}

// undo puts back what was there, as far as that is possible; the error of writing is the one to tell.
func (p *publisher) undo(list []staged) {
	for _, s := range slices.Backward(list) {
		if s.old != "" {
			_ = p.root.Rename(s.old, s.path)
			continue
		}
		if _ = p.root.Remove(s.path); p.known[filepath.ToSlash(s.path)] {
			continue
		}
		for up := filepath.Dir(s.path); up != "."; up = filepath.Dir(up) {
			if p.root.Remove(up) != nil {
				break // not empty
			}
		}
	}
}

// check refuses to replace what is not ours, before anything is replaced.
func (p *publisher) check() error {
	for _, s := range p.staged {
		info, err := p.root.Lstat(s.path)
		switch {
		case err != nil: // nothing is there, or a file is in the place of a folder, which writing reports
		case info.IsDir():
			return fmt.Errorf("%s: a folder is in the place of a page", filepath.Join(p.dir, s.path))
		case !p.known[filepath.ToSlash(s.path)] && !p.damaged:
			return fmt.Errorf("%s: %w", filepath.Join(p.dir, s.path), ErrForeignFile)
		}
	}
	return nil
}

// removeOld removes the files of earlier builds that this one did not make.
func (p *publisher) removeOld() error {
	for _, name := range p.old {
		local := filepath.FromSlash(name)
		if p.now[name] || !filepath.IsLocal(local) {
			continue
		}
		if err := p.root.Remove(local); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing a page that no longer exists: %w", err)
		}
		p.removed++
		for up := filepath.Dir(local); up != "."; up = filepath.Dir(up) {
			if p.root.Remove(up) != nil {
				break // not empty: it holds other files
			}
		}
	}
	return nil
}

func (p *publisher) writeManifest(names []string) error {
	if names == nil {
		names = []string{}
	}
	data, err := json.MarshalIndent(manifestFile{"ttreport/site/v1", names}, "", " ")
	if err != nil {
		return fmt.Errorf("writing the site's manifest: %w", err)
	}
	data = append(data, '\n')
	if p.holds(manifestName, data) {
		return nil
	}
	err = p.root.WriteFile(manifestTemporary, data, 0o644)
	if err == nil {
		err = p.root.Rename(manifestTemporary, manifestName)
	}
	if err != nil {
		_ = p.root.Remove(manifestTemporary) // the first error is the one to tell
		return fmt.Errorf("writing the site's manifest: %w", err)
	}
	return nil
}

// Unfinished reports whether a folder has files of a build that was killed, or that could not remove them.
func Unfinished(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, newName))
	return err == nil
}

// Check reports whether a folder could be written to by a build: it does not exist yet, is empty, or is ours.
func Check(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && slices.Contains(strings.Split(filepath.ToSlash(dir), "/"), ".."):
		if _, err := os.Stat(filepath.Clean(dir)); err == nil { // "x/.." is above x, and x is not there
			return fmt.Errorf("%s leads through a folder that does not exist", dir)
		}
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is a file", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, manifestName)); err == nil {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	ours := []string{manifestTemporary, newName} // of a build that was killed before its list was there
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return slices.Contains(ours, e.Name()) })
	if len(entries) > 0 {
		return fmt.Errorf("%s: %w", dir, ErrForeignFolder)
	}
	return nil
}

// redaction takes out of views what shows where things lie on somebody's machines, and what those are called: paths,
// addresses, users, hosts, registries, whichever field they are in. Package render leaves out commands and other
// fields. keep is the site's own address; hosts are the names of machines that any run states.
func redaction(keep string, hosts []string) rewriting {
	var stated *regexp.Regexp
	if len(hosts) > 0 {
		var quoted []string
		for _, h := range hosts {
			quoted = append(quoted, regexp.QuoteMeta(h))
		}
		stated = regexp.MustCompile(`(?i)(^|[^\w-])(?:` + strings.Join(quoted, "|") + `)(?:\.[\w-]+)*([^\w-]|$)`)
	}
	return rewriting{text: func(s string) string {
		if stated != nil {
			for range 2 { // two names beside each other share what is between them
				s = stated.ReplaceAllString(s, "${1}(host)${2}")
			}
		}
		return redacted(s, keep)
	}}
}

// PublicText is what a public site takes out of its texts, for files that are published beside it.
func PublicText(r *render.Report, keep string) func(string) string {
	return redaction(keep, hostsOf(r)).text
}

// hostsOf are the names of machines in a history, the longest first. What is also the name of a model, a device or a
// release is only removed where a text says that it is a host.
func hostsOf(r *render.Report) []string {
	seen, public := map[string]bool{}, map[string]bool{"": true, "localhost": true}
	for i := range r.Columns.Runs {
		h := &r.Columns.Runs[i]
		for _, name := range []string{h.Model.Name, h.Device, h.Release, h.Engine, h.Impl} {
			public[strings.ToLower(name)] = true
		}
	}
	for i := range r.Columns.Runs {
		name := strings.ToLower(strings.TrimSpace(r.Columns.Runs[i].Setting["host"]))
		seen[name] = !public[name] && len(name) > 1
		if short, _, dotted := strings.Cut(name, "."); dotted && len(short) > 2 && !public[short] {
			seen[short] = true
		}
	}
	var out []string
	for name, is := range seen {
		if is {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return out
}

func redacted(s, keep string) string {
	s = hostRE.ReplaceAllString(s, "host (host) → (host)")
	if !strings.ContainsAny(s, `/\\@.:`) {
		return s
	}
	s = urlRE.ReplaceAllStringFunc(s, func(m string) string {
		if keep != "" && strings.HasPrefix(m, keep) {
			return m
		}
		return "(address)"
	})
	s = pathRE.ReplaceAllStringFunc(s, func(m string) string {
		parts := pathRE.FindStringSubmatch(m)
		return parts[1] + path.Base(parts[2])
	})
	s = windowsRE.ReplaceAllString(s, "(path)")
	s = macRE.ReplaceAllString(s, "(address)")
	s = ipv6RE.ReplaceAllStringFunc(s, func(m string) string {
		if a, err := netip.ParseAddr(strings.Trim(m, "[]")); err != nil || a.IsUnspecified() {
			return m // a time, or a name in C++
		}
		return "(address)"
	})
	s = userRE.ReplaceAllString(s, "(name)")
	public := []string{ // registries that do not show who uses them
		"ghcr.io", "docker.io", "quay.io", "nvcr.io", "gcr.io", "public.ecr.aws", "huggingface.co", "github.com",
	}
	s = registryRE.ReplaceAllStringFunc(s, func(m string) string {
		if host, _, _ := strings.Cut(m, "/"); slices.Contains(public, host) {
			return m
		}
		return "(registry)/"
	})
	s = shortRE.ReplaceAllString(s, "(registry)/${1}")
	s = internalRE.ReplaceAllString(s, "(host)")
	return privateRE.ReplaceAllString(s, "(address)")
}

var (
	// A path from the root or a home folder, of two names at least, where a word may begin; a workload such as
	// 128/128/1 is none.
	pathRE    = lazyregexp.New(`(^|[\s"'=:(>,;|\[])((?:~|/[\w.@+~-]+)(?:/[\w.@+~-]+)+/?)`)
	windowsRE = lazyregexp.New(`\b[A-Za-z]:\\(?:[\w.@+~ -]+\\)+[\w.@+~-]*|\\{2,4}[\w.$-]+\\{1,2}[\w.$@+~\\-]*`)
	macRE     = lazyregexp.New(`\b[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}\b`)
	ipv6RE    = lazyregexp.New(`\[?[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}\]?`)
	urlRE     = lazyregexp.New(`\b(?:https?|grpc|ssh|s3|gs|nfs)://[^\s"'<>&|\\]+`)
	// pass@1 and pass@k are metrics.
	userRE = lazyregexp.New(`\b[\w.+-]+@[A-Za-z]\w*[.-][\w.-]*\w`)
	// Of an image, with the teams and projects within it.
	registryRE = lazyregexp.New(
		`(?:\b(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}(?::\d+)?|\b\d+(?:\.\d+){3}:\d+|\[[0-9A-Fa-f:]{3,}\](?::\d+)?)` +
			`/(?:[\w-][\w.-]*/)*`)
	shortRE = lazyregexp.New(`\b[A-Za-z][A-Za-z0-9-]*:\d{2,5}/(?:[\w-][\w.-]*/)*([A-Za-z])`)
	// Names that only a network of somebody's own has.
	internalRE = lazyregexp.New(`(?i)\b[a-z0-9][\w-]*(?:\.[\w-]+)*\.` +
		`(?:internal|local|lan|corp|intranet|localdomain|private|home)\b(?::\d+)?`)
	// As a change states it.
	hostRE = lazyregexp.New(`\bhost \S+ → [^\s,:]+`)
	// Versions have four parts too.
	privateRE = lazyregexp.New(
		`\b(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}(?:\.\d{1,3})?(?::\d+)?\b` +
			`|\b\d{1,3}(?:\.\d{1,3}){3}:\d{2,5}\b|\[[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}\](?::\d+)?`)
)

func (b *builder) releases() error {
	r := b.report
	var notes []render.Note // a card says what people wrote about the release that its change began in
	for i := range r.Releases {
		name, after := r.Releases[i].Name, ""
		notes = append(notes, r.NotesOf(name)...)
		if i+1 < len(r.Releases) {
			after = r.Releases[i+1].Name // its page links to it
		}
		made := b.made("release", name, after, b.digests[i], fmt.Sprintf("%+v", notes))
		kept, err := b.unit(stepReleases, "release "+name, made, func(p *part) (any, error) {
			if err := b.release(p, i); err != nil {
				return nil, err
			}
			return r.Gate.Results(i), nil
		})
		if err != nil {
			return err
		}
		if kept == nil {
			continue
		}
		var d render.Results
		if err := json.Unmarshal(kept, &d); err != nil {
			return fmt.Errorf("facts of %s in the site's record: %w", name, err)
		}
		r.Gate.Know(i, d)
	}
	return nil
}

// release makes the data, the reports and the page of a release, beside each other. The verdicts of a release are the
// largest thing that a build holds, so that the next one is judged when they are let go of.
func (b *builder) release(p *part, i int) error {
	r := b.report
	r.Gate.Findings(i)         // all parts need them
	if i+1 < len(r.Releases) { // the pages of models and devices need those of the last
		defer r.Gate.Forget(i)
	}
	parts := []func() error{
		func() error { // as Compare and the drawer read the numbers
			name := r.Releases[i].Name
			return p.shard(render.ReleaseShardPath(name), "release "+name, view(b, r.ReleaseSeries(i)))
		},
		func() error { return csvFile(p, r.DataPath(i, "scores"), rows.Scores(r, i)) },
		func() error { return csvFile(p, r.DataPath(i, "verdicts"), rows.Verdicts(r, i)) },
		func() error { return b.releaseReports(p, i) },
		func() error { return p.page(r.ReleasePage(i)) },
	}
	return each(len(parts), func(k int) error { return parts[k]() })
}

// releaseReports writes the points of a release, and its reports.
func (b *builder) releaseReports(p *part, i int) error {
	r := b.report
	name := r.Releases[i].Name
	points, err := view(b, rows.Points(r, i)).CSV()
	if err != nil {
		return err
	}
	if err := p.data(r.DataPath(i, "points"), points); err != nil {
		return err
	}
	if err := p.markdown(render.ReleaseReportPath(name), r.ReleaseReport(i, r.Gate.Review(i, "", ""))); err != nil {
		return err
	}
	if !r.HasReport(i) {
		return nil
	}
	for _, pair := range r.PairsOf(i) {
		if err := p.markdown(render.ReportPath(name, pair.Model, pair.Device), r.PairReport(i, pair)); err != nil {
			return err
		}
	}
	return nil
}
