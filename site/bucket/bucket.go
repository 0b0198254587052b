package bucket

import (
	"cmp"
	"context"
	"crypto/md5" // what a store calls an ETag
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Scheme begins an address of a bucket.
const Scheme = "s3://"

// Variables that are read, as the AWS programs name them.
const (
	accessKey, secretKey, sessionToken = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"
	region, defaultRegion              = "AWS_REGION", "AWS_DEFAULT_REGION"
	endpoint, anyEndpoint              = "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"
)

var (
	// ErrSettings is an address or an environment that names no bucket.
	ErrSettings = errors.New("not usable")
	// ErrBusy is a store that is busy or does not answer: the same request may be answered later.
	ErrBusy = fmt.Errorf("given up after %d attempts", attempts)
)

// Bucket is a part of a bucket: the objects whose keys begin with a prefix.
type Bucket struct {
	name, prefix string
	base         *url.URL // of the bucket
	region       string
	keys         aws.Credentials
	signer       *v4.Signer
	client       *http.Client
}

// Object is what a listing says of an object; its name is without the prefix.
type Object struct {
	Name, ETag string
	Size       int64
}

// Open returns the bucket of an address. Nothing is asked of the store yet.
func Open(address string, getenv func(string) string) (*Bucket, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme+"://" != Scheme || u.Host == "":
		return nil, fmt.Errorf("%w: expected s3://BUCKET/PREFIX", ErrSettings)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%w: expected s3://BUCKET/PREFIX and nothing else; keys are read from %s and %s",
			ErrSettings, accessKey, secretKey)
	}
	b := &Bucket{
		name: u.Host, region: cmp.Or(getenv(region), getenv(defaultRegion), "us-east-1"),
		keys: aws.Credentials{
			AccessKeyID: getenv(accessKey), SecretAccessKey: getenv(secretKey), SessionToken: getenv(sessionToken),
		},
		client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }), // as S3 differs from all others
	}
	if p := strings.Trim(u.Path, "/"); p != "" {
		b.prefix = p + "/"
	}
	for _, name := range []string{accessKey, secretKey} {
		if getenv(name) == "" {
			return nil, fmt.Errorf("%w: %s is not set", ErrSettings, name)
		}
	}
	b.base, err = base(u.Host, b.region, cmp.Or(getenv(endpoint), getenv(anyEndpoint)))
	return b, err
}

// base returns the address of a bucket: of AWS where no other store is named, whose buckets are hosts.
func base(bucket, region, at string) (*url.URL, error) {
	switch {
	case at == "" && !strings.Contains(bucket, "."):
		return &url.URL{Scheme: "https", Host: bucket + ".s3." + region + ".amazonaws.com", Path: "/"}, nil
	case at == "": // no certificate is for a host with more dots
		at = "https://s3." + region + ".amazonaws.com"
	}
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("%w: %s: expected something like https://s3.example.org", ErrSettings, endpoint)
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + "/" + bucket + "/"
	u.RawQuery, u.Fragment = "", ""
	return u, nil
}

// Get returns an object of at most 8 MiB; an error that is fs.ErrNotExist where there is none.
func (b *Bucket) Get(ctx context.Context, name string) ([]byte, error) {
	resp, err := b.ask(ctx, http.MethodGet, b.prefix+name, nil, nil)
	if err != nil {
		return nil, err
	}
	return resp.body, nil
}

// listing is an answer to a request for a list.
type listing struct {
	XMLName  xml.Name `xml:"ListBucketResult"` // what else is well-formed is no empty bucket: a page to sign in, for one
	Contents []struct {
		Key, ETag string
		Size      int64
	}
	IsTruncated           bool
	NextContinuationToken string
}

// List returns the objects whose names begin so, at most limit; 0: all. A list that the store does not give to its end
// is an error, since what is not in it would pass for objects that do not exist.
func (b *Bucket) List(ctx context.Context, begin string, limit int) ([]Object, error) {
	query := url.Values{"list-type": {"2"}, "prefix": {b.prefix + begin}}
	if limit > 0 {
		query.Set("max-keys", strconv.Itoa(limit))
	}
	var out []Object
	seen := map[string]bool{"": true} // continuation tokens
	for {
		resp, err := b.ask(ctx, http.MethodGet, "", query, nil)
		if err != nil {
			return nil, err
		}
		var page listing
		if err := xml.Unmarshal(resp.body, &page); err != nil {
			return nil, fmt.Errorf("listing the bucket %s: the answer is no list: %w", b.name, err)
		}
		for _, c := range page.Contents {
			if name, ok := strings.CutPrefix(c.Key, b.prefix); ok {
				out = append(out, Object{Name: name, ETag: strings.Trim(c.ETag, `"`), Size: c.Size})
			}
		}
		next := page.NextContinuationToken
		switch {
		case limit > 0 && len(out) >= limit:
			return out[:limit], nil
		case !page.IsTruncated:
			return out, nil
		case seen[next]:
			return nil, fmt.Errorf("listing the bucket %s: the answer is cut and does not say where it goes on", b.name)
		}
		seen[next] = true
		query.Set("continuation-token", next)
	}
}

// sumHeader is the metadata with the SHA-256 of an object.
const sumHeader = "X-Amz-Meta-Sha256"

// Put makes an object. It leaves alone what a listing said of it, found, where that has the same content, and reports
// whether it wrote. An ETag is the MD5 of an object that one request made and that no key of the store's encrypts; of
// others the metadata are asked for.
func (b *Bucket) Put(ctx context.Context, name string, data []byte, found *Object) (bool, error) {
	sum := sha256.Sum256(data)
	if found != nil && found.Size == int64(len(data)) {
		tag := md5.Sum(data)
		if strings.EqualFold(found.ETag, hex.EncodeToString(tag[:])) {
			return false, nil
		}
		resp, err := b.ask(ctx, http.MethodHead, b.prefix+name, nil, nil)
		switch {
		case err == nil && resp.header.Get(sumHeader) == hex.EncodeToString(sum[:]):
			return false, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return false, err
		}
	}
	_, err := b.ask(ctx, http.MethodPut, b.prefix+name, nil, data)
	return err == nil, err
}

// Remove removes an object; one that is not there is removed.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	_, err := b.ask(ctx, http.MethodDelete, b.prefix+name, nil, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// mostAnswer bounds an answer in bytes: 1,000 keys of a listing, of 1,024 bytes each, with what stands around them.
const mostAnswer = 8 << 20

func readAnswer(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close() // read to its end, or the connection is given up
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer+1))
	if err == nil && len(body) > mostAnswer {
		err = fmt.Errorf("the answer is longer than %d bytes", mostAnswer)
	}
	return body, err
}
