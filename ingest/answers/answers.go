package answers

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Item is one item as it was asked and answered; a text that a file does not have is "".
type Item struct{ Question, Reference, Answer string }

// Read reads the items of a task with these ids from the files at a path, or in the folder there.
func Read(name, task string, ids map[string]bool) (map[string]Item, error) {
	out := map[string]Item{}
	err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(filepath.Ext(path), ".json") {
			return err
		}
		return readFile(path, task, ids, out)
	})
	return out, err
}

func readFile(path, task string, ids map[string]bool, out map[string]Item) error {
	h, err := os.Open(path)
	if err != nil {
		return err
	}
	defer h.Close() // it is only read
	info, err := h.Stat()
	if err != nil {
		return err
	}
	f, err := decode.Read(path, h, info.Size(), info.ModTime(), decode.DefaultLimits())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	add := func(id string, x Item) {
		if _, has := out[id]; ids[id] && !has {
			out[id] = x
		}
	}
	if f.First.At("eval", "task").Str() == task {
		for v := range f.First.Get("samples").Items() {
			add(v.Get("id").Text(), Item{said(v.Get("input")), said(v.Get("target")), said(v.At("output", "completion"))})
		}
	}
	if !strings.HasPrefix(filepath.Base(path), "samples_"+task+"_") {
		return nil
	}
	for v := range f.Values() {
		if v.Get("doc_id").Kind() == decode.Number {
			question := cmp.Or(said(v.At("arguments", "gen_args_0", "arg_0")), said(v.Get("arguments").Index(0).Index(0)))
			add(v.Get("doc_id").Text(), Item{question, said(v.Get("target")), said(v.Get("filtered_resps"))})
		}
	}
	return nil
}

// said is a value as a text: of a list of messages what was said last, of a list of one what it holds.
func said(v decode.Value) string {
	if content := v.Get("content"); content.Kind() > decode.Null {
		return said(content)
	}
	if n := v.Len(); v.Kind() == decode.Array && n > 0 && (n == 1 || v.Index(n-1).Has("content")) {
		return said(v.Index(n - 1))
	}
	return cmp.Or(v.Text(), string(v.Raw()))
}
