package redact

import (
	"regexp"
	"strings"
	"sync"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
)

// rule is a kind of secret, or of a private path.
type rule struct {
	// near are words, separated by blanks, near which it stands; they are found whatever the case of the text.
	near string
	// find returns what is removed of s, where one of the words stands from i to end; to is 0 for nothing.
	find func(s string, i, end int) (from, to int)
	put  string // in its place
}

// matching finds the first group of a pattern. The pattern begins one character before the word: what must stand there,
// or any. Before the beginning of a text stands a line's end.
func matching(pattern string) func(s string, i, end int) (from, to int) {
	re := lazyregexp.New(`^(?:` + pattern + `)`)
	return func(s string, i, _ int) (from, to int) {
		before := max(0, i-1)
		text, shift := s[before:], before
		if i == 0 {
			text, shift = "\n"+s, -1
		}
		if m := re.FindStringSubmatchIndex(text); m != nil {
			return shift + m[2], shift + m[3]
		}
		return 0, 0
	}
}

// any matches the character before a word where it may be any.
const any = `[\s\S]`

// rules are tried in this order where several begin with the same two characters.
func rules() []rule {
	const smallWords = "abcdefghijklmnopqrstuvwxyz-_.+/="
	list := []rule{
		{"secret passw passphrase sshpass jwt credential authorization x-auth x-api cookie key connectionstring " +
			"connection_string sharedaccesssignature webhook_url auth_config session_id sessionid token pass pwd passcode",
			named, Mark},
		{"eyj", matching(`[^\w](eyJ[\w-]{8,}\.[\w.-]+)`), Mark}, // a JSON web token, RFC 7519
		{"-----begin", matching(any + `((?s)-----BEGIN[^-]*PRIVATE[ \f]KEY(?:.*?-----END[^-]{0,60}(?:-----)?|.*))`), Mark},
		{"bearer", bearer, Mark},
		{"://", userinfo, Mark},
		{"-u --user --proxy-user", user, Mark},
		{"key= sig= auth= code= access= signature=",
			matching("(?i)(?:[?&;](?:key|sig|auth|code|access|signature)|-signature)=([^&\\s\"'<>`#]+)"), Mark},
		{"hooks.slack discord webhook.office outlook.office hooks.zapier chat.google open.feishu",
			matching(`(?i)` + any + `(?:hooks\.slack\.com|discord(?:app)?\.com/api/webhooks|webhook\.office\.com|` +
				`outlook\.office\.com/webhook|hooks\.zapier\.com|chat\.googleapis\.com/v1/spaces|` +
				"open\\.feishu\\.cn/open-apis/bot)/([^\\s\"'<>`]+)"), Mark},
		{"/bot", matching(any + `/bot(\d{6,}:[\w-]+)`), Mark}, // of Telegram, and without its address
		{":aa", matching(`\d:(AA[\w-]{33,})`), Mark},
		{"login ", matching(`(?i)` + any + `login\s+\S+\s+password\s+([^\s"']+)`), Mark}, // netrc
		{`"auth`, matching(any + `"auth\\*"\s*:\s*\\*"([\w+/=.-]{12,})`), Mark},          // Docker's configuration
		{"/home/ /users/", matching(`[^A-Za-z0-9](/(?:home|Users)/+[^~/\s"',:\\][^/\s"',:\\]*)`), "~"},
		{"/root", matching(`[\s"'=:,(](/root)(?:[^\w-]|$)`), "~"},
		{`:\users :\\users`, matching(`(?i)` + any + `:\\{1,2}users\\{1,2}([^\\\s"']+)`), "~"},
	}
	for _, x := range shapes {
		words := strings.Fields(x.prefixes)
		for i := range words {
			words[i] = regexp.QuoteMeta(words[i])
		}
		find := matching(x.flags + `[^\w]((?:` + strings.Join(words, "|") + `)` + x.body + `)`)
		list = append(list, rule{strings.ToLower(x.prefixes), func(s string, i, end int) (from, to int) {
			from, to = find(s[:min(len(s), i+mostOfShape)], i, end)
			if to == i+mostOfShape {
				to += len(word.FindString(s[to:]))
			}
			body := s[min(end, to):to]
			if strings.Trim(body, smallWords) == "" && (strings.ContainsAny(body, "-_") || len(body) < leastLetters) {
				return 0, 0 // a row of words, or one: hf_transformers
			}
			return from, to
		}, Mark})
	}
	return list
}

