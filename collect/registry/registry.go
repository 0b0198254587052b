package registry

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/origin"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema/glob"
)

// Bounds of what a registry may answer.
const (
	mostTags  = 100_000
	mostPages = 1000
	mostBody  = 16 << 20 // bytes of a page
	patience  = 30 * time.Second
)

// Image is an image without a tag.
type Image struct {
	Registry string // host with its port
	Name     string // of the repository within the registry
	Text     string // as it was given, which is how docker names it
}

// Parse reads a name such as ghcr.io/acme/server, localhost:5000/server, or acme/server, which is Docker Hub's.
func Parse(text string) (Image, error) {
	wrong := func(why string) (Image, error) {
		return Image{}, fmt.Errorf("%q %s, as in ghcr.io/acme/server", text, why)
	}
	host, name, has := strings.Cut(text, "/")
	if !has || !strings.ContainsAny(host, ".:") && host != "localhost" {
		host, name = "registry-1.docker.io", text
		if !has {
			name = "library/" + text
		}
	} else if host == "docker.io" {
		host = "registry-1.docker.io"
	}
	switch u, err := url.Parse("https://" + host + "/"); {
	case err != nil || u.Host != host:
		return wrong("does not begin with a host")
	case strings.Contains(name, "@"):
		return wrong("has a digest; the list is of tags")
	case strings.Contains(name, ":"):
		return wrong("has a tag; the pattern of tags is stated by itself")
	case name == "" || strings.ContainsFunc(name, notInName) || strings.Contains("/"+name+"/", "//"):
		return wrong("is no name of an image")
	}
	return Image{host, name, text}, nil
}

// notInName reports what a name may not have.
func notInName(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-", r))
}

// base is the address of the registry. As docker does, one on this machine is asked without TLS.
func (i Image) base() string {
	host := i.Registry
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if ip := net.ParseIP(strings.Trim(host, "[]")); host == "localhost" || ip != nil && ip.IsLoopback() {
		return "http://" + i.Registry
	}
	return "https://" + i.Registry
}

// Tags asks the registry for all tags of an image, in its own order. login may be nil; it returns the user and password
// that are kept for a registry.
func (i Image) Tags(ctx context.Context, login func(registry string) (user, password string)) ([]string, error) {
	c := &conversation{Image: i, client: origin.Client(patience)}
	if login != nil {
		c.user, c.password = login(i.Registry)
	}
	var all []string
	next := i.base() + "/v2/" + i.Name + "/tags/list?n=1000"
	for range mostPages {
		page, following, err := c.page(ctx, next)
		if err != nil {
			return nil, fmt.Errorf("tags of %s: %w", i.Text, err)
		}
		all = append(all, page...)
		if len(all) > mostTags {
			return nil, fmt.Errorf("tags of %s: more than %d", i.Text, mostTags)
		}
		if following == "" {
			slices.Sort(all) // pages may overlap where tags come and go
			return slices.Compact(all), nil
		}
		next = following
	}
	return nil, fmt.Errorf("tags of %s: its list does not end within %d pages", i.Text, mostPages)
}

// conversation is what was said to one registry so far.
type conversation struct {
	Image
	client         *http.Client
	user, password string
	authorization  string
}

// page reads a page of the list, and where the next one is; "" behind the last.
func (c *conversation) page(ctx context.Context, address string) (tags []string, next string, err error) {
	resp, err := c.get(ctx, address, c.authorization)
	if err != nil {
		return nil, "", err
	}
	if resp.StatusCode == http.StatusUnauthorized && c.authorization == "" {
		challenge := resp.Header.Get("WWW-Authenticate")
		resp.Body.Close()
		if c.authorization, err = c.authorize(ctx, challenge); err != nil {
			return nil, "", err
		}
		if resp, err = c.get(ctx, address, c.authorization); err != nil {
			return nil, "", err
		}
	}
	defer resp.Body.Close()
	if err := refused(resp); err != nil {
		return nil, "", err
	}
	var list struct {
		Tags []string `json:"tags"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostBody)).Decode(&list); err != nil {
		return nil, "", fmt.Errorf("%s answers with no list of tags: %w", c.Registry, err)
	}
	next, err = following(resp)
	return list.Tags, next, err
}

func (c *conversation) get(ctx context.Context, address, authorization string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	resp, err := c.client.Do(req)
	return resp, origin.Words(err)
}

// refused is the error of an answer that is none.
func refused(resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusNotFound:
		return errors.New("the registry has no such image")
	case http.StatusUnauthorized, http.StatusForbidden:
		return errors.New("the registry denies access; docker login keeps a password for it")
	case http.StatusTooManyRequests:
		return errors.New("the registry has had too many requests; try again later")
	}
	return fmt.Errorf("the registry answers %s", resp.Status)
}

// following reads the header Link (RFC 8288) with the next page, which must be on the same server.
func following(resp *http.Response) (string, error) {
	for _, link := range resp.Header.Values("Link") {
		target, params, _ := strings.Cut(link, ">")
		if !strings.Contains(strings.ReplaceAll(params, `"`, ""), "rel=next") {
			continue
		}
		to, err := resp.Request.URL.Parse(strings.TrimLeft(target, "< "))
		if err != nil || !origin.Same(to, resp.Request.URL) {
			return "", errors.New("the next page of the list is on another server, which is not asked")
		}
		return to.String(), nil
	}
	return "", nil
}

