package redact

import (
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
)

// known are the values that [Know] was told, longest first. It is a variable of the package, which this project avoids
// elsewhere: secrets are facts of the process, and a text that is cleaned without them would leak what was meant to be
// removed.
var known atomic.Pointer[[]string]

// shortestKnown is the least length of a value that is searched for: a shorter one would be found in innocent words.
const shortestKnown = 6

// Know makes [Text] remove values wherever they appear, whatever their shape, also where they are escaped in a URL.
func Know(values ...string) {
	for {
		old := known.Load()
		var list []string
		if old != nil {
			list = slices.Clone(*old)
		}
		for _, v := range values {
			for _, form := range []string{v, url.QueryEscape(v), url.PathEscape(v)} {
				if len(form) >= shortestKnown && !strings.Contains(Mark, form) && !slices.Contains(list, form) {
					list = append(list, form)
				}
			}
		}
		slices.SortStableFunc(list, func(a, b string) int { return len(b) - len(a) })
		if known.CompareAndSwap(old, &list) {
			return
		}
	}
}

// KnowEnvironment knows the values of variables ("NAME=value") whose names are those of secrets, and the passwords of
// addresses in any variable. A value that is the path of a file is none.
func KnowEnvironment(environ []string) {
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		if u, err := url.Parse(value); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok {
				Know(password)
			}
		}
		if !IsSecretName(name) || harmless(name, value) || strings.EqualFold(value, "empty") {
			continue
		}
		if _, err := os.Stat(value); err == nil {
			continue
		}
		Know(value)
	}
}

func withoutKnown(s string) string {
	list := known.Load()
	if list == nil {
		return s
	}
	for _, v := range *list {
		if strings.Contains(s, v) {
			s = strings.ReplaceAll(s, v, Mark)
		}
	}
	return s
}
