package origin

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestKeysStayWithTheirServer(t *testing.T) {
	got := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got++ }))
	defer other.Close()
	port := strings.TrimPrefix(other.URL, "http://127.0.0.1:")
	to := ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/end" {
			return
		}
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	}))
	defer srv.Close()
	for _, to = range []string{
		other.URL, "http://localhost:" + port, "//127.0.0.1:" + port + "/x", "https://127.0.0.1:" + port,
		"file:///etc/passwd",
	} {
		req, err := http.NewRequest(http.MethodPost, srv.URL, strings.NewReader("a prompt"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer abc")
		resp, err := Client(5 * time.Second).Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		if !errors.Is(err, ErrElsewhere) {
			t.Errorf("%s: %v", to, err)
		}
	}
	if got > 0 {
		t.Errorf("%d requests went to another server", got)
	}
	to = "/end"
	resp, err := Client(5 * time.Second).Get(srv.URL)
	if err != nil {
		t.Fatalf("a redirect within the server: %v", err)
	}
	_ = resp.Body.Close()
}

func TestSame(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{"http://h/", "http://H:80/x"}: true, {"https://h", "https://h:443"}: true, {"http://h", "https://h"}: false,
		{"http://h:1", "http://h:2"}: false, {"http://h", "http://h.example"}: false,
		{"http://[::1]:1", "http://[::1]:1"}: true,
	} {
		a, errA := url.Parse(pair[0])
		b, errB := url.Parse(pair[1])
		if errA != nil || errB != nil || Same(a, b) != want {
			t.Errorf("%v: %v %v", pair, errA, errB)
		}
	}
}

func TestHeadersAreBounded(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 40 {
			w.Header().Add("X-Flood", strings.Repeat("x", 60000))
		}
	}))
	defer srv.Close()
	resp, err := Client(5 * time.Second).Get(srv.URL)
	if err == nil {
		_ = resp.Body.Close()
		t.Error("2.4 MB of headers were read")
	}
}
