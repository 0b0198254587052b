// Package registry lists the tags of an image, in the order in which its builds were made.
//
// In: the name of an image without a tag, and a pattern. Out: its tags from the registry's own list (OCI distribution
// specification 1.1, "Listing Tags"), ordered by the date or the version in each. It must not know what images are for,
// and it pulls none.
package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/origin"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema/glob"
	oras "oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// Image is an image without a tag.
type Image struct {
	Registry string // host with its port
	Name     string // of the repository within the registry
	Text     string // as it was given, which is how docker names it
}

// Parse reads a name such as ghcr.io/acme/server, localhost:5000/server, or acme/server, which is Docker Hub's.
func Parse(text string) (Image, error) {
	host, name, has := strings.Cut(text, "/")
	if !has || !strings.ContainsAny(host, ".:") && host != "localhost" {
		host, name = "registry-1.docker.io", text
		if !has {
			name = "library/" + text
		}
	} else if host == "docker.io" {
		host = "registry-1.docker.io"
	}
	ref := oras.Reference{Registry: host, Repository: name}
	if err := errors.Join(ref.ValidateRegistry(), ref.ValidateRepository()); err != nil {
		return Image{}, fmt.Errorf("%q must be an image without a tag or a digest, as in ghcr.io/acme/server", text)
	}
	return Image{host, name, text}, nil
}

// Tags asks the registry for all tags of an image, sorted as texts, with what docker login keeps for the registry.
func (i Image) Tags(ctx context.Context) ([]string, error) {
	client := &auth.Client{Client: origin.Client(30 * time.Second), Cache: auth.NewCache()}
	if kept, err := credentials.NewStoreFromDocker(credentials.StoreOptions{}); err == nil { // else as a stranger
		login := credentials.Credential(kept)
		client.Credential = func(ctx context.Context, host string) (auth.Credential, error) {
			c, err := login(ctx, host)
			for _, secret := range []string{c.Password, c.RefreshToken, c.AccessToken} {
				redact.Know(secret)
			}
			return c, err
		}
	}
	here := origin.IsHere((&url.URL{Host: i.Registry}).Hostname()) // as docker does, it is asked without TLS then
	repository := &remote.Repository{
		Reference: oras.Reference{Registry: i.Registry, Repository: i.Name}, Client: client, PlainHTTP: here,
		TagListPageSize: 1000, TagListMaxPages: 1000, MaxMetadataBytes: 16 << 20, // of a page
	}
	var all []string
	err := repository.Tags(ctx, "", func(page []string) error {
		all = append(all, page...)
		return nil
	})
	var answer *errcode.ErrorResponse
	if errors.As(err, &answer) {
		switch answer.StatusCode {
		case http.StatusNotFound:
			err = errors.New("the registry has no such image")
		case http.StatusUnauthorized, http.StatusForbidden:
			err = errors.New("the registry denies access; docker login keeps a password for it")
		case http.StatusTooManyRequests:
			err = errors.New("the registry has had too many requests; try again later")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("tags of %s: %w", i.Text, origin.Words(err))
	}
	slices.Sort(all) // pages may overlap where tags come and go
	return slices.Compact(all), nil
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
		return nil, fmt.Errorf("no tag matches %q; the registry has %d, such as %s", pattern, len(tags),
			strings.Join(tags[:min(4, len(tags))], ", "))
	}
	if err := sorted(out); err != nil {
		return nil, fmt.Errorf("the order of %d tags is uncertain: %w; use a narrower pattern, or write the builds to "+
			"a file in their order", len(out), err)
	}
	return out, nil
}

// sorted puts tags in order.
func sorted(tags []string) error {
	lacks := func(stampsOf func(string) []stamp) int {
		return slices.IndexFunc(tags, func(t string) bool { return stampsOf(t) == nil })
	}
	stampsOf := datesOf
	if lacks(datesOf) >= 0 && lacks(versionsOf) < 0 {
		stampsOf = versionsOf
	}
	if i := lacks(stampsOf); i >= 0 {
		return fmt.Errorf("%q has no date or version like the others", tags[i])
	}
	stamps := map[string][]stamp{}
	for _, t := range tags {
		stamps[t] = stampsOf(t)
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
	first, found := stamps[tags[0]], false
	for i := range first {
		differs := false
		for _, t := range tags {
			its := stamps[t]
			if len(its) != len(first) || its[i].of != first[i].of {
				return 0, fmt.Errorf("%q and %q have versions of different kinds", tags[0], t)
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

var (
	datePart    = lazyregexp.New(`(?:^|[^0-9])(20\d\d)([-._]?)(\d\d)([-._]?)(\d\d)(?:\d{4}|\d{6})?(?:[^0-9]|$)`)
	versionPart = lazyregexp.New(`(?:^|[^0-9.])(\d+)\.(\d+)(?:\.(\d+))?(?:\.(\d+))?`)
	// A stage ends where its number does: a195b8b is a hash, and alpine, amd64 and base are no stages.
	stagePart  = lazyregexp.New(`^[-._]?(?:(dev|alpha|beta|rc|post)[-.]?(\d*)|(a|b)[-.]?(\d{0,3}))(?:[-._]|$)`)
	namePart   = lazyregexp.New(`[A-Za-z]*$`)
	numberPart = lazyregexp.New(`\d+`)
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
	if len(out) == 0 {
		return nil
	}
	// Behind the last date stands a time of day, or a count of builds. A hash has no number that means anything, so a
	// part with letters in it counts for nothing.
	last, rest := &out[len(out)-1], versionPart.ReplaceAllString(rest, "")
	for part := range strings.FieldsFuncSeq(rest, func(r rune) bool { return strings.ContainsRune("-._T", r) }) {
		if numberPart.FindString(part) == part {
			last.key = append(last.key, number(part))
		}
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

func number(text string) int {
	v, _ := strconv.Atoi(cmp.Or(text, "0")) // digits; one that is too long is the largest
	return v
}
