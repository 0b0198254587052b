package redact

import (
	"strings"
)

// secretWords are parts of names whose value is a secret, in flags, environment assignments, headers and data alike.
func secretWords() []string {
	return []string{
		"api_key", "api-key", "apikey", "api key", "secret", "passw", "passphrase", "jwt", "credential",
		"private_key", "private-key", "privatekey", "private key", "access_key", "access-key", "accesskey", "access key",
		"account_key", "accountkey", "shared_key", "sharedkey", "signing_key", "signingkey", "encryption_key", "master_key",
		"auth_key", "auth-key", "authkey", "session_key", "ssh_key", "connectionstring", "connection_string",
		"sharedaccesssignature", "authorization", "x-auth", "x-api", "cookie", "webhook_url", "auth_config", "session_id",
		"sessionid", "sshpass",
	}
}

// endWords are secret at the end of a name, where a sign or a capital sets them off: user_token, accessToken, DB_PASS.
func endWords() []string { return []string{"token", "pass", "pwd", "passcode"} }

func names() []keyword {
	var out []keyword
	for _, w := range secretWords() {
		out = append(out, keyword{w, func(s string, i int) (int, int, string) { return named(s, i, i+len(w)) }})
	}
	for _, w := range endWords() {
		out = append(out, keyword{w, func(s string, i int) (int, int, string) {
			if !setOff(s, i, i+len(w)) {
				return 0, 0, ""
			}
			return named(s, i, i+len(w))
		}})
	}
	return out
}

// setOff reports that a word is the end of a name, or all of it.
func setOff(s string, i, end int) bool {
	if end < len(s) && isWord(s[end]) {
		return false
	}
	if s[i:end] == "PWD" && (i == 0 || !isWord(s[i-1])) {
		return false // the current folder
	}
	if i == 0 || !isAlnum(s[i-1]) {
		return lower[s[i]] != 'p' || i > 0 && isWord(s[i-1]) || lower[s[i+1]] == 'w' // "pass" alone is a count of tests
	}
	return 'A' <= s[i] && s[i] <= 'Z' && 'a' <= s[i-1] && s[i-1] <= 'z'
}

// IsSecretName reports that the value of a field, variable or flag of this name is a secret.
func IsSecretName(name string) bool {
	low := strings.ToLower(name)
	for _, w := range secretWords() {
		if strings.Contains(low, w) {
			return true
		}
	}
	for _, w := range endWords() {
		if strings.HasSuffix(low, w) && setOff(name, len(name)-len(w), len(name)) {
			return true
		}
	}
	return low == "bearer"
}

// harmless recognises values that are none, though the name is a secret's: numbers of tokens, marks of a vocabulary.
func harmless(name, value string) bool {
	value = strings.ToLower(strings.Trim(value, `"'`))
	switch value {
	case "", "none", "null", "nil", "true", "false", "yes", "no", strings.ToLower(Mark):
		return true
	}
	name = strings.ToLower(name)
	if !strings.HasSuffix(name, "token") {
		return false
	}
	number := strings.TrimLeft(value, "-0123456789.e+")
	return number == "" || strings.HasPrefix(value, "<") && strings.HasSuffix(value, ">") ||
		strings.HasPrefix(value, "[") && strings.HasSuffix(value, "]")
}

// longestName bounds how far around a word its name is looked for.
const longestName = 80

// named finds the value of the name that has a secret word from i to end.
func named(s string, i, end int) (from, to int, put string) {
	begin := i
	for begin > 0 && i-begin < longestName && isWord(s[begin-1]) {
		begin--
	}
	for end < len(s) && end-i < longestName && isWord(s[end]) {
		end++
	}
	name := s[begin:end]
	flag := s[begin] == '-' && (begin == 0 || !isAlnum(s[begin-1]))
	at, ok := separated(s, begin, end, flag)
	if !ok || at >= len(s) || strings.HasPrefix(s[at:], Mark) || strings.HasPrefix(s[at:], "--") { // the next flag
		return 0, 0, ""
	}
	low := strings.ToLower(name)
	if !isQuote(s[at]) && s[at] != '[' && s[at] != '{' && s[at] != '\\' &&
		(strings.HasSuffix(low, "cookie") || strings.HasSuffix(low, "authorization")) {
		from, to = at, header(s, begin, at)
	} else {
		from, to = value(s, at, begin, flag)
	}
	if from >= to || harmless(name, s[from:to]) || strings.HasPrefix(s[from:to], Mark) {
		return 0, 0, ""
	}
	return from, to, Mark
}

