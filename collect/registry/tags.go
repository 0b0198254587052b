package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/origin"
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
