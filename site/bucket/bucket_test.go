package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/site/bucket/buckettest"
)

// opened is a bucket of a store.
func opened(t *testing.T, address string) (*Bucket, *buckettest.Store) {
	t.Helper()
	s, end := buckettest.New("bench")
	t.Cleanup(end)
	b, err := Open(address, s.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	return b, s
}

// Objects come back as they went, also those whose names no address has as they are.
func TestRoundTrip(t *testing.T) {
	b, s := opened(t, "s3://bench/ware house/ä/")
	ctx := context.Background()
	names := []string{"a", "points/partition=v1.0/part-0.parquet", "points/partition=%52%43/part-0.parquet", "x y+z&=é/#?"}
	for _, n := range names {
		if wrote, err := b.Put(ctx, n, []byte("content of "+n), nil); err != nil || !wrote {
			t.Fatalf("%s: %t, %v", n, wrote, err)
		}
		got, err := b.Get(ctx, n)
		if err != nil || string(got) != "content of "+n {
			t.Errorf("%s: %q, %v", n, got, err)
		}
		if s.Objects["ware house/ä/"+n] == nil {
			t.Errorf("%s is under another key", n)
		}
	}
	s.Page = 2
	list, err := b.List(ctx, "", 0)
	if err != nil || len(list) != len(names) {
		t.Errorf("%v %v: a listing of two pages", list, err)
	}
	if list, err := b.List(ctx, "points/", 1); err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
	if err := errors.Join(b.Remove(ctx, "a"), b.Remove(ctx, "a")); err != nil {
		t.Error(err)
	}
	if _, err := b.Get(ctx, "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v: not fs.ErrNotExist", err)
	}
}

// What is there is not sent again, whether or not the store's ETag tells the content.
func TestPutOnlyWhatChanged(t *testing.T) {
	for _, opaque := range []bool{false, true} {
		b, s := opened(t, "s3://bench")
		s.Opaque = opaque
		ctx := context.Background()
		for i, c := range []struct {
			data  string
			wrote bool
		}{{"one", true}, {"one", false}, {"two", true}, {"longer", true}, {"longer", false}} {
			list, err := b.List(ctx, "a", 0)
			if err != nil {
				t.Fatal(err)
			}
			var found *Object
			if len(list) == 1 {
				found = &list[0]
			}
			if wrote, err := b.Put(ctx, "a", []byte(c.data), found); err != nil || wrote != c.wrote {
				t.Errorf("opaque %t, %d: wrote %t, %v", opaque, i, wrote, err)
			}
			if string(s.Objects["a"]) != c.data {
				t.Errorf("opaque %t, %d: %s", opaque, i, s.Objects["a"])
			}
		}
	}
}

// A store that is busy, and a connection that breaks, are asked again; a refusal is not.
func TestAskedAgain(t *testing.T) {
	b, s := opened(t, "s3://bench")
	tries := 0
	s.Before = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
		tries++
		switch tries {
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte("<Error><Code>SlowDown</Code></Error>"))
		case 2:
			panic(http.ErrAbortHandler)
		}
		return tries < 3
	}
	if _, err := b.Put(context.Background(), "a", []byte("x"), nil); err != nil || string(s.Objects["a"]) != "x" {
		t.Errorf("%v after %d tries", err, tries)
	}
	tries = 0
	s.Before = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
		tries++
		w.WriteHeader(http.StatusForbidden)
		return true
	}
	if _, err := b.Put(context.Background(), "a", nil, nil); err == nil || tries != 1 {
		t.Errorf("%v after %d tries", err, tries)
	}
}

