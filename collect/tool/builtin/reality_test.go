package builtin_test

import (
	"compress/gzip"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
)

const (
	a1   = `data: {"choices":[{"text":"a"}]}` + "\n\n"
	a3   = a1 + a1 + a1
	used = `data: {"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":3}}` + "\n\n"
	end  = "data: [DONE]\n\n"
)

// sixOf sends six requests, two at a time.
func sixOf(t *testing.T, url, key string) builtin.Outcome {
	t.Helper()
	out, err := builtin.Run(context.Background(), builtin.Load{
		Workload: traffic.Workload{ISL: 8, OSL: 3, Concurrency: 2, Requests: 6, Timeout: time.Minute},
		URL:      url, Model: "m", APIKey: key,
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// flushed writes pieces that leave one by one.
func flushed(w io.Writer, pieces ...string) {
	for _, p := range pieces {
		if _, err := io.WriteString(w, p); err != nil {
			return
		}
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
}

// What real servers and proxies answer, and what each counts as: all of six requests complete with three tokens, or all
// fail with a sentence that says why.
func TestAnswersOfRealServers(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		fails  string // "" completes
	}{
		"one byte at a time": {func(w http.ResponseWriter, _ *http.Request) {
			flushed(w, strings.Split(a3+used+end, "")...)
		}, ""},
		"all in one chunk": {func(w http.ResponseWriter, _ *http.Request) { flushed(w, a3+used+end) }, ""},
		"lines end in CRLF": {func(w http.ResponseWriter, _ *http.Request) {
			flushed(w, strings.ReplaceAll(a3+used+end, "\n", "\r\n"))
		}, ""},
		"comments and event names": {func(w http.ResponseWriter, _ *http.Request) {
			flushed(w, ": ping\n\n", "event: message\nid: 7\n"+a3, ": ping\n\n", end)
		}, ""},
		"no space after the colon": {func(w http.ResponseWriter, _ *http.Request) {
			flushed(w, strings.ReplaceAll(a3+used+end, "data: ", "data:"))
		}, ""},
		"no [DONE]": {func(w http.ResponseWriter, _ *http.Request) { flushed(w, a3, used) }, ""},
		"a length, no chunks": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(a3+used+end)))
			flushed(w, a3+used+end)
		}, ""},
		"each connection serves one request": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "close")
			flushed(w, a3, used, end)
		}, ""},
		"early hints": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			flushed(w, a3, used, end)
		}, ""},
		"429": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			http.Error(w, "too many", http.StatusTooManyRequests)
		}, "HTTP 429, Retry-After 7: too many"},
		"compressed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			flushed(z, a3, used, end)
			_ = z.Close() // the client is gone
		}, "compressed (gzip)"},
		"an answer that is no stream": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			flushed(w, `{"choices":[{"text":"abc"}]}`)
		}, `not an event stream (text/event-stream): {"choices"`},
		"a stream that ends with an error": {func(w http.ResponseWriter, _ *http.Request) {
			flushed(w, a3, `data: {"error":{"message":"out of memory"}}`+"\n\n")
		}, "out of memory"},
		"a page of a proxy": {func(w http.ResponseWriter, _ *http.Request) {
			flushed(w, "<html>Bad gateway</html>")
		}, "no content"},
		"a body that is cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9999")
			flushed(w, a3)
		}, "broke after 3 chunks"},
		"JSON that is cut": {func(w http.ResponseWriter, _ *http.Request) {
			flushed(w, `data: {"choices":[{`+"\n\n")
		}, "no content"},
	} {
		srv := httptest.NewServer(c.answer)
		out := sixOf(t, srv.URL, "")
		srv.Close()
		set := out.Set()
		for _, r := range out.Requests {
			if c.fails == "" && (!r.OK || r.Out != 3 || len(r.ITL) != 2 || r.TTFT <= 0) || !strings.Contains(r.Error, c.fails) {
				t.Errorf("%s: %+v", name, r)
				break
			}
		}
		if c.fails == "" && set.OK != 6 || c.fails != "" && set.OK+set.Hollow != 0 {
			t.Errorf("%s: %d completed of 6", name, set.OK)
		}
	}
}

// A redirect is a failure, and nothing goes to where it points, whatever its status.
func TestRedirectsCarryNoKey(t *testing.T) {
	var asked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		flushed(w, a3, used, end)
	}))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+r.URL.Path, status)
		}))
		out := sixOf(t, srv.URL, "sk-0123456789abcdef")
		srv.Close()
		if e := out.Requests[0].Error; !strings.Contains(e, fmt.Sprintf("HTTP %d, to ", status)) || out.Set().OK > 0 {
			t.Errorf("%d: %q", status, e)
		}
	}
	if asked.Load() > 0 {
		t.Errorf("%d requests went to the other server", asked.Load())
	}
}

// slowListener lets each connection wait before its first byte.
type slowListener struct{ net.Listener }

func (l slowListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	time.Sleep(300 * time.Millisecond)
	return c, err
}

// TLS and IPv6: certificates are verified, and the handshake is in no TTFT.
func TestTLSAndIPv6(t *testing.T) {
	ln, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here")
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		flushed(w, a3, used, end)
	}))
	_ = srv.Listener.Close() // replaced
	srv.Listener = slowListener{ln}
	srv.StartTLS()
	defer srv.Close()
	roots := filepath.Join(t.TempDir(), "roots.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(roots, block, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", roots)
	for _, proxy := range []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"} { // a proxy would be measured with the server
		t.Setenv(proxy, "http://127.0.0.1:1")
	}
	slowest := 0.
	for range 5 { // another process may have the machine once
		out := sixOf(t, srv.URL, "")
		if set := out.Set(); set.OK != 6 {
			t.Fatalf("%d of 6, %q", set.OK, out.Requests[0].Error)
		}
		slowest = 0
		for _, r := range out.Requests {
			slowest = max(slowest, r.TTFT)
		}
		if slowest <= 250 {
			break
		}
	}
	if slowest > 250 {
		t.Errorf("a TTFT of %.0f ms has the handshake in it", slowest)
	}
	wrong := strings.Replace(srv.URL, "[::1]", "localhost", 1) // the certificate is of example.com and addresses
	if got := sixOf(t, wrong, ""); got.Set().OK > 0 {
		t.Error("a certificate of another name was taken")
	}
}
