package registry_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect/registry"
)

// fake is a registry that gives three tags a page to those with a token.
type fake struct {
	*httptest.Server
	tags   []string
	token  string // "" for none
	asked  []string
	login  string // Authorization that the service of tokens saw
	onward string // where the next page is said to be, if elsewhere
}

func newFake(t *testing.T, tags ...string) *fake {
	f := &fake{tags: tags}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /token", func(w http.ResponseWriter, r *http.Request) {
		f.login = r.Header.Get("Authorization")
		if r.FormValue("service") != "reg" || r.FormValue("scope") != "repository:acme/server:pull" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, `{"token": %q}`, f.token)
	})
	mux.HandleFunc("GET /v2/acme/server/tags/list", f.list)
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	return f
}

func (f *fake) list(w http.ResponseWriter, r *http.Request) {
	f.asked = append(f.asked, r.URL.RawQuery)
	if f.token != "" && r.Header.Get("Authorization") != "Bearer "+f.token {
		w.Header().Set("WWW-Authenticate",
			fmt.Sprintf(`Bearer realm="%s/token",service="reg",scope="repository:acme/server:pull"`, f.URL))
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	from := slices.Index(f.tags, r.FormValue("last")) + 1
	to := min(from+3, len(f.tags))
	if to < len(f.tags) {
		w.Header().Set("Link", fmt.Sprintf(`<%s/v2/acme/server/tags/list?n=3&last=%s>; rel="next"`, f.onward, f.tags[to-1]))
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"name": "acme/server", "tags": f.tags[from:to]})
}