// authorize answers a challenge: Basic with the user's password, or a token that the named service gives (CNCF
// distribution, "Token Authentication Specification").
func (c *conversation) authorize(ctx context.Context, challenge string) (string, error) {
	scheme, rest, _ := strings.Cut(challenge, " ")
	switch {
	case strings.EqualFold(scheme, "basic") && c.user != "":
		return basic(c.user, c.password), nil
	case !strings.EqualFold(scheme, "bearer"):
		return "", errors.New("the registry wants a password; docker login keeps one")
	}
	asked := parameters(rest)
	realm, err := url.Parse(asked["realm"])
	if err != nil || realm.Host == "" || realm.Scheme != "https" && c.base() != "http://"+c.Registry {
		return "", errors.New("the registry names no service of tokens that can be asked safely")
	}
	query := realm.Query()
	query.Set("service", asked["service"])
	query.Set("scope", cmp.Or(asked["scope"], "repository:"+c.Name+":pull"))
	realm.RawQuery = query.Encode()
	login := ""
	if c.user != "" {
		login = basic(c.user, c.password)
	}
	resp, err := c.get(ctx, realm.String(), login)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if err := refused(resp); err != nil {
		return "", fmt.Errorf("a token: %w", err)
	}
	var t struct {
		Token  string `json:"token"`
		Access string `json:"access_token"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, mostBody)).Decode(&t)
	if token := cmp.Or(t.Token, t.Access); err == nil && token != "" {
		redact.Know(token)
		return "Bearer " + token, nil
	}
	return "", errors.New("the registry's service of tokens gives none")
}

func basic(user, password string) string {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return r.Header.Get("Authorization")
}

// parameters reads realm="…",service="…" of a challenge.
func parameters(text string) map[string]string {
	out := map[string]string{}
	for text != "" {
		name, rest, ok := strings.Cut(text, "=")
		if !ok {
			break
		}
		var value string
		if quoted, isQuoted := strings.CutPrefix(rest, `"`); isQuoted {
			value, text, _ = strings.Cut(quoted, `"`)
		} else if at := strings.IndexByte(rest, ','); at >= 0 {
			value, text = rest[:at], rest[at:]
		} else {
			value, text = rest, ""
		}
		out[strings.ToLower(strings.Trim(name, ", "))] = value
		text = strings.TrimLeft(text, ", ")
	}
	return out
}

// DockerLogin returns what docker login keeps for a registry in its configuration file. Passwords in a keychain are not
// read.
func DockerLogin(registry string) (user, password string) {
	folder := os.Getenv("DOCKER_CONFIG")
	if home, err := os.UserHomeDir(); folder == "" && err == nil {
		folder = filepath.Join(home, ".docker")
	}
	data, err := os.ReadFile(filepath.Join(folder, "config.json"))
	var config struct {
		Auths map[string]struct {
			Auth string `json:"auth"`
		} `json:"auths"`
	}
	if err != nil || json.Unmarshal(data, &config) != nil {
		return "", ""
	}
	names := []string{registry, "https://" + registry}
	if registry == "registry-1.docker.io" {
		names = append(names, "https://index.docker.io/v1/")
	}
	for _, name := range names {
		if text, err := base64.StdEncoding.DecodeString(config.Auths[name].Auth); err == nil && len(text) > 0 {
			user, password, _ = strings.Cut(string(text), ":")
			redact.Know(password)
			return user, password
		}
	}
	return "", ""
}

