package schema

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// FoldDevice returns the form in which device names are compared: trimmed, in lower case. People and tools write one
// device as "N150", "n150" or " N150 ".
func FoldDevice(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// SameDevice reports whether two names are of one device.
func SameDevice(a, b string) bool { return FoldDevice(a) == FoldDevice(b) }

// IsDeviceWithin reports that one name of a device is a part of the other, and names its model number: "h100" and
// "NVIDIA H100 80GB HBM3". What tells devices of one number apart (Ti, Max, a size that differs) is no such part.
func IsDeviceWithin(a, b string) bool {
	short, long := deviceWords(a), deviceWords(b)
	if len(short) > len(long) {
		short, long = long, short
	}
	has := false
	for _, w := range short {
		if !slices.Contains(long, w) {
			return false
		}
		has = has || strings.ContainsAny(w, "0123456789") && !deviceMemory.MatchString(w)
	}
	for _, w := range long {
		if !slices.Contains(short, w) && strings.Contains(deviceVariants, " "+w+" ") {
			return false
		}
	}
	return has
}

// deviceMemory matches the size of a memory, which is no model number.
var deviceMemory = regexp.MustCompile(`^\d+(?:g|gb|gib)$|^hbm\d\w*$|^gddr\d\w*$`)

// deviceVariants are words that make another device of one model number.
const deviceVariants = " ti super laptop mobile max pro ultra mini d xt xtx gre ada "

// deviceWords splits a name at whatever is no letter and no digit.
func deviceWords(name string) []string {
	return strings.FieldsFunc(FoldDevice(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