// leastLetters is from what length on small letters alone are a secret: one in 10^7 of 20 random characters.
const leastLetters = 20

// mostOfShape bounds how far a row of words is followed from each of them.
const mostOfShape = 512

const anyCase = "(?i)"

// shapes are secrets that are known by how they begin, whatever their name. The prefixes are those that the issuers
// document so that leaked keys are found; gitleaks (MIT licence) keeps a list of them, from which these were taken. Its
// Go package was not used: it brings 74 modules, and its 221 rules take 81 s for 100 MB of a server's log.
var shapes = []struct {
	prefixes, body string
	flags          string // anyCase, or "" where the case of the prefix counts
}{
	{"hf_ hf- api_org_", `[a-z0-9]{12,}`, anyCase},
	{"sk- sk_ pk_ rk_ ghp_ gho_ ghu_ ghs_ ghr_ ghp- gho- ghs- github_pat_ glpat- gldt- glrt- glft- glptt- " +
		"glcbt- glsoat- glimt- glpat_ xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxa_ xoxb_ xoxp_ xapp- " +
		"dckr_pat_ dckr_oat_ nvapi- gocspx- whsec_ tskey- pmak- figd_ FLWSECK_TEST- FLWSECK-", `[\w-]{12,}`, anyCase},
	{"AKIA ASIA ABIA ACCA LTAI", `[A-Z0-9]{12,}`, ""},
	{"AIza ATATT3 ATCTT3 AGE-SECRET-KEY-1", `[\w-]{20,}`, ""},
	{"pypi- xai- tgp_v1_ glsa_ hvs. hvb. ya29. rzp_live_ glffct- glagent- gloas- GR1348941 fio-u- HRKU-AA tk-us- s-s4t2 " +
		"duffel_test_ duffel_live_ FLWPUBK_TEST- sq0atp- sq0csp- sgp_ fo1_ sha256~ CLOJARS_ p8e- _gitlab_session=",
		`[\w-]{20,}`, anyCase},
	{"npm_ lin_api_ ntn_ gsk_ r8_ pplx- fw_ sbp_ sm_aat_ sm_pat_ sm_sat_", `[a-z0-9]{16,}`, anyCase},
	{"rubygems_ dop_v1_ doo_v1_ dor_v1_ shpat_ shpss_ shpca_ shppa_ xkeysib- pul- dapi key- sntryu_ shippo_live_ " +
		"shippo_test_", `[a-f0-9]{20,}`, anyCase},
	{"SG. pscale_tkn_ pscale_oauth_ pscale_pw_ dp.pt. dt0c01. xoxe.xox", `[\w.-]{32,}`, anyCase},
	{"glc_ sntrys_ ops_eyJ bedrock-api-key- fm1a_ fm1r_ fm2_", `[\w+/=.-]{32,}`, anyCase},
	{"SK0 SK1 SK2 SK3 SK4 SK5 SK6 SK7 SK8 SK9 SKa SKb SKc SKd SKe SKf", `[a-f0-9]{31,}`, ""}, // Twilio
	{"API-", `[A-Z0-9]{26,}`, ""},
	{"ico- pnu_ rdme_", `[a-z0-9]{32,}`, anyCase},
	{"A3- EAAA A3T AKCp cmVmd EZAK EZTK EAAM EAAC pat. sat. v1.0- eyJrIjoi ABSK ZXlK", `[\w+/=.-]{50,}`, ""},
}

