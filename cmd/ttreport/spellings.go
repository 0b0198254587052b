package main

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/ttreport/ttreport/ingest/schema"
)

// spelling is two names under which one model or device may have been measured.
type spelling struct{ fact, a, b string }

// spellings lists names that may be of one model, which differ in case or punctuation alone, or of one device, where
// one may also be a part of the other.
func spellings(models, devices map[string]bool) (out []spelling) {
	plain := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(models)) {
		var kept strings.Builder
		for i, r := range name {
			switch {
			case unicode.IsLetter(r) || unicode.IsDigit(r):
				kept.WriteRune(unicode.ToLower(r))
			case r == '.' && i > 0 && i+1 < len(name) && unicode.IsDigit(rune(name[i-1])) && unicode.IsDigit(rune(name[i+1])):
				kept.WriteByte('.') // 1.3b is not 13b
			}
		}
		letters := kept.String()
		if first, has := plain[letters]; has && letters != "" {
			out = append(out, spelling{"model", first, name})
			continue
		}
		plain[letters] = name
	}
	names := slices.Sorted(maps.Keys(devices))
	for i, b := range names {
		isOne := func(a string) bool { return !schema.SameDevice(a, b) && schema.IsDeviceWithin(a, b) }
		if first := slices.IndexFunc(names[:i], isOne); first >= 0 {
			out = append(out, spelling{"device", names[first], b})
		}
	}
	return out
}

const codeSpellings = "two-spellings"
