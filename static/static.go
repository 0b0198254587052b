// Package static holds the embedded assets of a site: style sheet, scripts, and ECharts' built file with its licence,
// which echarts.sh takes from its npm package. Package site copies the files. The package must not import any other
// package of ours.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"strings"
	"sync"
)

// EChartsVersion is the version that echarts.sh pins.
const EChartsVersion = "6.1.0"

//go:embed assets
var files embed.FS

// Files returns the assets as they are embedded, by name.
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

// Assets returns the content of all assets, which nobody may change, by the names that they have in a site. ECharts is
// embedded packed, which makes the program half a megabyte smaller, and is unpacked once.
func Assets() (map[string][]byte, error) {
	all, err := assets()
	return maps.Clone(all), err
}

var assets = sync.OnceValues(func() (map[string][]byte, error) {
	out := map[string][]byte{}
	list, err := fs.ReadDir(Files(), ".")
	for _, e := range list {
		b, err := fs.ReadFile(Files(), e.Name())
		name, isPacked := strings.CutSuffix(e.Name(), ".gz")
		if err == nil && isPacked {
			var r *gzip.Reader
			if r, err = gzip.NewReader(bytes.NewReader(b)); err == nil {
				b, err = io.ReadAll(r)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("asset %s: %w", name, err)
		}
		out[name] = b
	}
	return out, err
})
