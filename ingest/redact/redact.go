package redact

import (
	"bytes"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
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
	return clean(s)
}

func clean(s string) string {
	if list := known.Load(); list != nil {
		for _, v := range *list {
			s = strings.ReplaceAll(s, v, Mark)
		}
	}
	for range 8 { // what stood beside a secret may be one in its new place
		next := scan(s)
		if next == s {
			break
		}
		s = next
	}
	return s
}

// Field returns the value of a named field without secrets: none of it if the name is that of a secret.
func Field(name, value string) string {
	isLogin := strings.EqualFold(name, "auth") && base64RE.MatchString(value) // of Docker's configuration
	if value != "" && (IsSecretName(name) || isLogin) && !harmless(name, value) {
		return Mark
	}
	return Text(value)
}

var base64RE = lazyregexp.New(`^[\w+/-]{12,}={0,2}$`)

// Argv returns a command line without secrets: each argument, and arguments that a flag or a name before them says are
// secrets. One that spans arguments becomes one.
func Argv(argv []string) []string {
	out := slices.Clone(argv)
	for i, a := range argv {
		if len(a) > longest || strings.ContainsAny(a, " \t\r\n\f") {
			out[i] = within.Replace(Text(a))
		}
	}
	out = strings.Split(clean(strings.Join(out, "\f")), "\f")
	for i := range out {
		out[i] = shown.Replace(out[i])
	}
	return out
}

// within and shown hide the blanks of an argument from the rules, for which a value ends at one. Between arguments is a
// form feed, so that nothing that ends with its line goes on with the next.
var (
	within = strings.NewReplacer(" ", "\x01", "\t", "\x02", "\n", "\x03", "\r", "\x04", "\f", "\x05")
	shown  = strings.NewReplacer("\x01", " ", "\x02", "\t", "\x03", "\n", "\x04", "\r", "\x05", "\f")
)

// known are the values that [Know] was told, longest first. It is a variable of the package, which this project avoids
// elsewhere: secrets are facts of the process, and a text that is cleaned without them would leak what was meant to be
// removed.
var known atomic.Pointer[[]string]

// Know makes [Text] remove values wherever they appear, whatever their shape, also where they are escaped in a URL.
func Know(values ...string) {
	// shortestKnown is the least length of a value that is searched for: a shorter one would be found in innocent words.
	const shortestKnown = 6
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

// Known replaces the values that [Know] was told, a mark for each, in what a program wrote. Other bytes stay.
func Known(data []byte) []byte {
	if list := known.Load(); list != nil {
		for _, v := range *list {
			if bytes.Contains(data, []byte(v)) {
				data = bytes.ReplaceAll(data, []byte(v), []byte(Mark))
			}
		}
	}
	return data
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
		isToken := strings.HasSuffix(name, "TOKEN") // of a variable also without a sign before it: MYTOKEN
		if !isToken && !IsSecretName(name) || harmless(name, value) || strings.EqualFold(value, "empty") {
			continue
		}
		if _, err := os.Stat(value); err != nil {
			Know(value)
		}
	}
}

// URL is an address without user, password and the values of its query that are credentials, for messages and files.
func URL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return Text(address)
	}
	u.User = nil
	query := u.Query()
	before := len(query)
	for name := range query {
		if IsSecretName(name) || slices.Contains([]string{"key", "sig", "auth", "code"}, strings.ToLower(name)) {
			query.Del(name)
		}
	}
	if len(query) < before {
		u.RawQuery = query.Encode()
	}
	return Text(u.String())
}

// secretNames stand anywhere in the name of a secret, without its separators.
var secretNames = strings.Fields("secret passw passphrase sshpass jwt credential authorization xauth xapi cookie " +
	"apikey subscriptionkey privatekey accesskey accountkey sharedkey signingkey encryptionkey masterkey authkey " +
	"sessionkey sshkey connectionstring sharedaccesssignature webhookurl authconfig sessionid")

// endNames stand at the end of one, set off by a sign or a capital: user_token, accessToken, DB_PASS.
var endNames = []string{"token", "pass", "pwd", "passcode"}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// IsSecretName reports that the value of a field, variable or flag of this name is a secret.
func IsSecretName(name string) bool {
	low := strings.ToLower(name)
	for _, end := range endNames {
		before, ok := strings.CutSuffix(low, end)
		switch i := len(before); {
		case !ok || len(low) != len(name):
		case i == 0: // PWD is the current folder, and pass a count of tests
			return name != "PWD" && low != "pass"
		case !isWord(name[i-1]), name[i-1] == '_', name[i-1] == '-',
			name[i] != low[i] && 'a' <= name[i-1] && name[i-1] <= 'z':
			return true
		}
	}
	plain := separators.Replace(low)
	return low == "bearer" || slices.ContainsFunc(secretNames, func(s string) bool { return strings.Contains(plain, s) })
}

