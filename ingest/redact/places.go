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
		{"-u ", curlUser}, {`-u"`, curlUser}, {"--user ", curlUser}, {"/bot", telegram}, {":aa", botToken},
		{"login ", netrc}, {`"auth`, dockerAuth},
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

// curlUser finds USER:PASSWORD after curl's flag.
func curlUser(s string, i int) (from, to int, put string) {
	if i > 0 && (isAlnum(s[i-1]) || s[i-1] == '-') {
		return 0, 0, ""
	}
	at := until(s, i, " \"")
	at = after(s, at, func(c byte) bool { return isSpace(c) || isQuote(c) || c == ',' })
	end := until(s, at, " \t\r\n\"'`")
	colon := strings.IndexByte(s[at:end], ':')
	if colon <= 0 || strings.HasPrefix(s[at+colon:], "://") || at+colon+1 == end || areIDs(s[at:end]) {
		return 0, 0, ""
	}
	return at + colon + 1, end, Mark
}

// areIDs reports "1000:1000", which --user of docker and podman takes: numbers of a user and a group.
func areIDs(s string) bool {
	return strings.Trim(s, "0123456789") == ":"
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