func (f *fake) image(t *testing.T, name string) registry.Image {
	t.Helper()
	i, err := registry.Parse(strings.TrimPrefix(f.URL, "http://") + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// All pages are read, with the token that the registry's service gives to the user of docker login.
func TestTags(t *testing.T) {
	f := newFake(t, "a", "b", "c", "d", "e", "f", "g")
	f.token = "secret"
	folder := t.TempDir()
	t.Setenv("DOCKER_CONFIG", folder)
	auth := base64.StdEncoding.EncodeToString([]byte("me:word"))
	config := fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, strings.TrimPrefix(f.URL, "http://"), auth)
	if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := f.image(t, "acme/server").Tags(context.Background())
	if err != nil || !slices.Equal(got, f.tags) {
		t.Errorf("%v, %v", got, err)
	}
	if f.login != "Basic "+auth || len(f.asked) != 4 { // one was refused
		t.Errorf("login %q, asked %v", f.login, f.asked)
	}
}

// What a registry refuses is said; a list is never followed to another server.
func TestRefusals(t *testing.T) {
	ctx := context.Background()
	f := newFake(t, "a", "b", "c", "d")
	_, err := f.image(t, "acme/other").Tags(ctx)
	if err == nil || !strings.Contains(err.Error(), "has no such image") {
		t.Errorf("%v", err)
	}
	elsewhere := newFake(t, "x")
	f.onward = elsewhere.URL
	_, err = f.image(t, "acme/server").Tags(ctx)
	if err == nil || !strings.Contains(err.Error(), "not the same origin") {
		t.Errorf("%v", err)
	}
	if len(elsewhere.asked) > 0 {
		t.Errorf("the other server was asked %v", elsewhere.asked)
	}
	for _, text := range []string{
		"ghcr.io/acme/server:v1", "ghcr.io/acme/server@sha256:ab", "ghcr.io/", "ghcr.io/Acme", "", "a//b", "ghcr.io:x/a",
	} {
		if i, err := registry.Parse(text); err == nil || !strings.Contains(err.Error(), "must be an image without a tag") {
			t.Errorf("%q: %+v, %v", text, i, err)
		}
	}
	for text, want := range map[string]string{"acme/server": "registry-1.docker.io acme/server",
		"ubuntu": "registry-1.docker.io library/ubuntu", "localhost:5000/a/b": "localhost:5000 a/b"} {
		if i, err := registry.Parse(text); err != nil || i.Registry+" "+i.Name != want {
			t.Errorf("%q: %+v, %v", text, i, err)
		}
	}
}

// Tags are in the order of their dates or versions; where that is not certain, it is an error that says why.
func TestOrder(t *testing.T) {
	for _, c := range []struct{ tags, pattern, want string }{
		{"nightly-20260203 latest nightly-20251231 nightly-20260110", "nightly-*",
			"nightly-20251231 nightly-20260110 nightly-20260203"},
		{"2026-02-03-ab12 2026-01-31-ff00 2025-12-01-1234", "*", "2025-12-01-1234 2026-01-31-ff00 2026-02-03-ab12"},
		{"20260131-2 20260131-10 20260131-1", "*", "20260131-1 20260131-2 20260131-10"},
		{"20260131120000 20260131093000", "*", "20260131093000 20260131120000"},
		{"v0.10.0 v0.9.2 v0.10.0rc2 v0.10.0.dev3 v0.10.1", "v*", "v0.9.2 v0.10.0.dev3 v0.10.0rc2 v0.10.0 v0.10.1"},
		{"0.11.0-20250902 0.9.0-20250903 0.10.0-20250901", "*", "0.10.0-20250901 0.11.0-20250902 0.9.0-20250903"},
		{"0.0.5-a195b8b-dc85f59 0.0.4-b2", "*", "0.0.4-b2 0.0.5-a195b8b-dc85f59"},
		{"nightly-20260203 latest", "*", `error: "latest" has no date or version`},
		{"nightly-c0ffee nightly-badc0de", "*", "error: has no date or version"},
		{"v1.0.0-amd64 v1.0.0-arm64", "*", `error: "v1.0.0-amd64" and "v1.0.0-arm64" are of the same build or day`},
		{"rocm6.2-v0.9.1 rocm6.3-v0.9.0 rocm6.4-v0.8.0", "*", "error: more than one differs"},
		{"cuda12.4-v0.9.1 cuda12.8-v0.9.0", "*", "error: more than one differs"},
		{"rocm-6.2-0.9.1rc1 rocm-6.3-0.9.0rc1", "*", "error: more than one differs"},
		{"rocm6.2-v0.9.1 rocm6.2-v0.10.0 rocm6.2-v0.9.0", "*", "rocm6.2-v0.9.0 rocm6.2-v0.9.1 rocm6.2-v0.10.0"},
		{"1.3-ubuntu22.04 1.10-ubuntu22.04 1.3rc1-ubuntu22.04", "*", "1.3rc1-ubuntu22.04 1.3-ubuntu22.04 1.10-ubuntu22.04"},
		{"v0.9.1 v0.9.2-cuda12.8", "*", "error: versions of different kinds"},
		{"rocm6.4 v0.9.1", "*", "error: versions of different kinds"},
		{"v1.2.3-alpine v1.2.3", "*", `error: "v1.2.3-alpine" and "v1.2.3" are of the same build`},
		{"1.2.3-base 1.2.3", "*", "error: the same build"}, {"1.2.3-bookworm 1.2.3", "*", "error: the same build"},
		{"1.2.3-a195b8b 1.2.3", "*", "error: the same build"}, {"1.2.3-b1234567 1.2.3", "*", "error: the same build"},
		{"1.2.3 1.2.3-b2 1.2.3a1 1.2.3-beta.3 1.2.3-alpha", "*", "1.2.3-alpha 1.2.3a1 1.2.3-b2 1.2.3-beta.3 1.2.3"},
		{"1.2.3-amd64 1.2.4-amd64 1.2.4-rc1-amd64", "*", "1.2.3-amd64 1.2.4-rc1-amd64 1.2.4-amd64"},
		{"20260131-20251201 20260130-20251203", "*", "error: more than one differs"},
		{"20260131-v1.2 20260131-v0.10", "*", "error: are of the same build or day"},
		{"20260131-ab12cd 20260131-1234567", "*", "error: are of the same build or day"},
		{"20260131-2 20260131", "*", "20260131 20260131-2"},
		{"a b", "x*", `error: no tag matches "x*"; the registry has 2, such as a, b`},
		{"20261331 20260101", "*", `error: "20261331" has no date`},
	} {
		got, err := registry.Select(strings.Fields(c.tags), c.pattern)
		if want, isError := strings.CutPrefix(c.want, "error: "); isError {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, %v; expected %s", c.tags, got, err, want)
			}
		} else if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v; expected %s", c.tags, got, err, want)
		}
	}
}
