package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// planted are secrets in the shapes that they take in real files; every one of them contains the mark.
const mark = "PLANTED"

var planted = struct{ key, bearer, url, home, flag, env string }{
	key:    `hf_` + mark + `abcdefghij1234`,
	bearer: `Authorization: Bearer ` + mark + `abcdef123456`,
	url:    `https://user:` + mark + `pass@host.example/v1`,
	home:   `/home/` + mark + `user/models/tiny`,
	flag:   `tool run --api-key ` + mark + `secret99 --header X-Auth-Token=` + mark + `x1y2z3`,
	env:    `OPENAI_API_KEY=` + mark + `sekrit9 HF_TOKEN=` + mark + `tok123`,
}

// leaky is a result of every format with secrets wherever it has room for text.
func leaky(t *testing.T) map[string]string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "leaky.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	secrets := strings.NewReplacer("{KEY}", planted.key, "{BEARER}", planted.bearer, "{URL}", planted.url,
		"{HOME}", planted.home, "{FLAG}", planted.flag, "{ENV}", planted.env, "{MARK}", mark)
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = secrets.Replace(string(f.Data))
	}
	return files
}

// No secret, no prompt, no answer and no home folder reaches history or the site, from any format.
func TestSecretsStayOut(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	files := leaky(t)
	t.Chdir(t.TempDir())
	out, said := buildOf(t, files)
	var listing, errs bytes.Buffer
	if code := run(context.Background(), []string{"inspect", "--json", "in"}, nil, &listing, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	for name, text := range map[string]string{"output": out, "messages": said + errs.String(),
		"inspect": listing.String()} {
		leak(t, name, text)
	}
	read := leakInFolders(t, "history", "_site", filepath.Join(os.Getenv("XDG_CACHE_HOME"), "ttreport"))
	var seen struct {
		Files []struct {
			Path, Format   string
			PartOf         string `json:"part_of"`
			Points, Scores int
		}
	}
	if err := json.Unmarshal(listing.Bytes(), &seen); err != nil {
		t.Fatal(err)
	}
	const noResults = "a.commands samples_t.jsonl ttreport.manifest.yaml x.json.ttreport.json u.json c.json"
	formats := map[string]bool{}
	for _, f := range seen.Files {
		if f.Points+f.Scores > 0 {
			formats[f.Format] = true
		} else if !strings.Contains(noResults, filepath.Base(f.Path)) {
			t.Errorf("%s (%s, part of %q) gave no result: the test does not cover it", f.Path, f.Format, f.PartOf)
		}
	}
	if read < 60 || len(formats) < 18 {
		t.Errorf("only %d files and %d formats: the test saw too little", read, len(formats))
	}
}

// leakInFolders looks for secrets in the names and contents of files, and returns how many there are.
func leakInFolders(t *testing.T, roots ...string) (read int) {
	t.Helper()
	for _, root := range roots {
		err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := os.ReadFile(name)
			leak(t, name, name+" "+string(data))
			read++
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return read
}

func leak(t *testing.T, name, text string) {
	t.Helper()
	for rest := text; ; {
		i := strings.Index(rest, mark)
		if i < 0 {
			return
		}
		t.Errorf("%s: …%s…", name, rest[max(0, i-80):min(len(rest), i+40)])
		if rest = rest[i+len(mark):]; t.Failed() && strings.Count(rest, mark) > 20 {
			return
		}
	}
}
