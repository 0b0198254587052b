package redact

import (
	"regexp"
	"strings"
)

// Mark stands where a secret stood.
const Mark = "[redacted]"

// secretNames are names whose value is a secret, in flags, environment assignments, headers and JSON alike.
const secretNames = `(?:[a-z0-9_-]*(?:api[_-]?key|apikey|secret|passw(?:or)?d|passwd|jwt|private[_-]?key|` +
	`credential)[a-z0-9_-]*|[a-z0-9_-]*[_-]token|token|authorization|x-auth[a-z-]*|bearer)`

type rule struct {
	find *regexp.Regexp
	put  string
}

// rules are compiled once and never change. Flags come first: their names would pass for the value of what stands
// before them.
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

// triggers are words of which every rule needs one; a text without any of them is returned untouched and fast.
var triggers = regexp.MustCompile(`(?i)bearer|basic|key|secret|passw|token|jwt|credential|authorization|hf[_-]|` +
	`sk[_-]|pk[_-]|gh[pos][_-]|github_pat|glpat|xox|akia|eyj|://|sig=|auth|/home/|users|/root`)

// triggerWords are the same as words in lower case, with the letters and signs that each needs. Most texts lack some of
// them for every word, which is found in one pass; the expression would try every word at every place.
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

// letters is the set of letters in a text, whatever their case, with ':', '/' and '='.
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
		case s[i] >= 0x80: // letters that fold to ASCII ones
			return ^uint32(0)
		}
	}
	return set
}

// mayTrigger reports whether a text needs a closer look.
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

// longest is how much of a text is kept.
const longest = 16 << 10

// Text returns s without secrets and without the names of home folders. It is idempotent.
func Text(s string) string {
	if len(s) > longest { // no name or command is that long, and the expressions take their time
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

// Field returns the value of a named field without secrets: nothing of it where the name is a secret's.
func Field(name, value string) string {
	if value != "" && mayTrigger(name) && secretName.MatchString(name) {
		return Mark
	}
	return Text(value)
}

// Argv returns a command line without secrets. Beside what [Text] finds, the argument after a flag with a secret's name
// is removed whole, and so is a header's value when the header is about authorisation.
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
