package session_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/session"
)

// A server with a key, tools that take one in different ways, and a hub that has one model.
func TestToolsAreUsable(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"data":[{"id":"acme/m"}]}`))
	}))
	defer srv.Close()
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/acme/m/resolve/main/tokenizer_config.json":
		case "/acme/gated/resolve/main/tokenizer_config.json":
			w.WriteHeader(http.StatusForbidden)
		case "/acme/moved/resolve/main/tokenizer_config.json":
			http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusFound)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer hub.Close()
	bin, folder := t.TempDir(), t.TempDir()
	const help = "#!/bin/sh\necho 1.2.3 --a-a --b-b --c-c --d-d --e-e --f-f FLAG\n"
	for name, flag := range map[string]string{"aiperf": "--config", "genai-perf": "", "vllm": "", "guidellm": ""} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(strings.Replace(help, "FLAG", flag, 1)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	old := t.TempDir()
	if err := os.WriteFile(filepath.Join(old, "aiperf"), []byte(strings.Replace(help, "FLAG", "", 1)), 0o700); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	kept := filepath.Join(cache, "models--acme--kept", "snapshots", "1")
	if err := os.MkdirAll(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(kept, "tokenizer.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ tool, model, tokenizer, key, path, hub, offline, want string }{
		{tool: "aiperf", model: "acme/m"},
		{tool: "aiperf", model: "acme/m", key: "sk-1"},
		{tool: "guidellm", model: "acme/m", key: "sk-1"},
		{tool: "vllm", model: "acme/m", key: "sk-1"},
		{tool: "aiperf", model: "acme/m", key: "sk-1", path: old, want: "has no --config"},
		{tool: "genai-perf", model: "acme/m", key: "sk-1", want: "only on its command line"},
		{tool: "genai-perf", model: "acme/m"},
		{tool: "vllm", model: "acme/none", want: "has no model of that name"},
		{tool: "vllm", model: "acme/gated", want: "denies access"},
		{tool: "vllm", model: "acme/moved"},
		{tool: "vllm", model: "tiny", want: "has no model of that name"},
		{tool: "vllm", model: "tiny", tokenizer: folder},
		{tool: "vllm", model: "tiny", tokenizer: "acme/kept", offline: "1"},
		{tool: "vllm", model: "acme/m", offline: "1", want: "HF_HUB_OFFLINE is set"},
		{tool: "vllm", model: "acme/m", hub: "http://127.0.0.1:1", want: "nothing listens at 127.0.0.1:1"},
	} {
		r, _ := request(t, "n150", plan.ServerName{Kind: plan.ServerURL, URL: srv.URL})
		t.Setenv("OPENAI_API_KEY", tt.key)
		t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
		t.Setenv("HF_HUB_CACHE", cache)
		t.Setenv("HF_HUB_OFFLINE", tt.offline)
		t.Setenv("HF_ENDPOINT", hub.URL)
		if tt.path != "" {
			t.Setenv("PATH", tt.path+":"+os.Getenv("PATH"))
		}
		if tt.hub != "" {
			t.Setenv("HF_ENDPOINT", tt.hub)
		}
		r.Options.System.Model, r.Options.Tools.Names = tt.model, []string{tt.tool}
		r.Options.Tools.Tokenizer, r.Options.Measure.Only = tt.tokenizer, plan.OnlyBenchmarks
		_, err := session.New(context.Background(), r)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) ||
			!errors.As(err, &plan.UsageError{})) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}
