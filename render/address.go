package render

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
)

// Addresses of pages, relative to the site's root. They are permalinks: they depend on names alone, so that no release,
// model or run that arrives later changes one. This file is the one home of how names become paths.

// segment is the part of a path for a name. Two names have two, also where a file system does not tell capitals from
// small letters, and each can be a file everywhere: a name of small letters, digits, dots, hyphens and underscores
// that is no device of Windows is its own; to what is left of any other a tilde and eight hex digits of its SHA-256
// are added. Nothing else has a tilde. Ids of runs begin with a time, whose T and Z count as small. No name is
// "unknown", nor "index.html", which is a file in the same folder.
func segment(name string) string {
	if name == "" {
		return "unknown"
	}
	slug, folded := schema.Slug(name), strings.ToLower(name)
	if t := timeRE.FindString(folded); t != "" {
		folded = strings.ToUpper(t) + folded[len(t):]
	}
	if slug == name && name == folded && name != "unknown" && name != "index.html" {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	hash := hex.EncodeToString(sum[:4])
	if slug != name { // its end is that of the hash already
		slug = strings.TrimSuffix(strings.TrimSuffix(slug, hash[:4]), "-")
	}
	return cmp.Or(slug, "name") + "~" + hash
}

var timeRE = lazyregexp.New(`^\d{8}t\d{6}z-`)

// pairSegment is that of a model on a device in one name. The last underscore parts the two, so a device with one is
// marked.
func pairSegment(model, device string) string {
	a, b := segment(model), segment(device)
	if strings.Contains(b, "_") {
		sum := sha256.Sum256([]byte(model + "\x00" + device))
		b += "~" + hex.EncodeToString(sum[:4])
	}
	return a + "_" + b
}

// ReleasePath is the page of a release or build.
func ReleasePath(name string) Address {
	return Address("releases/" + segment(name) + "/index.html")
}

// PairPath is the page of a model on a device.
func PairPath(model, device string) Address {
	return Address("models/" + segment(model) + "/" + segment(device) + "/index.html")
}

// ModelPath is the page of a model on all its devices.
func ModelPath(model string) Address { return Address("models/" + segment(model) + "/index.html") }

// RunsPath is the page that shows any run.
const RunsPath Address = "runs/index.html"

// RunName is a run in an address.
func RunName(id string) string { return segment(id) }

// RunPath is the address of a run: the part after # names it.
func RunPath(id string) Address { return RunsPath + "#" + Address(RunName(id)) }

// numberPath is the address of a number, counted from 1: a metric of a point of a run, p, or a score, e. Every page
// opens what is behind it. A statistic may follow: …/p3/ttft/p99.
func numberPath(id string, kind byte, n int, metric string) Address {
	return RunPath(id) + Address(fmt.Sprintf("/%c%d/%s", kind, n, url.PathEscape(metric)))
}

// RunIndexPath is the script that says in which script the details of a run are.
const RunIndexPath Address = "data/shards/runs.js"

// RunShardPath is a script with details of runs of a release; part counts from 0.
func RunShardPath(release string, part int) Address {
	name := segment(release)
	if part > 0 {
		name += fmt.Sprintf("~%d", part+1)
	}
	return Address("data/shards/runs/" + name + ".js")
}

// ReportPath is the markdown report of a model and device in a release.
func ReportPath(release, model, device string) Address {
	return Address("reports/" + segment(release) + "/" + pairSegment(model, device) + ".md")
}

// ExploreShardPath is the script with all series.
const ExploreShardPath Address = "data/shards/explore.js"

// SearchShardPath is the script with what can be searched for.
const SearchShardPath Address = "data/shards/search.js"

// ReleaseShardPath is the script with the series of a release.
func ReleaseShardPath(release string) Address {
	return Address("data/shards/releases/" + segment(release) + ".js")
}

// ReleaseReportPath is the markdown report of a whole release.
func ReleaseReportPath(release string) Address {
	return Address("reports/" + segment(release) + "/release.md")
}

// largeData is how many points and scores a release may have before its CSV files are compressed: half a megabyte for
// points, one and a half for verdicts.
const largeData = 1000

// DataPath is a CSV file of a release: points, scores or verdicts. Those of a large release are compressed with gzip.
func (r *Report) DataPath(release int, kind string) Address {
	path := Address("data/" + kind + "/" + segment(r.Releases[release].Name) + ".csv")
	rows := 0
	for _, run := range r.Releases[release].Runs {
		h := &r.Columns.Runs[run]
		rows += h.PointsEnd - h.FirstPoint + h.Scores
	}
	if rows > largeData {
		path += ".gz"
	}
	return path
}

// dataLink is a CSV file of a release by its name.
func (r *Report) dataLink(release int, kind string) Link {
	at := r.DataPath(release, kind)
	return Link{kind + strings.TrimPrefix(path.Base(string(at)), segment(r.Releases[release].Name)), at}
}

// allIn says which file of a release has all rows of a table of points or scores.
func (r *Report) allIn(release int, kind string) string {
	return string(r.DataPath(release, kind)) + " has all rows"
}

// allVerdicts says where the verdicts of a release are that a table leaves out. The file has those that show
// something: see package tabular.
func (r *Report) allVerdicts(release int) string {
	return string(r.DataPath(release, "verdicts")) +
		" has all but what is unchanged, not compared, or inconclusive below the limit; ttreport check --all --release " +
		r.Releases[release].Name + " has all"
}
