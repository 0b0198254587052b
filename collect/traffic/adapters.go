package traffic

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
)

// Adapters are LoRA adapters of the served model, one of which each request names in the model's place. The zero value
// is none.
type Adapters struct {
	Names []string // in the order that they were stated
	pick  string   // "" for each in turn
}

// How the adapter of a request is chosen: with equal chances, or by Zipf's law with exponent 1, the first named most
// often. Without one of these, each has its turn.
const (
	pickRandom = "random"
	pickZipf   = "zipf"
)

// ParseAdapters reads names, as "a+b+c", "random(a+b+c)" or "zipf(a+b+c)".
func ParseAdapters(text string) (a Adapters, err error) {
	list := text
	if name, rest, is := strings.Cut(text, "("); is && strings.HasSuffix(rest, ")") {
		a.pick, list = name, strings.TrimSuffix(rest, ")")
	}
	a.Names = strings.Split(list, "+")
	sorted := slices.Sorted(slices.Values(a.Names))
	known := slices.Contains([]string{"", pickRandom, pickZipf}, a.pick) && !strings.ContainsAny(list, "()")
	if !known || sorted[0] == "" || len(slices.Compact(sorted)) < len(a.Names) {
		return Adapters{}, errors.New("expected names of adapters that the server has, as lora=a+b, lora=random(a+b) or " +
			"lora=zipf(a+b)")
	}
	return a, nil
}

// String is the text that ParseAdapters reads.
func (a Adapters) String() string {
	list := strings.Join(a.Names, "+")
	if a.pick == "" {
		return list
	}
	return a.pick + "(" + list + ")"
}

// of is the adapter of request i.
func (a Adapters) of(i int, rng *rand.Rand) string {
	n := len(a.Names)
	switch {
	case n == 0:
		return ""
	case a.pick == pickRandom:
		return a.Names[rng.IntN(n)]
	case a.pick == pickZipf:
		sum := 0.
		for k := range n {
			sum += 1 / float64(k+1)
		}
		at := rng.Float64() * sum
		for k := range n {
			if at -= 1 / float64(k+1); at < 0 {
				return a.Names[k]
			}
		}
		return a.Names[n-1]
	}
	return a.Names[i%n]
}
