package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
)

// Slug returns a name as part of a path or an address: letters, digits, dots, underscores and hyphens. A name that
// had to be changed gets four hex digits of its hash, so that two names do not share a slug; an empty one is
// "unknown".
func Slug(name string) string {
	if name == "" {
		return "unknown"
	}
	var b strings.Builder
	changed := false
	for _, c := range name {
		if plainName(string(c), 1, "_-") || c == '.' && b.Len() > 0 {
			b.WriteRune(c)
			continue
		}
		changed = true
		if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
			b.WriteByte('-')
		}
	}
	s := strings.Trim(b.String(), "-")
	if len(s) > 100 {
		s, changed = s[:100], true
	}
	if windowsDevice.MatchString(s) {
		s = "_" + s
	}
	if changed || s == "" || s != name || strings.HasSuffix(s, ".") {
		sum := sha256.Sum256([]byte(name))
		s = strings.TrimPrefix(s+"-"+hex.EncodeToString(sum[:2]), "-")
	}
	return s
}

// windowsDevice matches names that are devices on Windows, with any suffix: a repository with such a file cannot be
// checked out there.
var windowsDevice = lazyregexp.New(`(?i)^(con|prn|aux|nul|(com|lpt)[1-9])(\.|$)`)
