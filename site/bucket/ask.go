package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/redact"
)

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
