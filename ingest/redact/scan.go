package redact

import (
	"bytes"
	"encoding/base64"
	"io"
	"strings"
)

// keyword is a word near which a secret may stand. Words are in lower case, and found whatever the case of the text.
type keyword struct {
	word string
	// find returns what to replace of s by put, where the word stands at i; to is 0 for nothing. from is not before i.
	find func(s string, i int) (from, to int, put string)
}

// index finds keywords by their first two bytes. A text is read once, and at nearly every byte one bit says that
// no word begins there: 100 MB of logs take less than a second.
type index struct {
	begins [1 << 10]uint64 // one bit for each pair of bytes
	bucket [1 << 16]uint8  // by pair: which of the lists
	words  [][]keyword
}

// keywords is made once and never changes.
var keywords = newIndex(names(), shapes(), places())

func newIndex(lists ...[]keyword) *index {
	x := &index{words: [][]keyword{nil}}
	for _, list := range lists {
		for _, k := range list {
			pair := pairOf(k.word[0], k.word[1])
			x.begins[pair>>6] |= 1 << (pair & 63)
			if x.bucket[pair] == 0 {
				x.bucket[pair] = uint8(len(x.words))
				x.words = append(x.words, nil)
			}
			x.words[x.bucket[pair]] = append(x.words[x.bucket[pair]], k)
		}
	}
	return x
}

func pairOf(a, b byte) uint16 { return uint16(lower[a])<<8 | uint16(lower[b]) }

// lower folds the case of ASCII letters.
var lower = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] = byte(i) + 'a' - 'A'
		}
	}
	return t
}()

// scan replaces what stands near keywords.
func scan(s string) string {
	var out []byte
	kept := 0
	for i := 0; i+1 < len(s); {
		pair := pairOf(s[i], s[i+1])
		if keywords.begins[pair>>6]&(1<<(pair&63)) == 0 {
			i++
			continue
		}
		from, to, put := keywords.at(s, i, pair)
		if to == 0 {
			i++
			continue
		}
		out = append(append(out, s[kept:from]...), put...)
		kept, i = to, to
	}
	if kept == 0 {
		return s
	}
	return string(append(out, s[kept:]...))
}

func (x *index) at(s string, i int, pair uint16) (from, to int, put string) {
	words := x.words[x.bucket[pair]]
	for n := range words {
		k := &words[n]
		if len(s) < i+len(k.word) || lower[s[i+2]] != k.word[2] || !hasFold(s[i:], k.word) {
			continue
		}
		if from, to, put = k.find(s, i); to > from && s[from:to] != put {
			return from, to, put
		}
	}
	return 0, 0, ""
}

