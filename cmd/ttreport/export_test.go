package main

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ttreport/ttreport/site/bucket/buckettest"
)

// store starts a store with the bucket bench for a story, whose environment gets its address and keys.
func store(ts *testscript.TestScript, neg bool, _ []string) {
	if neg {
		ts.Fatalf("usage: store")
	}
	s, end := buckettest.New("bench")
	ts.Defer(end)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL_S3"} {
		ts.Setenv(name, s.Getenv(name))
	}
}

// exporting runs ttreport in a workspace with a release that has been measured, against a store.
func exporting(t *testing.T) (s *buckettest.Store, export func(ctx context.Context) (code int, said string)) {
	t.Helper()
	s, end := buckettest.New("bench")
	t.Cleanup(end)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL_S3"} {
		t.Setenv(name, s.Getenv(name))
	}
	t.Chdir(t.TempDir())
	command := func(ctx context.Context, args ...string) (int, string) {
		var out bytes.Buffer
		code := run(ctx, args, strings.NewReader(""), &out, &out)
		return code, out.String()
	}
	if code, said := command(context.Background(), "collect"); code != 0 {
		t.Fatal(said)
	}
	if code, said := command(context.Background(), "ingest", "results"); code != 0 {
		t.Fatal(said)
	}
	return s, func(ctx context.Context) (int, string) {
		return command(ctx, "export", "parquet", "s3://bench/warehouse")
	}
}

// An export that is interrupted at any of its requests leaves whole files, and no release in the table of runs that is
// not in the others; the next one finishes it.
func TestExportCutShort(t *testing.T) {
	s, export := exporting(t)
	for stop := 1; ; stop++ {
		clear(s.Objects)
		ctx, cancel := context.WithCancel(context.Background())
		puts := 0
		s.Before = func(_ http.ResponseWriter, r *http.Request, _ string) bool {
			if r.Method != http.MethodPut {
				return false
			}
			if puts++; puts >= stop { // this one and all that are on their way break off
				cancel()
				panic(http.ErrAbortHandler)
			}
			return false
		}
		code, said := export(ctx)
		cancel()
		s.Before = nil
		for name, data := range s.Objects {
			if strings.HasSuffix(name, partName) && !bytes.HasSuffix(data, []byte("PAR1")) {
				t.Fatalf("after %d files: %s is not whole", stop, name)
			}
			if rest, isRun := strings.CutPrefix(name, "warehouse/runs/"); isRun {
				for _, table := range []string{"points", "scores", "verdicts"} {
					if s.Objects["warehouse/"+table+"/"+rest] == nil {
						t.Errorf("after %d files: %s has no %s", stop, name, table)
					}
				}
			}
		}
		if code == 0 {
			break
		}
		if code != exitInterrupted {
			t.Fatalf("exit %d: %s", code, said)
		}
		stop += 5 // every sixth is enough
	}
	if code, said := export(context.Background()); code != 0 || !strings.Contains(said, " 0 files written") {
		t.Errorf("exit %d: %s", code, said)
	}
}

// What an export says to do depends on why it ended: a place that cannot be written is not written by trying again.
func TestExportAdvises(t *testing.T) {
	s, export := exporting(t)
	s.Objects["warehouse/"] = nil // as a console makes a folder
	answers := func(status int) func(http.ResponseWriter, *http.Request, string) bool {
		return func(w http.ResponseWriter, r *http.Request, _ string) bool {
			if r.Method == http.MethodPut {
				w.WriteHeader(status)
			}
			return r.Method == http.MethodPut
		}
	}
	for status, want := range map[int]string{
		http.StatusForbidden:          "check that s3://bench/warehouse can be written",
		http.StatusServiceUnavailable: "the same command goes on where this one ended",
	} {
		s.Before = answers(status)
		if code, said := export(context.Background()); code != exitUsage || !strings.Contains(said, want) {
			t.Errorf("%d: exit %d: %s", status, code, said)
		}
	}
	s.Before = nil
	if code, said := export(context.Background()); code != 0 {
		t.Errorf("a prefix that a console made is refused: %s", said)
	}
}

// Keys of a store are in no file that an export leaves, and in no message.
func TestExportShowsNoKey(t *testing.T) {
	s, export := exporting(t)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "another-secret-of-somebody")
	code, said := export(context.Background())
	if code != exitUsage || !strings.Contains(said, "SignatureDoesNotMatch") {
		t.Errorf("exit %d: %s", code, said)
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", buckettest.Secret)
	if code, more := export(context.Background()); code != 0 {
		t.Fatal(more)
	} else {
		said += more
	}
	for _, secret := range []string{"another-secret-of-somebody", buckettest.Secret, buckettest.Key} {
		if strings.Contains(said, secret) {
			t.Errorf("%s is shown", secret)
		}
		for name, data := range s.Objects {
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s has %s", name, secret)
			}
		}
	}
}
