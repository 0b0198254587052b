package schema

import "strings"

// FoldDevice is the form under which names of devices are compared: without spaces around it, in lower case. People and
// tools write one device as "N150", "n150" and "Simulated".
func FoldDevice(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// SameDevice reports that two names are of one device.
func SameDevice(a, b string) bool { return FoldDevice(a) == FoldDevice(b) }
