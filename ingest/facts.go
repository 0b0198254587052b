package ingest

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// sayFacts is the format of a JSON file that states facts of its folder, where a manifest says which; see
// [manifest.Manifest.FactsFrom].
const sayFacts = "facts"

// namesFact is a member of a JSON file that states who was measured.
var namesFact = lazyregexp.New(`(?i)"(?:model|device|hardware|gpu|accelerator)\w*"\s*:`)

// mostFacts is how much of such files is kept of one archive, which may hold a thousand times what it takes on disk.
const mostFacts = 4 << 20

// maySayFacts reports a small JSON file without results that may state facts of the results in its folder.
func maySayFacts(f *decode.File, sources []*source) bool {
	const most = 16 << 10
	return f.Form == decode.JSON && len(f.Data) <= most && len(sources) == 1 && sources[0].reading.Format == NotResult &&
		namesFact.Match(f.Data)
}

// factsText is the content of a file that may state facts, or does; nil for any other.
func (s *source) factsText() []byte {
	if s.reading.Format == NotResult || s.reading.Format == sayFacts {
		return s.file.Data
	}
	return nil
}

// factsFiles are the files that may state facts, by their path.
func factsFiles(sources []*source) map[string]*source {
	out := map[string]*source{}
	for _, src := range sources {
		if src.factsText() != nil {
			out[src.shown()] = src
		}
	}
	return out
}

// addFacts takes what the files that a manifest names state of a result: the nearest of each name, not above the
// manifest.
func (r *result) addFacts(m placedManifest, side *sideFiles, uses patternUses, add func(statement)) {
	for _, name := range slices.Sorted(maps.Keys(m.FactsFrom)) {
		for dir := range foldersOf(r.shown()) {
			if src := side.facts[path.Join(dir, name)]; src != nil {
				facts, tool, w, missing := manifest.ReadFacts(src.file.Data, m.FactsFrom[name])
				for fact := range m.FactsFrom[name] {
					if !slices.Contains(missing, fact) {
						uses[useOfFact(m.dir, name, fact)]++
					}
				}
				src.reading.Format, src.reading.Detail = sayFacts, "of "+dir
				add(statement{from: schema.FromManifest, where: src.shown(), facts: &facts, tool: tool, workload: w, isQuiet: true})
				break
			}
			if dir == m.dir {
				break
			}
		}
	}
}

// useOfFact is the entry in patternUses of a fact that a manifest reads from files.
func useOfFact(dir, file, fact string) string { return fmt.Sprintln("facts_from", dir, file, fact) }

// uselessFacts are the problems of facts that a manifest with results below it reads from files that are not there, or
// that do not have them.
func (u patternUses) uselessFacts(dir string, m manifest.Manifest, side *sideFiles) (out []schema.Problem) {
	files := slices.Collect(maps.Values(side.facts))
	for _, name := range slices.Sorted(maps.Keys(m.FactsFrom)) {
		isThere := func(s *source) bool { return path.Base(s.shown()) == name && s.isBelow(dir) }
		p := schema.Problem{
			Severity: schema.SevError, Path: path.Join(dir, manifest.FileName), Code: CodePattern, Used: "nothing of it",
			Found:    "facts_from: no JSON file with a model or a device is named " + name,
			Expected: "such a file in a folder with results, or in one above them",
			Hint:     "ttreport inspect lists the files that are there",
		}
		if !slices.ContainsFunc(files, isThere) {
			out = append(out, p)
			continue
		}
		for _, fact := range slices.Sorted(maps.Keys(m.FactsFrom[name])) {
			if u[useOfFact(dir, name, fact)] == 0 {
				p.Found = fmt.Sprintf("facts_from: %s states no %s at %s", name, fact, m.FactsFrom[name][fact])
				p.Expected, p.Hint = "a path of keys joined by dots, such as hardware.gpu", "correct it, or leave it out"
				out = append(out, p)
			}
		}
	}
	return out
}
