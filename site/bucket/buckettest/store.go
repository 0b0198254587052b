// Package buckettest is a store for tests: the requests of S3 that package bucket makes, on loopback, in memory. It
// checks each signature with the keys that it has. Only tests import it.
package buckettest

import (
	"crypto/md5" // what a store calls an ETag
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// The keys that the store knows.
const (
	Key    = "AKIDEXAMPLE"
	Secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
)

// Store is one bucket. Its fields but URL are read and set while it is locked.
type Store struct {
	URL string
	sync.Mutex
	Bucket  string
	Objects map[string][]byte // by key
	sums    map[string]string // SHA-256, as the client stated it
	// Log has a line a request: method and key.
	Log []string
	// Before is called with each request, before it is answered; true: it has answered.
	Before func(w http.ResponseWriter, r *http.Request, key string) bool
	// Opaque ETags are of no content, as those of objects are that a store encrypts.
	Opaque bool
	// Page is how many keys an answer has.
	Page int
}

// New starts a store with an empty bucket; close ends it.
func New(bucket string) (s *Store, close func()) {
	s = &Store{Bucket: bucket, Objects: map[string][]byte{}, sums: map[string]string{}, Page: 1000}
	server := httptest.NewServer(s)
	s.URL = server.URL
	return s, server.Close
}

// Getenv is the environment of somebody who uses the store.
func (s *Store) Getenv(name string) string {
	return map[string]string{
		"AWS_ACCESS_KEY_ID": Key, "AWS_SECRET_ACCESS_KEY": Secret, "AWS_ENDPOINT_URL_S3": s.URL,
	}[name]
}

// Count returns how many requests began so, and forgets all of them.
func (s *Store) Count(begin string) int {
	s.Lock()
	defer s.Unlock()
	n := 0
	for _, line := range s.Log {
		if strings.HasPrefix(line, begin) {
			n++
		}
	}
	s.Log = nil
	return n
}

// ServeHTTP answers one request.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	body, err := io.ReadAll(r.Body)
	s.Lock()
	defer s.Unlock()
	s.Log = append(s.Log, r.Method+" "+key)
	sum := sha256.Sum256(body)
	switch {
	case s.Before != nil && s.Before(w, r, key):
	case err != nil || int64(len(body)) != r.ContentLength && r.Method == http.MethodPut:
		refuse(w, http.StatusBadRequest, "IncompleteBody", "The request has less than it states")
	case hex.EncodeToString(sum[:]) != r.Header.Get("X-Amz-Content-Sha256"):
		refuse(w, http.StatusBadRequest, "XAmzContentSHA256Mismatch", "The content is another one")
	case !signed(r):
		refuse(w, http.StatusForbidden, "SignatureDoesNotMatch", "The signature is another one")
	case bucket != s.Bucket:
		refuse(w, http.StatusNotFound, "NoSuchBucket", "There is no such bucket")
	case key == "":
		s.list(w, r)
	default:
		s.object(w, r, key, body)
	}
}

func (s *Store) object(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	data, ok := s.Objects[key]
	switch {
	case r.Method == http.MethodPut:
		s.Objects[key], s.sums[key] = body, r.Header.Get("X-Amz-Meta-Sha256")
	case r.Method == http.MethodDelete:
		delete(s.Objects, key)
		w.WriteHeader(http.StatusNoContent)
	case !ok:
		refuse(w, http.StatusNotFound, "NoSuchKey", "The key does not exist.")
	default:
		w.Header().Set("X-Amz-Meta-Sha256", s.sums[key])
		_, _ = w.Write(data)
	}
}

func (s *Store) list(w http.ResponseWriter, r *http.Request) {
	type object struct {
		Key, ETag string
		Size      int
	}
	page := struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		Contents              []object
		IsTruncated           bool
		NextContinuationToken string
	}{}
	var keys []string
	for key := range s.Objects {
		if strings.HasPrefix(key, r.FormValue("prefix")) && key > r.FormValue("continuation-token") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	most := s.Page
	_, _ = fmt.Sscan(r.FormValue("max-keys"), &most)
	if len(keys) > most {
		keys, page.IsTruncated, page.NextContinuationToken = keys[:most], true, keys[most-1]
	}
	for _, key := range keys {
		sum := md5.Sum(s.Objects[key])
		tag := hex.EncodeToString(sum[:])
		if s.Opaque {
			tag = "0123456789abcdef0123456789abcdef"
		}
		page.Contents = append(page.Contents, object{key, `"` + tag + `"`, len(s.Objects[key])})
	}
	_ = xml.NewEncoder(w).Encode(page)
}

// signed reports whether a request has the signature that the keys give it.
func signed(r *http.Request) bool {
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	_, scope, ok := strings.Cut(r.Header.Get("Authorization"), "Credential="+Key+"/")
	parts := strings.SplitN(scope, "/", 4)
	if err != nil || !ok || len(parts) < 4 {
		return false
	}
	again := r.Clone(r.Context())
	again.Header = http.Header{}
	for name, v := range r.Header {
		if strings.HasPrefix(name, "X-Amz-") || name == "Content-Type" {
			again.Header[name] = v
		}
	}
	again.URL.Host, again.URL.Scheme = r.Host, "http"
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	keys := aws.Credentials{AccessKeyID: Key, SecretAccessKey: Secret, SessionToken: r.Header.Get("X-Amz-Security-Token")}
	err = signer.SignHTTP(r.Context(), keys, again, r.Header.Get("X-Amz-Content-Sha256"), "s3", parts[1], at)
	return err == nil && again.Header.Get("Authorization") == r.Header.Get("Authorization")
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message><AWSAccessKeyId>%s</AWSAccessKeyId></Error>",
		code, message, Key)
}
