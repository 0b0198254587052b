package render

import (
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// Addresses of pages, relative to the site's root. They are permalinks: they depend on names alone.

// ReleasePath is the page of a release or build.
func ReleasePath(name string) Address {
	return Address("releases/" + schema.Slug(name) + "/index.html")
}

// PairPath is the page of a model on a device.
func PairPath(model, device string) Address {
	return Address("models/" + schema.Slug(model) + "/" + schema.Slug(device) + "/index.html")
}

// RunPath is the page of a run.
func RunPath(id string) Address { return Address("runs/" + schema.Slug(id) + "/index.html") }

// ReportPath is the markdown report of a model and device in a release.
func ReportPath(release, model, device string) Address {
	return Address("reports/" + schema.Slug(release) + "/" + schema.Slug(model) + "_" + schema.Slug(device) + ".md")
}

// ExploreShardPath is the script with all series.
const ExploreShardPath Address = "data/shards/explore.js"

// ReleaseShardPath is the script with the series of a release.
func ReleaseShardPath(release string) Address {
	return Address("data/shards/releases/" + schema.Slug(release) + ".js")
}

// ReleaseReportPath is the markdown report of a whole release.
func ReleaseReportPath(release string) Address {
	return Address("reports/" + schema.Slug(release) + "/release.md")
}

// DataPath is a CSV file of a release: points, scores or verdicts.
func DataPath(release, kind string) Address {
	return Address("data/" + kind + "/" + schema.Slug(release) + ".csv")
}

// allIn says which file of a release has all rows of a table of points or scores.
func allIn(release, kind string) string { return string(DataPath(release, kind)) + " has all rows" }

// allVerdicts says where the verdicts of a release are that a table leaves out. The file has those that show
// something: see package tabular.
func allVerdicts(release string) string {
	return string(DataPath(release, "verdicts")) + " has all but what is unchanged or not compared, and " +
		"ttreport check --all --release " + release + " all"
}

// moment is a date with its time; midnight to the second is a date that nobody gave a time.
func moment(t time.Time) string {
	switch t = t.UTC(); {
	case t.IsZero():
		return "unknown"
	case t.Equal(t.Truncate(24 * time.Hour)):
		return t.Format(time.DateOnly)
	}
	return t.Format("2006-01-02 15:04") + words.Thin + "UTC"
}

// day is a date as people write it.
func day(t time.Time) string {
	if t.IsZero() {
		return "date unknown"
	}
	return t.UTC().Format("2 January 2006")
}
