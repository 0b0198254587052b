package redact

import (
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
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

// places are parts of addresses and paths: credentials in URLs, addresses that are secrets themselves, home folders.
func places() []keyword {
	out := []keyword{
		{"://", userinfo}, {"/home/", home}, {"/users/", home}, {"/root", root},
		{`:\users\`, windows}, {`:\\users\\`, windows},
		{"/bot", telegram}, {":aa", botToken}, {"login ", netrc}, {`"auth`, dockerAuth},
	}
	for _, flag := range []string{"-u ", `-u"`, "-u'", "--user", proxyUser} {
		out = append(out, keyword{flag, func(s string, i int) (int, int, string) {
			return curlUser(s, i, strings.TrimRight(flag, ` "'`))
		}})
	}
	for _, w := range []string{
		"?key=", "&key=", "?sig=", "&sig=", ";sig=", "?auth=", "&auth=", "?signature=", "&signature=",
		"-signature=", "?code=", "&code=", "?access=", "&access=", "?apikey=", "&apikey="} {
		out = append(out, keyword{w, func(s string, i int) (int, int, string) {
			at := i + len(w)
			return at, until(s, at, "& \t\r\n\"'<>`#"), Mark
		}})
	}
	for _, w := range []string{
		"hooks.slack.com/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "webhook.office.com/",
		"outlook.office.com/webhook/", "hooks.zapier.com/", "chat.googleapis.com/v1/spaces/", "open.feishu.cn/open-apis/bot/",
	} {
		out = append(out, keyword{w, func(s string, i int) (int, int, string) {
			at := i + len(w)
			return at, until(s, at, " \t\r\n\"'<>`"), Mark
		}})
	}
	return out
}

// userinfo finds what stands before the @ of an address. The name of a user alone stays where it is no token: git@.
func userinfo(s string, i int) (from, to int, put string) {
	from = i + 3
	end := until(s, from, "/ \t\r\n\"'<>`,?#")
	to = strings.LastIndexByte(s[from:end], '@')
	if to <= 0 {
		return 0, 0, ""
	}
	to += from
	user, _, password := strings.Cut(s[from:to], ":")
	before := strings.ToLower(s[:i])
	web := i >= 4 && (strings.HasSuffix(before, "http") || strings.HasSuffix(before, "https"))
	if !password && !web && len(user) < 20 {
		return 0, 0, ""
	}
	return from, to, Mark
}

// home finds the name of a home folder with what leads to it.
func home(s string, i int) (from, to int, put string) {
	at := i + strings.IndexByte(s[i+1:], '/') + 2
	at = after(s, at, func(c byte) bool { return c == '/' })
	end := until(s, at, "/ \t\r\n\"',:\\")
	known := strings.HasPrefix(s[i:], "/home/") || strings.HasPrefix(s[i:], "/Users/")
	if end == at || s[at] == '~' || i > 0 && isAlnum(s[i-1]) || !known {
		return 0, 0, ""
	}
	return i, end, "~"
}

func root(s string, i int) (from, to int, put string) {
	end := i + len("/root")
	if !strings.HasPrefix(s[i:], "/root") || end < len(s) && isWord(s[end]) ||
		i > 0 && strings.IndexByte(" \t\r\n\"'=:,(", s[i-1]) < 0 {
		return 0, 0, ""
	}
	return i, end, "~"
}

func windows(s string, i int) (from, to int, put string) {
	n := len(`:\users\`)
	if strings.HasPrefix(s[i:], `:\\`) {
		n += 2
	}
	end := until(s, i+n, "\\ \t\r\n\"'")
	if end == i+n {
		return 0, 0, ""
	}
	return i + n, end, "~"
}

// proxyUser is a flag of curl alone.
const proxyUser = "--proxy-user"

// curlUser finds the password of USER:PASSWORD after curl's flag.
func curlUser(s string, i int, flag string) (from, to int, put string) {
	at := i + len(flag)
	if i > 0 && (isAlnum(s[i-1]) || s[i-1] == '-') || at >= len(s) || !isSpace(s[at]) && !isQuote(s[at]) && s[at] != '=' {
		return 0, 0, ""
	}
	at = after(s, at, func(c byte) bool { return isSpace(c) || isQuote(c) || c == ',' || c == '=' })
	end := until(s, at, " \t\r\n\"'`")
	colon := strings.IndexByte(s[at:end], ':')
	if colon < 0 || strings.HasPrefix(s[at+colon:], "://") || at+colon+1 == end ||
		flag != proxyUser && areIDs(s[at:end]) && isContainer(strings.Fields(s[strings.LastIndexByte(s[:i], '\n')+1:i])) {
		return 0, 0, ""
	}
	return at + colon + 1, end, Mark
}

// areIDs reports "1000:1000", numbers of a user and a group.
func areIDs(s string) bool {
	user, group, ok := strings.Cut(s, ":")
	return ok && user != "" && group != "" && strings.Trim(user+group, "0123456789") == ""
}

// isContainer reports that the words before --user are of a command line of docker or podman, where it takes ids. After
// any other program the same digits are a name and its password.
func isContainer(before []string) bool {
	of := false
	for _, w := range before {
		w = strings.Trim(w, "\"'`[](),;&|$")
		switch w[strings.LastIndexAny(w, `/\`)+1:] {
		case "docker", "podman", "nerdctl", "docker.exe", "podman.exe":
			of = true
		case "curl", "curl.exe", "wget", "http", "https":
			of = false
		}
	}
	return of
}

// netrc finds the password of a line "machine HOST login NAME password VALUE".
func netrc(s string, i int) (from, to int, put string) {
	const word = " password "
	name := until(s, i+len("login "), " \t\r\n")
	if !hasFold(s[name:], word) {
		return 0, 0, ""
	}
	at := name + len(word)
	return at, until(s, at, " \t\r\n\"'"), Mark
}

// dockerAuth finds the user and password of a registry, as Docker's configuration keeps them: "auth":"dXNlcjpwYXNz".
func dockerAuth(s string, i int) (from, to int, put string) {
	name := i + len(`"auth`)
	at := after(s, name, func(c byte) bool { return c == '\\' || c == '"' || c == ':' || isSpace(c) })
	end := after(s, at, isBase64)
	if at-name < 3 || !strings.Contains(s[name:at], ":") || end-at < 12 {
		return 0, 0, ""
	}
	return at, end, Mark
}

// telegram finds the token of a bot in the path of its address.
func telegram(s string, i int) (from, to int, put string) {
	at := i + len("/bot")
	digits := after(s, at, func(c byte) bool { return '0' <= c && c <= '9' })
	if digits-at < 6 || digits >= len(s) || s[digits] != ':' {
		return 0, 0, ""
	}
	return at, after(s, digits+1, isWord), Mark
}

// botToken finds the secret part of a Telegram token that stands alone: 123456789:AA and 33 characters.
func botToken(s string, i int) (from, to int, put string) {
	digits := i
	for digits > 0 && '0' <= s[digits-1] && s[digits-1] <= '9' {
		digits--
	}
	end := after(s, i+1, isWord)
	if i-digits < 6 || digits > 0 && isWord(s[digits-1]) || end-i < 35 || !strings.HasPrefix(s[i:], ":AA") {
		return 0, 0, ""
	}
	return i + 1, end, Mark
}

// URL is an address without user, password and the values of its query that are credentials, for messages and files.
func URL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return Text(address)
	}
	u.User = nil
	query := u.Query()
	changed := false
	for name := range query {
		low := strings.ToLower(name)
		if IsSecretName(name) || low == "key" || low == "sig" || low == "auth" || low == "code" {
			query.Del(name)
			changed = true
		}
	}
	if changed {
		u.RawQuery = query.Encode()
	}
	return Text(u.String())
}
