package bucket

import (
	"bytes"
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
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/ttreport/ttreport/ingest/redact"
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

// answer is what the store said to a request that it carried out.
type answer struct {
	header http.Header
	body   []byte
}

// Attempts at a request, and the pause before the second one, which doubles.
const (
	attempts = 4
	pause    = 250 * time.Millisecond
)

// ask sends a request until it is answered: a connection that breaks and a store that is busy are asked again. key is
// the whole key of an object, or "" for the bucket. Each request may be repeated, since each states the whole outcome.
func (b *Bucket) ask(ctx context.Context, method, key string, query url.Values, data []byte) (answer, error) {
	var a answer
	var err error
	for i := range attempts {
		if i > 0 {
			select {
			case <-ctx.Done():
				return a, ctx.Err()
			case <-time.After(pause << (i - 1)):
			}
		}
		var again bool
		if a, again, err = b.once(ctx, method, key, query, data); err == nil || ctx.Err() != nil {
			break
		}
		if !again {
			return a, err
		}
	}
	switch {
	case ctx.Err() != nil:
		return a, ctx.Err()
	case err != nil:
		return a, fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return a, nil
}

// slowest is the rate in bytes per second below which a transfer is given up.
const slowest = 64 << 10

// once sends a request once; again: another attempt can succeed.
func (b *Bucket) once(ctx context.Context, method, key string, query url.Values, data []byte) (
	a answer, again bool, err error,
) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute+time.Duration(len(data)/slowest)*time.Second)
	defer cancel()
	req, err := b.request(ctx, method, key, query, data)
	if err != nil {
		return a, false, err
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return a, true, fmt.Errorf("%s does not answer: %w", b.base.Host, withoutAddress(err))
	}
	body, err := readAnswer(resp)
	if err != nil {
		return a, true, fmt.Errorf("the answer of %s: %w", b.base.Host, err)
	}
	if resp.StatusCode/100 == 2 {
		return answer{resp.Header, body}, false, nil
	}
	again, err = b.refused(resp, key, body)
	return a, again, err
}

// request makes a signed request. The signature is of the content as well, so that the store refuses a damaged one.
func (b *Bucket) request(ctx context.Context, method, key string, query url.Values, data []byte) (
	*http.Request, error,
) {
	u := *b.base
	u.Path, u.RawPath = b.base.Path+key, escaped(b.base.Path+key)
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(data)) // none: http.NoBody
	if err != nil {
		return nil, fmt.Errorf("a request of %s: %w", b.name, withoutAddress(err))
	}
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	req.Header.Set("X-Amz-Content-Sha256", hash)
	if method == http.MethodPut {
		req.Header.Set(sumHeader, hash)
		req.Header.Set("Content-Type", "application/octet-stream")
	}
	if err := b.signer.SignHTTP(ctx, b.keys, req, hash, "s3", b.region, time.Now()); err != nil {
		return nil, fmt.Errorf("signing a request: %w", err)
	}
	return req, nil
}

// withoutAddress takes the address out of an error of net/url, which has the whole of it.
func withoutAddress(err error) error {
	var with *url.Error
	if errors.As(err, &with) {
		return with.Err
	}
	return err
}

// escaped writes a path as S3 signs it: everything but letters, digits, -._~ and slashes as %XX.
func escaped(path string) string {
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~/", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// refused tells why the store did not do what it was asked. Of its answer the code and the message are shown: the rest
// can have a key or a signature.
func (b *Bucket) refused(resp *http.Response, key string, body []byte) (again bool, err error) {
	var said struct{ Code, Message string }
	_ = xml.Unmarshal(body, &said) // an answer to HEAD has none, one of a proxy another
	status := resp.StatusCode
	again = status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout ||
		said.Code == "RequestTimeout" || said.Code == "SlowDown"
	what := resp.Status
	if said.Code != "" {
		what = said.Code + ": " + redact.Text(strings.TrimSuffix(said.Message, "."))
	}
	at := resp.Header.Get("X-Amz-Bucket-Region")
	switch {
	case status/100 == 3 && at != "":
		return false, fmt.Errorf("the bucket %s is in the region %s: set %s=%[2]s", b.name, at, region)
	case status/100 == 3:
		return false, fmt.Errorf("the store sends requests elsewhere (%s), which is not followed: name its own address in %s",
			resp.Status, endpoint)
	case status == http.StatusNotFound && key != "" && said.Code != "NoSuchBucket":
		return false, fmt.Errorf("%s in the bucket %s: %w", key, b.name, fs.ErrNotExist)
	case status == http.StatusForbidden:
		return false, fmt.Errorf("the bucket %s: %s; %s and %s must be keys that may list, read, write and remove objects",
			b.name, what, accessKey, secretKey)
	}
	return again, fmt.Errorf("the bucket %s: %s", b.name, what)
}
