package redact

import (
	"net/url"
	"strings"
)

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
