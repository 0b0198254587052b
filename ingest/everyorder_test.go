package ingest_test

import (
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest"
)

// idHash is the end of an id that is derived: it depends on the folder that was read first.
var idHash = regexp.MustCompile(`(\d{8}T\d{6}Z|undated)-[0-9a-f]{8}`)

// orderless are documents as one text, whatever their ids.
func orderless(documents string) string {
	list := strings.Split(idHash.ReplaceAllString(documents, "$1-"), "\n/")
	slices.Sort(list)
	return strings.Join(list, "\n/")
}

// A tree that is read file by file, in any order, gives the documents of the tree that is read at once; so does reading
// its folders and then the whole again.
func TestEveryOrder(t *testing.T) {
	const tree = "../testdata/recorded"
	var files, folders []string
	err := filepath.WalkDir(tree, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			folders = append(folders, name)
		} else if err == nil {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, want := into(t, t.TempDir(), ingest.Options{}, tree)
	want = orderless(want)
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 0))
		random.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		random.Shuffle(len(folders), func(i, j int) { folders[i], folders[j] = folders[j], folders[i] })
		for what, list := range map[string][]string{"files": files, "folders": folders} {
			history := t.TempDir()
			var now string
			for _, name := range list {
				_, now = into(t, history, ingest.Options{}, name)
			}
			if now = orderless(now); now != want {
				t.Fatalf("order %d of %s: %s", seed, what, firstDifference(now, want))
			}
			if got, again := into(t, history, ingest.Options{}, tree); got.Written != 0 || orderless(again) != want {
				t.Fatalf("order %d of %s, then the tree: %d written: %s", seed, what, got.Written,
					firstDifference(orderless(again), want))
			}
		}
	}
}