// harmless recognises values that are none, though the name is a secret's: numbers of tokens, marks of a vocabulary,
// and what a mapping calls a column such as time_to_first_token.
func harmless(name, value string) bool {
	value = strings.ToLower(strings.Trim(value, `"'`))
	switch value {
	case "", "none", "null", "nil", "true", "false", "yes", "no", Mark:
		return true
	}
	return strings.HasSuffix(strings.ToLower(name), "token") && vocabulary.MatchString(value)
}

var vocabulary = lazyregexp.New(`^(?:[-\d.e+]*|<.*>|\[.*\]|ttft|tpot|itl|e2el)$`)

// longestName bounds how far around a word its name is looked for.
const longestName = 80

var (
	assignment = lazyregexp.New("^\\\\*[\"'`]?\\]?[ \t\f]*[=:][=:>]*[ \t\f]*")
	flagged    = lazyregexp.New("^[\"'`]?(?:\\s*,\\s*|\\s+)") // between a flag and its value
	another    = lazyregexp.New(`^-[-A-Za-z]`)                // the next flag
	environ    = lazyregexp.New(`^\n?[A-Z0-9_]+=$`)           // of a dump of variables, where a value may have blanks
	wholeLine  = lazyregexp.New(`^([^\r\n\f=]+)(?:[\r\n\f]|$)`)
	cookie     = lazyregexp.New("^([^\r\n\f\"'`]+)")
	// authorization is a scheme and a credential, or all that some schemes state of one.
	authorization = lazyregexp.New("^((?i:digest|aws4-hmac-sha256|oauth|negotiate)[^\r\n\f']+|" +
		"[^\\s\"'`,;]+(?:[ \f]+[^-\\s\"'`,;][^\\s\"'`,;]*)?)")
	// quoted is a value in quotes, with the signs of an escape or of a Python string before them, or a list. One that is
	// not closed ends with its line.
	quoted = lazyregexp.New("^(?:\\\\+[\"']([^\n]*?)(?:\\\\+[\"']|\n|$)|[bBuUrRfF]?\"((?:\\\\.|[^\"\\\\\n])*)|" +
		"[bBuUrRfF]?'((?:\\\\.|[^'\\\\\n])*)|`([^`\n]*)|(\\[[^\\]]*\\]?))")
	word     = lazyregexp.New("^((?:(?i:bearer|basic) +)?[^\\s\x01-\x05\"'`,;&\\[\\]{}<)\\\\]+)")
	argument = lazyregexp.New(`^([^\s"'{]+)`)
)

// named finds the value of the name in which a word stands, from i to end.
func named(s string, i, end int) (from, to int) {
	begin, end := nameAround(s, i, end)
	at, isFlag := valueAfter(s, begin, end)
	if at < 0 || !IsSecretName(s[begin:end]) || strings.HasPrefix(s[at:], "--") {
		return 0, 0
	}
	form, low := word, strings.ToLower(s[begin:end])
	switch {
	case quoted.MatchString(s[at:]):
		form = quoted
	case isFlag:
		form = argument
	case strings.HasSuffix(low, "cookie"):
		form = cookie
	case strings.HasSuffix(low, "authorization"):
		form = authorization
	case strings.Contains(s[end:at], "\f"): // all of the next argument
		form = argument
	case environ.MatchString(s[max(0, begin-1):at]) && wholeLine.MatchString(s[at:]):
		form = wholeLine
	}
	m := form.FindStringSubmatchIndex(s[at:])
	for i := 2; i < len(m); i += 2 { // the group that matched
		if m[i] >= 0 {
			from, to = at+m[i], at+m[i+1]
		}
	}
	if harmless(s[begin:end], s[from:to]) || strings.HasPrefix(s[from:to], Mark) {
		return 0, 0
	}
	return from, to
}

// nameAround is where the name begins and ends that has a word from i to end: "API key" has two.
func nameAround(s string, i, end int) (int, int) {
	begin := i
	for begin > 0 && i-begin < longestName && isWord(s[begin-1]) {
		begin--
	}
	for end < len(s) && end-i < longestName && isWord(s[end]) {
		end++
	}
	if strings.EqualFold(s[begin:end], "key") && begin > 1 && s[begin-1] == ' ' {
		for begin--; begin > 0 && end-begin < longestName && isWord(s[begin-1]); {
			begin--
		}
	}
	return begin, end
}

// valueAfter is where the value of a name begins, which a sign announces, after a flag also a blank or the comma of a
// list; -1 where there is none.
func valueAfter(s string, begin, end int) (at int, isFlag bool) {
	isFlag = s[begin] == '-'
	if sign := assignment.FindString(s[end:]); sign != "" {
		return end + len(sign), isFlag
	}
	between := flagged.FindString(s[end:])
	if at = end + len(between); !isFlag || between == "" || another.MatchString(s[at:]) {
		return -1, isFlag
	}
	return at, isFlag
}
