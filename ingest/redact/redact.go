package redact

import (
	"strings"
)

// Mark replaces a secret.
const Mark = "[redacted]"

// longest is the most bytes of a text that are kept: no name or command is that long.
const longest = 16 << 10

// Text returns s without secrets, without the values that [Know] was told, and without the names of home folders. It is
// idempotent.
func Text(s string) string {
	if len(s) > longest {
		s = s[:longest] + "…"
	}
	s = withoutKnown(s)
	for range rounds {
		clean := scan(s)
		if clean == s {
			break
		}
		s = clean
	}
	return s
}

// rounds is how often a text is gone through: what stood beside a secret may be one in its new place.
const rounds = 8

// Field returns the value of a named field without secrets: none of it if the name is that of a secret.
func Field(name, value string) string {
	if value != "" && IsSecretName(name) && !harmless(name, value) {
		return Mark
	}
	return Text(value)
}

// Argv returns a command line without secrets. In addition to what [Text] finds, the whole argument after a flag with
// a secret's name is removed, and the value of an authorisation header.
func Argv(argv []string) []string {
	out := make([]string, len(argv))
	inPEM := false
	for i, a := range argv {
		out[i] = Text(a)
		if inPEM || strings.Contains(a, "-----BEGIN") { // a key that was split at its spaces
			inPEM, out[i] = !strings.Contains(a, "-----END"), Mark
			continue
		}
		if i == 0 {
			continue
		}
		name, value, _ := strings.Cut(a, ":")
		switch prev := argv[i-1]; {
		case strings.HasPrefix(prev, "-") && !strings.ContainsAny(prev, "= ") && IsSecretName(strings.TrimLeft(prev, "-")) &&
			!strings.HasPrefix(a, "--"):
			out[i] = Mark
		case announces(argv[:i], a):
			out[i] = Mark
		case isScheme(prev) && !strings.HasPrefix(a, "--"): // a header that was split at its spaces
			out[i] = Mark
		case strings.HasPrefix(a, "--user=") && areIDs(a[len("--user="):]) && isContainer(argv[:i]):
			out[i] = a
		case (prev == "-u" || prev == "--user" || prev == proxyUser) && value != "" &&
			!(areIDs(a) && prev != proxyUser && isContainer(argv[:i-1])):
			out[i] = name + ":" + Mark
		case (prev == "-b" || prev == "--cookie") && strings.Contains(a, "="):
			out[i] = Mark
		case isHeaderFlag(prev) && aboutAccess(a):
			name, _, _ := strings.Cut(name, "=")
			out[i] = name + "=" + Mark
		}
	}
	return out
}

// announces reports that what stands before an argument names it as a secret, where a text was split at its spaces:
// "password:" or "password" and "=", a quoted flag of a list, a key of a mapping.
func announces(before []string, a string) bool {
	const around = "\"'`:=,()[]{}\\"
	prev := before[len(before)-1]
	sign := strings.TrimRight(prev, "\"'`")
	if prev == "=" && len(before) > 1 {
		prev = before[len(before)-2]
	}
	name := strings.Trim(prev, around)
	named := strings.HasSuffix(sign, ":") || strings.HasSuffix(sign, "=") || strings.HasPrefix(name, "-") && name != prev
	return named && !strings.ContainsAny(name, ":= ") && IsSecretName(strings.TrimLeft(name, "-")) &&
		!strings.HasPrefix(a, "--") && !harmless(name, strings.Trim(a, around))
}

// isScheme recognises a word that announces a credential.
func isScheme(s string) bool {
	switch strings.Trim(strings.ToLower(s), `'"`) {
	case "bearer", "basic", "authorization:", "proxy-authorization:", "cookie:", "set-cookie:":
		return true
	}
	s = strings.Trim(strings.ToLower(s), `'"`)
	return strings.HasPrefix(s, "x-auth") && strings.HasSuffix(s, ":")
}

func isHeaderFlag(s string) bool {
	return s == "-H" || strings.HasPrefix(s, "--") && (strings.HasSuffix(s, "header") || strings.HasSuffix(s, "headers"))
}

func aboutAccess(header string) bool {
	lower := strings.ToLower(header)
	for _, w := range []string{"auth", "key", "token", "cookie", "secret"} {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}
