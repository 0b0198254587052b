package render

import (
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Addresses of pages, relative to the site's root. They are permalinks: they depend on names alone.

// ReleasePath is the page of a release or build.
func ReleasePath(name string) string { return "releases/" + schema.Slug(name) + "/index.html" }

// PairPath is the page of a model on a device.
func PairPath(model, device string) string {
	return "models/" + schema.Slug(model) + "/" + schema.Slug(device) + "/index.html"
}

// RunPath is the page of a run.
func RunPath(id string) string { return "runs/" + schema.Slug(id) + "/index.html" }

// ReportPath is the markdown report of a pair in a release.
func ReportPath(release, model, device string) string {
	return "reports/" + schema.Slug(release) + "/" + schema.Slug(model) + "_" + schema.Slug(device) + ".md"
}

// ShardPath is the script with the chart data of a pair.
func ShardPath(model, device string) string {
	return "models/" + schema.Slug(model) + "/" + schema.Slug(device) + "/charts.js"
}

// ReleaseReportPath is the markdown report of a whole release.
func ReleaseReportPath(release string) string {
	return "reports/" + schema.Slug(release) + "/release.md"
}

// DataPath is a CSV file of a release: points, scores or verdicts.
func DataPath(release, kind string) string {
	return "data/" + kind + "/" + schema.Slug(release) + ".csv"
}

// day is a date as people write it.
func day(t time.Time) string {
	if t.IsZero() {
		return "date unknown"
	}
	return t.UTC().Format("2 January 2006")
}
