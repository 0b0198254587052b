package schema

import (
	"cmp"
	"strconv"
	"strings"
)

// NaturalCompare orders names as people do, v0.9.0 before v0.10.0: -1, 0 or 1; 0 for equal names only.
func NaturalCompare(a, b string) int {
	whole, other := a, b
	for a != "" && b != "" {
		na, ra := leadingNumber(a)
		nb, rb := leadingNumber(b)
		if na >= 0 && nb >= 0 {
			if na != nb {
				return cmp.Compare(na, nb)
			}
			a, b = ra, rb
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(whole, other))
}

func leadingNumber(s string) (int, string) {
	end := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if end == 0 || end > 15 {
		return -1, s
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil {
		return -1, s
	}
	return n, s[end:]
}