// bearer finds the credential after the word, if it has a digit: "bearer authentication" is none.
func bearer(s string, i, end int) (from, to int) {
	from, to = afterBearer(s, i, end)
	if !strings.ContainsAny(s[from:to], "0123456789") {
		return 0, 0
	}
	return from, to
}

var afterBearer = matching(`(?i)` + any + `bearer(?:[ \t+=:]|%20)+([a-z0-9][\w.~+/=-]{5,})`)

var beforeAt = matching(any + "://([^/\\s\"'<>`,?#]+)@")

// userinfo finds what stands before the @ of an address. The name of a user alone stays where it is no token: git@.
func userinfo(s string, i, end int) (from, to int) {
	from, to = beforeAt(s, i, end)
	isWeb := strings.HasSuffix(strings.ToLower(s[max(0, i-5):i]), "http") ||
		strings.HasSuffix(strings.ToLower(s[max(0, i-5):i]), "https")
	if !isWeb && to-from < 20 && !strings.Contains(s[from:to], ":") {
		return 0, 0
	}
	return from, to
}

var (
	afterUser = matching("[^A-Za-z0-9-](?:-u|--user|--proxy-user)[\\s\"',=]+[^\\s\"'`:]*:([^\\s\"'`]+)")
	ids       = lazyregexp.New(`^(-u|--user)\W+\d+:\d+$`)
	program   = lazyregexp.New(`(?:^|[^\w.-])(docker|podman|nerdctl|curl|wget|http)s?(?:\.exe)?[\s"',)]`)
)

// user finds the password of USER:PASSWORD after curl's flag. Digits are ids of a user and a group in a command line of
// docker or podman; after any other program they are a name and its password.
func user(s string, i, end int) (from, to int) {
	from, to = afterUser(s, i, end)
	if to == 0 || strings.HasPrefix(s[from:], "//") {
		return 0, 0
	}
	before := program.FindAllStringSubmatch(s[strings.LastIndexByte(s[:i], '\n')+1:i], -1)
	if ids.MatchString(s[i:to]) && len(before) > 0 &&
		strings.Contains("docker podman nerdctl", before[len(before)-1][1]) {
		return 0, 0
	}
	return from, to
}

// index finds words by their first two bytes. A text is read once, and at nearly every byte one look says that no word
// begins there: 100 MB of logs take less than a second.
type index struct {
	list [1 << 16]uint8 // by pair of bytes, in lower case: which of words; 0 for none
	near [][]near
}

type near struct {
	word string
	rule rule
}

// byPair is made once and never changes.
var byPair = sync.OnceValue(func() *index {
	x := &index{near: [][]near{nil}}
	for _, r := range rules() {
		words := strings.Fields(r.near)
		if strings.HasSuffix(r.near, " ") {
			words = []string{r.near}
		}
		for _, w := range words {
			at := &x.list[pairOf(w, 0)]
			if *at == 0 {
				*at = uint8(len(x.near))
				x.near = append(x.near, nil)
			}
			x.near[*at] = append(x.near[*at], near{w, r})
		}
	}
	return x
})

func pairOf(s string, i int) uint16 { return uint16(lower(s[i]))<<8 | uint16(lower(s[i+1])) }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// scan replaces what stands near words.
func scan(s string) string {
	var out []byte
	kept, words := 0, byPair()
	for i := 0; i+1 < len(s); i++ {
		at := words.list[pairOf(s, i)]
		if at == 0 {
			continue
		}
		for _, n := range words.near[at] {
			end := i + len(n.word)
			if end > len(s) || !strings.EqualFold(s[i:end], n.word) {
				continue
			}
			from, to := n.rule.find(s, i, end)
			if from >= kept && to > from && s[from:to] != n.rule.put {
				out = append(append(out, s[kept:from]...), n.rule.put...)
				kept, i = to, to-1
				break
			}
		}
	}
	if kept == 0 {
		return s
	}
	return string(append(out, s[kept:]...))
}

func isWord(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'z' || c == '_' || c == '-'
}
