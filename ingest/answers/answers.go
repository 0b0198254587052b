// Package answers reads what was asked in the items of an eval, and what a model said.
//
// In: the files in which lm-eval writes its samples (samples_TASK_*.jsonl) and logs of Inspect in JSON, and ids of
// items. Out: texts by id. Texts are never stored: questions may be licensed, and answers may hold anything. The
// package must not know scores, runs or who is better.
package answers

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ttreport/ttreport/ingest/lmeval"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Item is one item as it was asked and answered; a text that a file does not have is "".
type Item struct{ Question, Reference, Answer string }

// ID names an item of a task.
type ID struct{ Task, Item string }

// Read reads items from the files at a path, or in the folder there.
func Read(name string, wanted map[ID]bool) (map[ID]Item, error) {
	out := map[ID]Item{}
	err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(filepath.Ext(path), ".json") {
			return err
		}
		return readFile(path, func(task string, item, question, reference, answer decode.Value) {
			id := ID{task, item.Text()}
			if _, has := out[id]; wanted[id] && !has {
				out[id] = Item{said(question), said(reference), said(answer)}
			}
		})
	})
	return out, err
}

// readFile calls add for each item of a file.
func readFile(path string, add func(task string, item, question, reference, answer decode.Value)) error {
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
	task := f.First.At("eval", "task").Str()
	for v := range f.First.Get("samples").Items() {
		add(task, v.Get("id"), v.Get("input"), v.Get("target"), v.At("output", "completion"))
	}
	task = lmeval.TaskOf(path)
	for v := range f.Values() {
		if v.Get("doc_id").Kind() == decode.Number {
			question := v.At("arguments", "gen_args_0", "arg_0")
			if question.Kind() == decode.Invalid {
				question = v.Get("arguments").Index(0).Index(0)
			}
			add(task, v.Get("doc_id"), question, v.Get("target"), v.Get("filtered_resps"))
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
