package schema

import "testing"

func TestNearlyNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Tiny7B", "Tiny-7B", true}, {"llama_3.1-8b", "Llama-3.1-8B", true}, {"Lama-3.1-8B", "Llama-3.1-8B", true},
		{"Lalma-3.1-8B", "Llama-3.1-8B", true}, {"Llama-3.1-8B", "Llama-3.2-8B", false},
		{"gemma-7b-it", "gemma-7b-pt", false}, {"Llama-3-8B", "Llama-3-70B", false}, {"qwen", "qwens", false},
	} {
		if got := NearlyNamed(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}
