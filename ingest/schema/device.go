package schema

import "strings"

// FoldDevice returns the form in which device names are compared: trimmed, in lower case. People and tools write one
// device as "N150", "n150" or " N150 ".
func FoldDevice(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// SameDevice reports whether two names are of one device.
func SameDevice(a, b string) bool { return FoldDevice(a) == FoldDevice(b) }
