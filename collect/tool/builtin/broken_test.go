package builtin_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
)

// answering is a server that answers with one token, but for what broken takes.
func answering(
	t *testing.T, idle time.Duration, broken func(net.Conn) bool,
) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	asked := new(atomic.Int64)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		if broken != nil && n%4 == 0 {
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			broken(c)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"text\":\" a\"}]}\n\ndata: [DONE]\n\n")
	}))
	srv.Config.IdleTimeout = idle
	srv.Start()
	t.Cleanup(srv.Close)
	return srv, asked
}

// A connection that breaks under a request is a failure of that request, which the server gets once.
func TestBrokenConnectionsFail(t *testing.T) {
	for name, broken := range map[string]func(net.Conn) bool{
		"reset": func(c net.Conn) bool {
			_ = c.(*net.TCPConn).SetLinger(0)
			return c.Close() == nil
		},
		"closed without an answer": func(c net.Conn) bool {
			time.Sleep(20 * time.Millisecond)
			return c.Close() == nil
		},
		"closed in the head": func(c net.Conn) bool {
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Ty"))
			return c.Close() == nil
		},
	} {
		srv, asked := answering(t, 0, broken)
		out, err := builtin.Run(t.Context(), builtin.Load{
			Workload: traffic.Workload{ISL: 8, OSL: 1, Concurrency: 4, Requests: 180},
			URL:      srv.URL, Model: "m", Seed: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		if set := out.Set(); set.Failed != 45 || set.OK != 135 || asked.Load() != 180 {
			t.Errorf("%s: %d failed and %d completed, of 180 with 45 broken; the server was asked %d times",
				name, set.Failed, set.OK, asked.Load())
		}
	}
}

// A connection that a server or a proxy closed while it was idle breaks nothing: the request is sent on another one, is
// counted, and its clock began before.
func TestIdleConnectionsAreReplaced(t *testing.T) {
	srv, asked := answering(t, 30*time.Millisecond, nil)
	l := builtin.Load{
		Workload: traffic.Workload{ISL: 8, OSL: 1, Rate: 8, Requests: 8},
		URL:      srv.URL, Model: "m", Seed: 1,
	}
	l.Each = l.Random(l.Requests, 1)
	for i := range l.Each {
		l.Each[i].At = time.Duration(i) * 120 * time.Millisecond
	}
	out, err := builtin.Run(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	again := out.Resent()
	if set := out.Set(); set.OK != 8 || asked.Load() != 8 || again < 5 {
		t.Errorf("%d of 8 completed, the server was asked %d times, %d sent again; %q", set.OK, asked.Load(), again,
			out.Requests[1].Error)
	}
	if got := out.Client(l)["resent"]; got != fmt.Sprint(again) {
		t.Errorf("the client states %q requests sent again, of %d", got, again)
	}
}

// A server may close each connection behind its answer without saying so, a moment later: no request fails of it.
func TestConnectionsOfOneAnswer(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		const event = "data: {\"choices\":[{\"text\":\" a\"}]}\n\ndata: [DONE]\n\n"
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nKeep-Alive: timeout=5, max=100\r\n"+
			"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(event), event)
		time.Sleep(200 * time.Microsecond)
		_ = c.Close()
	}))
	t.Cleanup(srv.Close)
	out, err := builtin.Run(t.Context(), builtin.Load{
		Workload: traffic.Workload{ISL: 8, OSL: 1, Concurrency: 1, Requests: 100},
		URL:      srv.URL, Model: "m", Seed: 1, Warmups: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	if set := out.Set(); set.OK != 100 || out.Resent() != 0 {
		t.Errorf("%d of 100 completed, %d sent again", set.OK, out.Resent())
	}
}