// Select returns the tags that match a pattern, oldest first: by the date that each has (20260131, 2026-01-31), with a
// time of day or a number behind it, or by the version (1.2.3, v0.10.0rc2). Tags of which that is not certain are an
// error: where one has neither, where two are the same, and where more than one version of each differs, as in
// rocm6.2-v0.9.1 and rocm6.4-v0.8.0.
func Select(tags []string, pattern string) ([]string, error) {
	var out []string
	for _, t := range tags {
		if glob.Match(pattern, t) {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no tag of %d matches %q%s", len(tags), pattern, some(tags))
	}
	if err := sorted(out); err != nil {
		return nil, fmt.Errorf("the order of %d tags is not certain: %w; state the pattern more closely, or write the "+
			"builds to a file in their order", len(out), err)
	}
	return out, nil
}

// sorted puts tags in order.
func sorted(tags []string) error {
	dated, versioned := map[string][]stamp{}, map[string][]stamp{}
	for _, t := range tags {
		if k := datesOf(t); k != nil {
			dated[t] = k
		}
		if k := versionsOf(t); k != nil {
			versioned[t] = k
		}
	}
	stamps := dated
	if len(dated) < len(tags) && len(versioned) > len(dated) {
		stamps = versioned
	}
	which, err := differing(tags, stamps)
	if err != nil {
		return err
	}
	key := func(tag string) []int { return stamps[tag][which].key }
	slices.SortFunc(tags, func(a, b string) int { return slices.Compare(key(a), key(b)) })
	for i := 1; i < len(tags); i++ {
		a, b := tags[i-1], tags[i]
		same := slices.Equal(key(a), key(b))
		// The same day, with a number behind one and something else behind the other.
		same = same || len(key(a)) < len(key(b)) && slices.Equal(key(a), key(b)[:len(key(a))]) && !strings.HasPrefix(b, a)
		if same {
			return fmt.Errorf("%q and %q are of the same build or day", a, b)
		}
	}
	return nil
}

// differing returns which of the stamps of each tag puts them in order: the only one that differs.
func differing(tags []string, stamps map[string][]stamp) (which int, err error) {
	for _, t := range tags {
		if stamps[t] == nil {
			return 0, fmt.Errorf("%q has no date or version as the others have", t)
		}
	}
	first, found := stamps[tags[0]], false
	for i := range first {
		differs := false
		for _, t := range tags {
			its := stamps[t]
			if len(its) != len(first) || its[i].of != first[i].of {
				return 0, fmt.Errorf("%q and %q have versions of different things", tags[0], t)
			}
			differs = differs || !slices.Equal(its[i].key, first[i].key)
		}
		if differs && found {
			return 0, fmt.Errorf("each has %d dates or versions, as %q has, and more than one differs", len(first), tags[0])
		}
		if differs {
			which, found = i, true
		}
	}
	return which, nil
}

// some names a few tags.
func some(tags []string) string {
	if len(tags) == 0 {
		return ""
	}
	return "; there are " + strings.Join(tags[:min(4, len(tags))], ", ") + map[bool]string{true: " …"}[len(tags) > 4]
}

var (
	datePart    = regexp.MustCompile(`(?:^|[^0-9])(20\d\d)([-._]?)(\d\d)([-._]?)(\d\d)(?:\d{4}|\d{6})?(?:[^0-9]|$)`)
	versionPart = regexp.MustCompile(`(?:^|[^0-9.])(\d+)\.(\d+)(?:\.(\d+))?(?:\.(\d+))?`)
	// A stage ends where its number does: a195b8b is a hash, and alpine, amd64 and base are no stages.
	stagePart  = regexp.MustCompile(`^[-._]?(?:(dev|alpha|beta|rc|post)[-.]?(\d*)|(a|b)[-.]?(\d{0,3}))(?:[-._]|$)`)
	namePart   = regexp.MustCompile(`[A-Za-z]*$`)
	numberPart = regexp.MustCompile(`\d+`)
)

// stamp is a date or a version that a tag has.
type stamp struct {
	of  string // the word before it, such as rocm; "" for none or v
	key []int
}

// datesOf are the dates of a tag, the last with the numbers behind it; nil where it has none.
func datesOf(tag string) (out []stamp) {
	rest := tag
	for at := datePart.FindStringSubmatchIndex(rest); at != nil; at = datePart.FindStringSubmatchIndex(rest) {
		part := func(i int) string { return rest[at[2*i]:at[2*i+1]] }
		day, err := time.Parse("20060102", part(1)+part(3)+part(5))
		if err == nil && part(2) == part(4) {
			out = append(out, stamp{key: []int{day.Year(), day.YearDay()}})
		}
		rest = rest[at[11]:]
	}
	if len(out) > 0 {
		last := &out[len(out)-1]
		last.key = append(last.key, numbers(versionPart.ReplaceAllString(rest, ""))...)
	}
	return out
}

// versionsOf are the versions of a tag, each with its stage and the number of that; nil where it has none.
func versionsOf(tag string) (out []stamp) {
	stages := map[string]int{"dev": -4, "a": -3, "alpha": -3, "b": -2, "beta": -2, "rc": -1, "": 0, "post": 1}
	for _, at := range versionPart.FindAllStringSubmatchIndex(tag, -1) {
		key := make([]int, 0, 6)
		for i := 1; i <= 4; i++ {
			text := ""
			if at[2*i] >= 0 {
				text = tag[at[2*i]:at[2*i+1]]
			}
			key = append(key, number(text))
		}
		m := stagePart.FindStringSubmatch(tag[at[1]:])
		if m == nil {
			m = make([]string, 5)
		}
		of := strings.ToLower(namePart.FindString(tag[:at[2]]))
		out = append(out, stamp{strings.TrimSuffix(of, "v"), append(key, stages[m[1]+m[3]], number(m[2]+m[4]))})
	}
	return out
}

// numbers are those in a text which stand behind a date: a time of day, a count of builds. A hash has none that mean
// anything, so a part with letters in it counts for nothing.
func numbers(text string) (out []int) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("-._T", r) }) {
		if numberPart.FindString(part) == part {
			out = append(out, number(part))
		}
	}
	return out
}

func number(text string) int {
	v, _ := strconv.Atoi(cmp.Or(text, "0")) // digits; one that is too long is the largest
	return v
}
