package main

import "testing"

// Names that differ in case or punctuation may be one; a point between digits is part of a size.
func TestSpellings(t *testing.T) {
	got := spellings(map[string]bool{
		"opt-1.3b": true, "opt-13b": true, "Qwen3_8B": true, "qwen3-8b": true, "Llama-3.1": true, "llama3.1": true,
	}, nil)
	if len(got) != 2 || got[0].a != "Llama-3.1" || got[1].a != "Qwen3_8B" {
		t.Errorf("%+v", got)
	}
}
