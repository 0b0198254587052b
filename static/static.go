// Package static holds the embedded assets of a site: style sheet, script, and ECharts' built file with its licence,
// which echarts.sh brings from its npm package. It is a leaf: the site copies the files, and nothing else looks into
// them.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
)

// EChartsVersion is the version that echarts.sh fixes.
const EChartsVersion = "6.1.0"

//go:embed assets
var files embed.FS

// Files returns the assets by name.
func Files() fs.FS {
	f, err := fs.Sub(files, "assets")
	if err != nil {
		panic(err) // the folder is embedded above: it cannot be missing
	}
	return f
}

// Print is eight hex digits of some content, for addresses that change when it does.
func Print(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:4])
}

// Fingerprint is Print of an asset.
func Fingerprint(name string) (string, error) {
	b, err := fs.ReadFile(Files(), name)
	if err != nil {
		return "", fmt.Errorf("asset %s: %w", name, err)
	}
	return Print(b), nil
}
