package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/schema"
)

// lastBuild is what a build read and wrote, kept so that a build of the same input reads nothing but sizes and times.
type lastBuild struct {
	// Stamp is the fingerprint of the input, flags, targets, notes, settings, the program, and the resulting history.
	Stamp    string
	Files    int
	Runs     int
	Problems []schema.Problem
	Out      string // where the site is
	BaseURL  string // where it will be
	Public   bool
	Site     string // fingerprint of its files
	Pages    int    // how many they are
	Headline string
}

// inputFingerprint covers everything that decides what reading the paths gives and what history has of it. ok is false
// where it cannot be told.
func inputFingerprint(ws *workspace.Workspace, paths []string, id *identity) (string, bool) {
	var roots []ingest.Root
	settings := []string{
		ws.History(), ws.Targets(), ws.Notes(), ws.Settings(), ws.Logo(), os.Getenv("OVERRIDE_BENCHMARK_TARGETS"),
	}
	for _, p := range slices.Concat(paths, settings) {
		if p == "" {
			continue
		}
		root, err := ingest.OSRoot(filepath.ToSlash(fromHere(p)))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return "", false
		}
		if slices.Contains(paths, p) {
			root.Own = ownFolders()
		}
		roots = append(roots, root)
	}
	files, _, ok := ingest.Fingerprint(roots)
	exe, err := os.Executable()
	if err != nil || !ok {
		return "", false
	}
	info, err := os.Stat(exe)
	if err != nil {
		return "", false
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "2 %q %q %+v %d %d",
		files, paths, *id, info.Size(), info.ModTime().UnixNano()))
	return hex.EncodeToString(sum[:]), true
}

func lastBuildFile(ws *workspace.Workspace) string {
	return filepath.Join(filepath.Dir(ws.Cache()), "build.json")
}

// siteFingerprint covers the files of a site.
func siteFingerprint(out string) (hash string, files int, ok bool) {
	root, err := ingest.OSRoot(filepath.ToSlash(out))
	if err != nil {
		return "", 0, false
	}
	return ingest.Fingerprint([]ingest.Root{root})
}

// unchanged returns the last build, when it read what would be read again; current reports that its site is still there
// as it was written.
func unchanged(ws *workspace.Workspace, paths []string, id *identity, o buildOptions) (
	last lastBuild, same, current bool,
) {
	data, err := os.ReadFile(lastBuildFile(ws))
	if err != nil || json.Unmarshal(data, &last) != nil || last.Stamp == "" {
		return lastBuild{}, false, false
	}
	if stamp, ok := inputFingerprint(ws, paths, id); !ok || stamp != last.Stamp {
		return lastBuild{}, false, false
	}
	if last.Out == o.out && last.BaseURL == o.baseURL && last.Public == o.public {
		hash, _, ok := siteFingerprint(o.out)
		current = ok && hash == last.Site
	}
	return last, true, current
}

// remember keeps what was read and written for the next build. That it cannot be kept costs time and nothing else.
func remember(ws *workspace.Workspace, paths []string, id *identity, r readResult, o buildOptions, pages int,
	headline string,
) {
	stamp, ok := inputFingerprint(ws, paths, id)
	hash, _, ok2 := siteFingerprint(o.out)
	if !ok || !ok2 || r.refused > 0 {
		_ = os.Remove(lastBuildFile(ws))
		return
	}
	data, err := json.Marshal(lastBuild{
		stamp, r.files, r.runs, r.problems, o.out, o.baseURL, o.public, hash, pages, headline,
	})
	if err == nil {
		_, _ = durable.WriteChanged(lastBuildFile(ws), data)
	}
}

// programStamp stands for this program, the settings of a workspace and the flags of a build: what a page is made of
// beside data. It depends on their bytes alone, so that two machines that build the same write the same. "" where it
// cannot be told.
func programStamp(ws *workspace.Workspace, o buildOptions) string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %v\n", o.baseURL, o.public)
	for _, name := range []string{exe, ws.Settings(), ws.Logo()} {
		f, err := os.Open(name)
		if name == "" || os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return ""
		}
		_, err = io.Copy(h, f)
		_ = f.Close() // only read
		if err != nil {
			return ""
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
