package redact

import (
	"regexp"
	"strings"
)

// Mark replaces a secret.
const Mark = "[redacted]"

// secretNames matches names whose value is a secret, in flags, environment assignments, headers and JSON.
const secretNames = `(?:[a-z0-9_-]*(?:api[_-]?key|apikey|secret|passw(?:or)?d|passwd|jwt|private[_-]?key|` +
	`credential)[a-z0-9_-]*|[a-z0-9_-]*[_-]token|token|authorization|x-auth[a-z-]*|bearer)`

type rule struct {
	find *regexp.Regexp
	put  string
}

// rules are compiled once and never change. Flags come first, because a flag's name could be taken for the value of
// the word before it.
var rules = []rule{
	{regexp.MustCompile(`(?i)(--?` + secretNames + `[ =]["']?)[^\s"'-][^\s"']*`), "${1}" + Mark},
	{regexp.MustCompile(`(?i)\b(bearer|basic)[ +]+[A-Za-z0-9._~+/=-]{6,}`), "$1 " + Mark},
	{
		regexp.MustCompile(`(?i)(["']?\b` + secretNames +
			`["']?\s*[:=]\s*["']?)(?:(?:bearer|basic)\s+)?[^\s"',;&\[\]{}]{3,}`),
		"${1}" + Mark,
	},
	{regexp.MustCompile(`(?i)([?&](?:key|sig|signature|token|auth|access_key)=)[^&\s"']+`), "${1}" + Mark},
	{regexp.MustCompile(`\b(?:hf|sk|pk|ghp|gho|ghs|glpat|xox[abp])[_-][A-Za-z0-9_-]{12,}`), Mark},
	{regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{12,}`), Mark},
	{regexp.MustCompile(`\bAKIA[0-9A-Z]{12,}`), Mark},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?`), Mark},
	{regexp.MustCompile(`(https?://)[^/\s:@]+:[^/\s@]+@`), "${1}" + Mark + "@"},
	{regexp.MustCompile(`(?:/home/|/Users/)[^/\s"',:]+`), "~"},
	{regexp.MustCompile(`(^|[\s"'=:,(])/root\b`), "${1}~"},
	{regexp.MustCompile(`(?i)\b[A-Z]:\\Users\\[^\\\s"']+`), "~"},
}

// triggers are words of which every rule needs one; text without any of them is returned at once.
var triggers = regexp.MustCompile(`(?i)bearer|basic|key|secret|passw|token|jwt|credential|authorization|hf[_-]|` +
	`sk[_-]|pk[_-]|gh[pos][_-]|github_pat|glpat|xox|akia|eyj|://|sig=|auth|/home/|users|/root`)

// triggerWords are the same words in lower case, with the letters and signs that each needs. Most texts lack a letter
// of every word, which one pass finds out; the expression would try every word at every position.
var triggerWords = wordSets("bearer", "basic", "key", "secret", "passw", "token", "jwt", "credential", "hf_", "hf-",
	"sk_", "sk-", "pk_", "pk-", "ghp_", "ghp-", "gho_", "gho-", "ghs_", "ghs-",
	"github_pat", "glpat", "xox", "akia", "eyj", "://", "sig=", "auth", "/home/", "users", "/root")

type wordSet struct {
	word string
	need uint32
}

func wordSets(words ...string) []wordSet {
	var out []wordSet
	for _, w := range words {
		out = append(out, wordSet{w, letters(w)})
	}
	return out
}

// letters returns the set of letters in a text, whatever their case, with ':', '/' and '='.
func letters(s string) uint32 {
	var set uint32
	for i := 0; i < len(s); i++ {
		switch c := s[i] | 0x20; {
		case c >= 'a' && c <= 'z':
			set |= 1 << (c - 'a')
		case s[i] == ':':
			set |= 1 << 26
		case s[i] == '/':
			set |= 1 << 27
		case s[i] == '=':
			set |= 1 << 28
		case s[i] >= 0x80: // letters that fold to ASCII letters
			return ^uint32(0)
		}
	}
	return set
}

// mayTrigger reports whether the rules must be applied to a text.
func mayTrigger(s string) bool {
	have := letters(s)
	if have == ^uint32(0) {
		return triggers.MatchString(s)
	}
	lower := ""
	for _, t := range triggerWords {
		if have&t.need != t.need {
			continue
		}
		if lower == "" {
			lower = strings.ToLower(s)
		}
		if strings.Contains(lower, t.word) {
			return true
		}
	}
	return false
}

// longest is the most bytes of a text that are kept.
const longest = 16 << 10

// Text returns s without secrets and without the names of home folders. It is idempotent.
func Text(s string) string {
	if len(s) > longest { // no name or command is that long, and the expressions are slow
		s = s[:longest] + "…"
	}
	if !mayTrigger(s) {
		return s
	}
	for _, r := range rules {
		s = r.find.ReplaceAllString(s, r.put)
	}
	return s
}

var (
	secretName = regexp.MustCompile(`(?i)^` + secretNames + `$`)
	secretFlag = regexp.MustCompile(`(?i)^--?` + secretNames + `$`)
	headerFlag = regexp.MustCompile(`(?i)^(?:-H|--[a-z-]*headers?)$`)
)

// Field returns the value of a named field without secrets: none of it if the name is that of a secret.
func Field(name, value string) string {
	if value != "" && mayTrigger(name) && secretName.MatchString(name) {
		return Mark
	}
	return Text(value)
}

// Argv returns a command line without secrets. In addition to what [Text] finds, the whole argument after a flag with
// a secret's name is removed, and the value of an authorisation header.
func Argv(argv []string) []string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = Text(a)
		if i == 0 {
			continue
		}
		switch prev := argv[i-1]; {
		case secretFlag.MatchString(prev) && !strings.HasPrefix(a, "--"):
			out[i] = Mark
		case scheme.MatchString(prev) && !strings.HasPrefix(a, "--"): // a header that was split at its spaces
			out[i] = Mark
		case headerFlag.MatchString(prev) && regexpAuth.MatchString(a):
			name, _, _ := strings.Cut(a, "=")
			name, _, _ = strings.Cut(name, ":")
			out[i] = name + "=" + Mark
		}
	}
	return out
}

var scheme = regexp.MustCompile(`(?i)^['"]?(?:bearer|basic|(?:proxy-)?authorization:|x-auth[a-z-]*:)$`)

var regexpAuth = regexp.MustCompile(`(?i)auth|key|token|cookie`)