// An upload that breaks off leaves the object that was there.
func TestBrokenUpload(t *testing.T) {
	b, s := opened(t, "s3://bench")
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := b.Put(ctx, "a", []byte("old"), nil); err != nil {
		t.Fatal(err)
	}
	s.Before = func(http.ResponseWriter, *http.Request, string) bool {
		cancel()
		panic(http.ErrAbortHandler)
	}
	if _, err := b.Put(ctx, "a", bytes.Repeat([]byte("new"), 1<<20), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if string(s.Objects["a"]) != "old" {
		t.Error("the object is not what it was")
	}
}

// What is no list, and a list that is cut, do not pass for a bucket with fewer objects. A store that repeats its token
// is not asked for ever.
func TestListIsWholeOrAnError(t *testing.T) {
	const key = "<Contents><Key>a</Key></Contents>"
	list := func(inner string) string { return "<ListBucketResult>" + inner + "</ListBucketResult>" }
	const cut = "<IsTruncated>true</IsTruncated>"
	for name, c := range map[string]struct {
		pages []string // one after the other, then from the first again
		limit int
		want  string // of the error
	}{
		"a page to sign in":        {[]string{"<html><body>sign in</body></html>"}, 0, "is no list"},
		"an error with status 200": {[]string{"<Error><Code>InternalError</Code></Error>"}, 0, "is no list"},
		"a cut list without token": {[]string{list(key + cut)}, 0, "is cut"},
		"a cut list, and enough":   {[]string{list(key + cut)}, 1, ""},
		"a cut list, not enough":   {[]string{list(key + cut)}, 2, "is cut"},
		"a token that is repeated": {[]string{token(cut, "x")}, 0, "is cut"},
		"tokens that come again":   {[]string{token(cut, "x"), token(cut, "y")}, 0, "is cut"},
		"a whole list":             {[]string{list(key)}, 0, ""},
		"as AWS sends it":          {[]string{`<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>`}, 0, ""},
	} {
		b, s := opened(t, "s3://bench")
		asked := 0
		s.Before = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			if asked++; asked > 10 {
				w.WriteHeader(http.StatusForbidden) // asked for ever
			}
			_, _ = w.Write([]byte(c.pages[asked%len(c.pages)]))
			return true
		}
		_, err := b.List(context.Background(), "", c.limit)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// token is a page that says where the list goes on.
func token(cut, next string) string {
	return "<ListBucketResult>" + cut + "<NextContinuationToken>" + next + "</NextContinuationToken></ListBucketResult>"
}

// Errors say what to do and have no key.
func TestErrors(t *testing.T) {
	answer := func(status int, header, value string) func(http.ResponseWriter, *http.Request, string) bool {
		return func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			w.Header().Set(header, value)
			w.WriteHeader(status)
			return true
		}
	}
	for want, before := range map[string]func(http.ResponseWriter, *http.Request, string) bool{
		"set AWS_REGION=eu-west-1": answer(http.StatusMovedPermanently, "X-Amz-Bucket-Region", "eu-west-1"),
		"is not followed":          answer(http.StatusFound, "Location", "https://elsewhere.example/"),
		"AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be keys": answer(http.StatusForbidden, "X", ""),
	} {
		b, s := opened(t, "s3://bench")
		s.Before = before
		if _, err := b.List(context.Background(), "", 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %s", err, want)
		}
	}
	s, end := buckettest.New("bench")
	defer end()
	wrong := func(name string) string {
		if name == secretKey {
			return "not-the-secret"
		}
		return s.Getenv(name)
	}
	for _, address := range []string{"s3://bench", "s3://other"} {
		b, err := Open(address, wrong)
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.Get(context.Background(), "a")
		if err == nil || !strings.Contains(err.Error(), "SignatureDoesNotMatch") {
			t.Errorf("%v", err)
		}
		for _, secret := range []string{buckettest.Key, buckettest.Secret, "not-the-secret", "Signature="} {
			if strings.Contains(fmt.Sprintf("%v %+v", err, err), secret) {
				t.Errorf("%v has %s", err, secret)
			}
		}
	}
}

// Addresses and environments that name no bucket.
func TestOpen(t *testing.T) {
	full := map[string]string{accessKey: "a", secretKey: "b"}
	for _, c := range []struct {
		address string
		env     map[string]string
		want    string
	}{
		{"s3://", full, "s3://BUCKET/PREFIX"},
		{"s3:bench", full, "s3://BUCKET/PREFIX"},
		{"s3://key:secret@bench/x", full, "keys are read from"},
		{"s3://bench/x?token=1", full, "keys are read from"},
		{"s3://bench", map[string]string{accessKey: "a"}, "AWS_SECRET_ACCESS_KEY is not set"},
		{"s3://bench", map[string]string{accessKey: "a", secretKey: "b", endpoint: "minio:9000"}, "AWS_ENDPOINT_URL_S3"},
	} {
		_, err := Open(c.address, func(n string) string { return c.env[n] })
		if !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.address, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret@") {
			t.Errorf("%v shows a key", err)
		}
	}
	for address, want := range map[string]string{
		"s3://bench/x": "https://bench.s3.eu-west-1.amazonaws.com/", "s3://b.c": "https://s3.eu-west-1.amazonaws.com/b.c/",
	} {
		b, err := Open(address, func(n string) string {
			return map[string]string{accessKey: "a", secretKey: "b", defaultRegion: "eu-west-1"}[n]
		})
		if err != nil || b.base.String() != want {
			t.Errorf("%s: %v %v, want %s", address, b, err, want)
		}
	}
}
