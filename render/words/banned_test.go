package words_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Phrases that readers stumbled over are in no text of pages, help and messages; beside each is what is said instead.
func TestNoStrangePhrases(t *testing.T) {
	banned := map[string]string{
		"rare among":                  "significant among all numbers",
		"nobody has said why":         "unexplained",
		"saw it again (":              "confirmed by a re-run (first run: …)",
		"Shaded: less than what":      "Shaded: within the limit",
		"unless its row says":         "",
		"Pages that need no script":   "Browse by model and device",
		"no earlier score grades":     "nothing to compare them with",
		"or measured before have":     "expected",
		"by their own priority, else": "Required where the target file or the model's status says so",
		"One row a workload; below a": "One row per workload",
		"of ttreport check (0 pass":   "ttreport check exits 1 (fail)",
		"\"With it \"":                "Also",
	}
	root := os.DirFS("../..")
	read := 0
	err := fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "testdata" || len(path) > 1 && strings.HasPrefix(e.Name(), ".")):
			return fs.SkipDir
		case e.IsDir() || strings.HasSuffix(path, "_test.go") || path == "CHANGELOG.md" ||
			!strings.Contains(" .go .html .js .md ", " "+filepath.Ext(path)+" ") || strings.HasSuffix(path, ".min.js"):
			return nil
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		read++
		for phrase, instead := range banned {
			for i, line := range strings.Split(string(text), "\n") {
				if strings.Contains(line, phrase) && !strings.HasPrefix(strings.TrimSpace(line), "//") {
					t.Errorf("%s:%d says %q; instead: %q", path, i+1, phrase, instead)
				}
			}
		}
		return nil
	})
	if err != nil || read < 300 {
		t.Errorf("%d files read: %v", read, err)
	}
}
