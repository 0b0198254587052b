package doctor

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A gated model is told from one that is free and from one whose terms are not accepted, with what to do.
func TestAccess(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/free/"):
		case r.Header.Get("Authorization") == "":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer srv.Close()
	dir := t.TempDir()
	ask := func(hub, model string) Finding {
		t.Setenv("HF_ENDPOINT", hub)
		return access(context.Background(), Request{Dir: dir, Model: model})
	}
	t.Setenv("HF_TOKEN", "")
	if f := ask(srv.URL, "free/m"); !f.OK {
		t.Errorf("%+v", f)
	}
	if f := ask(srv.URL, "gated/m"); f.OK || !strings.Contains(f.Fix, "HF_TOKEN") {
		t.Errorf("%+v", f)
	}
	t.Setenv("HF_TOKEN", "hf_planted")
	if f := ask(srv.URL, "gated/m"); f.OK ||
		!strings.Contains(f.Fix, srv.URL+"/gated/m") || strings.Contains(f.Found+f.Fix, "planted") {
		t.Errorf("%+v", f)
	}
	if f := ask("http://127.0.0.1:1", "gated/m"); !f.OK || !strings.Contains(f.Found, "unknown") {
		t.Errorf("%+v", f)
	}
}

// A port is free or taken, and the finding of a taken one says what to do.
func TestPort(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := ln.Addr().(*net.TCPAddr).Port
	if f := port(n); f.OK || !strings.Contains(f.Fix, fmt.Sprint(n)) {
		t.Errorf("%+v", f)
	}
	_ = ln.Close() // what it says is not wanted
	if f := port(n); !f.OK || f.Fix != "" {
		t.Errorf("%+v", f)
	}
}

// Where a secret is set is found; its value is in no finding. A file that others can read is one.
func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"HF_TOKEN", "JWT_SECRET"} {
		t.Setenv(name, "")
	}
	t.Setenv("OPENAI_API_KEY", "planted")
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte("HF_TOKEN=planted\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, ".env"), 0o644); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(secrets(dir))
	for _, want := range []string{"mode 0644", "HF_TOKEN set in .env", "OPENAI_API_KEY set in the environment",
		"JWT_SECRET not set"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if strings.Contains(text, "planted") {
		t.Errorf("a secret is in %s", text)
	}
}

func TestCheck(t *testing.T) {
	if err := Check(append(Tools(), "")...); err != nil {
		t.Error(err)
	}
	if err := Check("vllm", "vlmm"); err == nil || !strings.Contains(err.Error(), "vlmm") {
		t.Error(err)
	}
}

func TestWrite(t *testing.T) {
	list := []Finding{{true, "a", "there", ""}, {false, "b", "not there", "apt-get install b"}, {false, "c", "-", ""}}
	var out strings.Builder
	if err := Write(&out, list); err != nil {
		t.Fatal(err)
	}
	const want = "ok  a  there      \n--  b  not there  apt-get install b\n--  c  -          \n"
	if out.String() != want {
		t.Errorf("%q", out.String())
	}
	if n := Missing(list, []string{"a", "b"}); n != 1 {
		t.Errorf("%d missing", n)
	}
}
