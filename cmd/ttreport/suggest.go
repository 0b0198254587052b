package main

import (
	"fmt"
	"strings"
)

// didYouMean names the nearest of some words, or falls back to a general hint.
func didYouMean(word string, known []string, prefix, otherwise string) string {
	best, distance := "", 3
	for _, k := range known {
		if d := editDistance(word, k); d < distance {
			best, distance = k, d
		}
		if len(word) > 2 && strings.HasPrefix(k, word) && distance > 1 {
			best, distance = k, 1
		}
	}
	if best == "" {
		return otherwise
	}
	return fmt.Sprintf("did you mean %s%s?", prefix, best)
}

// editDistance counts insertions, deletions, replacements and swaps of neighbours between two short words.
func editDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
