// Package static holds the embedded assets of a site: style sheet, scripts, and ECharts' built file with its licence,
// which echarts.sh takes from its npm package. Package site copies the files. The package must not import any other
// package of ours.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
)

// EChartsVersion is the version that echarts.sh pins.
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

// Print returns eight hex digits of the hash of some content, for addresses that change with the content.
func Print(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:4])
}

// Fingerprints returns Print of each asset.
func Fingerprints() (map[string]string, error) {
	out := map[string]string{}
	list, err := fs.ReadDir(Files(), ".")
	for _, e := range list {
		b, err := fs.ReadFile(Files(), e.Name())
		if err != nil {
			return nil, fmt.Errorf("asset %s: %w", e.Name(), err)
		}
		out[e.Name()] = Print(b)
	}
	return out, err
}
