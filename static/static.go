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

// Assets returns the content of all assets by the names that they have in a site; nobody may change it. ECharts is
// embedded packed, which makes the program half a megabyte smaller, and is unpacked once.
func Assets() (map[string][]byte, error) { return assets() }

var assets = sync.OnceValues(func() (map[string][]byte, error) {
	out := map[string][]byte{}
	list, err := fs.ReadDir(Files(), ".")
	for _, e := range list {
		b, err := fs.ReadFile(Files(), e.Name())
		name, isPacked := strings.CutSuffix(e.Name(), ".gz")
		if err == nil && isPacked {
			b, err = unpacked(b)
		}
		if err != nil {
			return nil, fmt.Errorf("asset %s: %w", name, err)
		}
		out[name] = b
	}
	return out, err
})

func unpacked(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
