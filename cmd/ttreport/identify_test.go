package main

import "testing"

// A folder of an owner is no model: it holds several. One of a model holds it alone.
func TestFoldersThatHoldSeveralModels(t *testing.T) {
	stated := map[string]string{
		"me/acme/llama-8b/evals/a.json": "llama-8b", "me/acme/qwen-8b/evals/a.json": "qwen-8b", "me/acme/README.md": "",
	}
	for name, want := range map[string]bool{"acme": true, "llama-8b": false, "evals": true, "gone": false} {
		if holdsSeveral(map[string]bool{name: true}, stated) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
