package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
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
	ws := &workspace.Workspace{Dir: t.TempDir()}
	t.Setenv("HF_TOKEN", "")
	if f := accessFinding(context.Background(), ws, srv.URL, "free/m"); !f.ok {
		t.Errorf("%+v", f)
	}
	if f := accessFinding(context.Background(), ws, srv.URL, "gated/m"); f.ok || !strings.Contains(f.fix, "HF_TOKEN") {
		t.Errorf("%+v", f)
	}
	t.Setenv("HF_TOKEN", "hf_planted")
	if f := accessFinding(context.Background(), ws, srv.URL, "gated/m"); f.ok ||
		!strings.Contains(f.fix, srv.URL+"/gated/m") || strings.Contains(f.found+f.fix, "planted") {
		t.Errorf("%+v", f)
	}
	if f := accessFinding(context.Background(), ws, "http://127.0.0.1:1", "gated/m"); !f.ok ||
		!strings.Contains(f.found, "unknown") {
		t.Errorf("%+v", f)
	}
}