// separated is where the value begins after a name. There is a colon or an equals sign between them, after a flag also
// blanks, or what separates the elements of a list.
func separated(s string, begin, end int, flag bool) (int, bool) {
	at := after(s, end, func(c byte) bool { return c == '\\' })
	quoted := at < len(s) && isQuote(s[at])
	if quoted {
		at++
	}
	if at < len(s) && s[at] == ']' { // environ["NAME"] = …
		at++
	}
	blank := after(s, at, func(c byte) bool { return c == ' ' || c == '\t' })
	switch {
	case blank < len(s) && (s[blank] == '=' || s[blank] == ':'):
		at = after(s, blank, func(c byte) bool { return c == '=' || c == ':' || c == '>' })
		return after(s, at, func(c byte) bool { return c == ' ' || c == '\t' }), true
	case blank == end && blank < len(s) && s[blank] == '>' && begin > 0 && s[begin-1] == '<': // an element of XML
		return blank + 1, true
	case !flag:
		return 0, false
	case blank < len(s) && s[blank] == ',':
		return after(s, blank+1, isSpace), true
	}
	next := after(s, at, isSpace)
	if strings.HasPrefix(s[next:], "- ") { // the next element of a list in YAML
		next = after(s, next+2, isSpace)
	}
	another := next+1 < len(s) && s[next] == '-' &&
		(s[next+1] == '-' || 'a' <= lower[s[next+1]] && lower[s[next+1]] <= 'z')
	return next, next > at && !another
}

// header is where the value of a header ends: with the quotes that it stands in, or the line; a header of authorisation
// ends after its credential.
func header(s string, begin, at int) int {
	end := until(s, at, "\r\n")
	if begin > 0 && isQuote(s[begin-1]) {
		end = min(end, until(s, at, s[begin-1:begin]))
	}
	if hasFold(s[begin:], "cookie") || hasFold(s[begin:], "set-cookie") {
		return end
	}
	first := min(end, until(s, at, " \t\"'`,;"))
	switch strings.ToLower(s[at:first]) {
	case "digest", "aws4-hmac-sha256", "oauth", "negotiate":
		return end
	}
	if first < end && s[first] == ' ' && first-at < 20 { // a scheme, and the credential
		if next := after(s, first, isSpace); !strings.HasPrefix(s[next:], "--") {
			return min(end, until(s, next, " \t\"'`,;"))
		}
	}
	return first
}

// value is where a value begins and ends: within its quotes, a list with its brackets, otherwise a word.
func value(s string, at, begin int, flag bool) (from, to int) {
	if strings.HasPrefix(s[at:], "SecretStr(") {
		at += len("SecretStr(")
	}
	if at+1 < len(s) && strings.IndexByte("bBuUrRfF", s[at]) >= 0 && isQuote(s[at+1]) {
		at++
	}
	if at >= len(s) {
		return 0, 0
	}
	switch c := s[at]; {
	case c == '\\':
		open := after(s, at, func(c byte) bool { return c == '\\' })
		if open < len(s) && isQuote(s[open]) {
			if n := strings.Index(s[open+1:], s[at:open+1]); n >= 0 {
				return open + 1, open + 1 + n
			}
			return open + 1, until(s, open+1, "\n")
		}
	case isQuote(c):
		return at + 1, closing(s, at+1, c)
	case c == '[':
		return at, bracket(s, at)
	case c == '{' || c == '<' && !flag:
		return 0, 0 // what is within has names of its own
	}
	if begin == 0 || s[begin-1] == '\n' {
		if end := assigned(s, begin, at); end > 0 {
			return at, end
		}
	}
	if flag {
		return at, until(s, at, " \t\r\n\"'")
	}
	end := until(s, at, " \t\r\n\"'`,;&[]{}<)\\")
	if isScheme(s[at:end]) && end < len(s) && s[end] == ' ' {
		if next := after(s, end, isSpace); !strings.HasPrefix(s[next:], "--") {
			end = until(s, next, " \t\r\n\"'`,;&[]{}<)\\")
		}
	}
	return at, end
}

// closing is where a text in quotes ends. One that is not closed ends with its line.
func closing(s string, at int, quote byte) int {
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			return i
		case '\n':
			return i
		}
	}
	return len(s)
}

// bracket is where a list ends that begins at a bracket.
func bracket(s string, at int) int {
	depth := 0
	for i := at; i < len(s); i++ {
		switch c := s[i]; {
		case isQuote(c):
			i = min(closing(s, i+1, c), len(s)-1)
		case c == '[':
			depth++
		case c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// assigned is the end of a line of an environment dump, NAME=value with blanks in the value; 0 if it is none, or if
// several assignments share the line.
func assigned(s string, begin, at int) int {
	for i := begin; i < at-1; i++ {
		if c := s[i]; 'a' <= c && c <= 'z' || c == '-' {
			return 0
		}
	}
	if s[at-1] != '=' {
		return 0
	}
	end := until(s, at, "\r\n")
	if strings.Contains(s[at:end], "=") && strings.Contains(s[at:end], " ") {
		return 0
	}
	return end
}