// hasFold reports that s begins with a word, whatever the case of s.
func hasFold(s, word string) bool {
	if len(s) < len(word) {
		return false
	}
	for i := range len(word) {
		if lower[s[i]] != word[i] {
			return false
		}
	}
	return true
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
func isWord(c byte) bool  { return isAlnum(c) || c == '_' || c == '-' }
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// after is where a run of bytes ends that begins at i.
func after(s string, i int, in func(byte) bool) int {
	for i < len(s) && in(s[i]) {
		i++
	}
	return i
}

// until is where the first of some bytes stands from i on, or the end of the text.
func until(s string, i int, any string) int {
	if n := strings.IndexAny(s[i:], any); n >= 0 {
		return i + n
	}
	return len(s)
}

// shape is a secret that is known by how it begins, whatever its name. The prefixes are those that the issuers document
// so that leaked keys are found; gitleaks (MIT licence) keeps a list of them, from which these were taken. Its Go
// package was not used: it brings 74 modules, and its 221 rules take 81 s for 100 MB of a server's log, where this list
// and the rest of the package take 0.6 s. 99 of its 120 rules about shapes have their secrets found here; the others
// need a context (a line of curl, XML of NuGet) or would find ordinary words and commits.
type shape struct {
	prefix string
	in     func(byte) bool // bytes that follow
	least  int             // how many
	exact  bool            // the case of the prefix counts
}

func isHex(c byte) bool    { return '0' <= c && c <= '9' || 'a' <= lower[c] && lower[c] <= 'f' }
func isUpper(c byte) bool  { return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' }
func isBase64(c byte) bool { return isWord(c) || c == '+' || c == '/' || c == '=' || c == '.' }
func isDotted(c byte) bool {
	return isWord(c) || c == '.'
}

func shapes() []keyword {
	var list []shape
	add := func(in func(byte) bool, least int, exact bool, prefixes ...string) {
		for _, p := range prefixes {
			list = append(list, shape{p, in, least, exact})
		}
	}
	add(isAlnum, 12, false, "hf_", "hf-", "api_org_")
	add(isWord, 12, false, "sk-", "sk_", "pk_", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "ghp-", "gho-", "ghs-",
		"github_pat_", "glpat-", "gldt-", "glrt-", "glft-", "glptt-", "glcbt-", "glsoat-", "glimt-", "glpat_", "xoxa-",
		"xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xoxa_", "xoxb_", "xoxp_", "xapp-", "dckr_pat_", "dckr_oat_",
		"nvapi-", "gocspx-", "whsec_", "tskey-", "pmak-", "figd_")
	add(isUpper, 12, true, "AKIA", "ASIA", "ABIA", "ACCA", "LTAI")
	add(isWord, 20, true, "AIza", "ATATT3", "ATCTT3", "AGE-SECRET-KEY-1")
	add(isWord, 20, false, "pypi-", "xai-", "tgp_v1_", "glsa_", "hvs.", "hvb.", "ya29.", "rzp_live_")
	add(isAlnum, 20, false, "npm_", "lin_api_", "ntn_", "gsk_", "r8_", "pplx-", "fw_", "sbp_")
	add(isHex, 20, false, "rubygems_", "dop_v1_", "doo_v1_", "dor_v1_", "shpat_", "shpss_", "shpca_",
		"shppa_", "xkeysib-", "pul-", "dapi", "key-")
	add(isDotted, 32, true, "SG.")
	add(isWord, 12, false, "FLWSECK_TEST-", "FLWSECK-")
	add(isBase64, 60, true, "eyJrIjoi")
	add(isWord, 8, false, "xoxa-", "xoxr-", "xoxo-", "xoxs-")
	add(isAlnum, 16, false, "sm_aat_", "sm_pat_", "sm_sat_")
	add(isWord, 20, false, "glffct-", "glagent-", "gloas-", "GR1348941", "fio-u-", "HRKU-AA", "tk-us-", "s-s4t2",
		"duffel_test_", "duffel_live_", "FLWPUBK_TEST-", "sq0atp-", "sq0csp-", "sgp_", "fo1_",
		"sha256~", "CLOJARS_", "p8e-", "_gitlab_session=")
	add(isAlnum, 32, false, "ico-", "pnu_", "rdme_")
	add(isDotted, 32, false, "pscale_tkn_", "pscale_oauth_", "pscale_pw_", "dp.pt.", "dt0c01.", "xoxe.xox")
	add(isBase64, 32, false, "glc_", "sntrys_", "ops_eyJ", "bedrock-api-key-", "fm1a_", "fm1r_", "fm2_")
	add(isHex, 32, false, "sntryu_", "shippo_live_", "shippo_test_")
	for _, c := range "0123456789abcdef" { // Twilio: SK and 32 digits; a keyword needs a third character
		add(isHex, 31, true, "SK"+string(c))
	}
	add(isUpper, 26, true, "API-")
	add(isAlnum, 20, true, "LTAI")
	add(isWord, 34, true, "A3-")
	add(isWord, 22, true, "EAAA", "A3T")
	add(isAlnum, 50, true, "AKCp", "cmVmd", "EZAK", "EZTK", "EAAM", "EAAC")
	add(isDotted, 50, true, "pat.", "sat.", "v1.0-")
	add(isBase64, 100, true, "ABSK", "ZXlK")
	var out []keyword
	for _, sh := range list {
		out = append(out, keyword{strings.ToLower(sh.prefix), sh.find})
	}
	return append(out,
		keyword{"eyj", token}, keyword{"-----begin", pem}, keyword{"bearer", bearer}, keyword{"basic", basic})
}

func (sh shape) find(s string, i int) (from, to int, put string) {
	if i > 0 && (isAlnum(s[i-1]) || s[i-1] == '_') || sh.exact && !strings.HasPrefix(s[i:], sh.prefix) {
		return 0, 0, ""
	}
	body := i + len(sh.prefix)
	end := after(s, body, sh.in)
	if end-body < sh.least || strings.ContainsAny(s[body:end], "-_") && !mixed(s[body:end]) {
		return 0, 0, ""
	}
	return i, end, Mark
}

// mixed reports that a text is no row of words: it has a digit or a capital.
func mixed(s string) bool {
	for i := range len(s) {
		if c := s[i]; isUpper(c) {
			return true
		}
	}
	return false
}

// token finds a JSON web token (RFC 7519): three parts in base64, the first of which begins with {".
func token(s string, i int) (from, to int, put string) {
	if !strings.HasPrefix(s[i:], "eyJ") || i > 0 && isAlnum(s[i-1]) {
		return 0, 0, ""
	}
	end := after(s, i, isWord)
	if end-i < 11 || end >= len(s) || s[end] != '.' {
		return 0, 0, ""
	}
	last := after(s, end+1, isDotted)
	if last == end+1 {
		return 0, 0, ""
	}
	return i, last, Mark
}

// pem finds a private key in PEM (RFC 7468), also one whose end is missing.
func pem(s string, i int) (from, to int, put string) {
	head := s[i:min(len(s), i+80)]
	if n := strings.Index(head[10:], "-----"); n < 0 || !strings.Contains(head[:10+n], "PRIVATE KEY") {
		return 0, 0, ""
	}
	end := strings.Index(s[i+10:], "-----END")
	if end < 0 {
		return i, len(s), Mark
	}
	end += i + 10 + len("-----END")
	if n := strings.Index(s[end:], "-----"); n >= 0 && n < 60 {
		end += n + 5
	}
	return i, end, Mark
}

// bearer finds the credential after the word.
func bearer(s string, i int) (from, to int, put string) {
	at := i + len("bearer")
	body := at
	for body < len(s) && (s[body] == ' ' || s[body] == '+' || s[body] == '\t' || s[body] == '=' || s[body] == ':') {
		body++
	}
	if strings.HasPrefix(s[body:], "%20") {
		body += 3
	}
	end := after(s, body, func(c byte) bool { return isDotted(c) || strings.IndexByte("~+/=", c) >= 0 })
	if body == at || end-body < 6 || !isAlnum(s[body]) {
		return 0, 0, ""
	}
	switch strings.Trim(strings.ToLower(s[body:end]), ".") {
	case "token", "tokens", "authentication", "authorization", "scheme", "header", "realm", "credentials":
		return 0, 0, ""
	}
	return body, end, Mark
}

// basic finds user and password in base64 (RFC 7617): words after "basic" are none.
func basic(s string, i int) (from, to int, put string) {
	at := i + len("basic")
	body := after(s, at, func(c byte) bool { return c == ' ' || c == '+' })
	end := after(s, body, func(c byte) bool { return isWord(c) || strings.IndexByte("+/=", c) >= 0 })
	if body == at || end-body < 6 || !isAlnum(s[body]) {
		return 0, 0, ""
	}
	text := strings.TrimRight(s[body:end], "=")
	plain, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		plain, err = base64.RawURLEncoding.DecodeString(text)
	}
	if err != nil && mixed(text) && len(text) > 7 || strings.Contains(string(plain), ":") {
		return body, end, Mark
	}
	return 0, 0, ""
}

// Writer cleans a text on its way, line by line, in constant memory. A line that is longer than [Text] keeps is cut. A
// private key that spans lines is removed to its end. Close it to write a last line without an end.
type Writer struct {
	to   io.Writer
	line []byte
	key  bool // within a private key
	skip bool // the rest of a line that was cut
}

// NewWriter returns a writer that cleans what it passes on.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexAny(p, "\n\r")
		part := p
		if end >= 0 {
			part = p[:end+1]
		}
		p = p[len(part):]
		if !w.skip {
			w.line = append(w.line, part...)
		} else if end >= 0 {
			w.line = append(w.line, part[len(part)-1])
		}
		if end >= 0 || len(w.line) > longest {
			if err := w.flush(); err != nil {
				return 0, err
			}
			w.skip = end < 0
		}
	}
	return n, nil
}

// Close writes what is left. It does not close what it writes to.
func (w *Writer) Close() error { return w.flush() }

func (w *Writer) flush() error {
	if len(w.line) == 0 {
		return nil
	}
	line := string(w.line)
	w.line = w.line[:0]
	if w.skip {
		_, err := io.WriteString(w.to, line)
		return err
	}
	if w.key {
		at := strings.Index(line, "-----END")
		if at < 0 {
			return nil
		}
		w.key = false
		_, rest, _ := strings.Cut(line[at+8:], "-----")
		line = rest
	}
	if strings.Contains(line, "PRIVATE KEY") {
		begin, end := strings.LastIndex(line, "-----BEGIN"), strings.LastIndex(line, "-----END")
		w.key = begin > end
	}
	text := Text(line)
	if w.key {
		text += "\n"
	}
	_, err := io.WriteString(w.to, text)
	return err
}
