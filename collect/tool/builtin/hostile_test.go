package builtin

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/traffic"
)

// answered measures one request on a server that answers in its own way.
func answered(t *testing.T, answer http.HandlerFunc) Timeline {
	t.Helper()
	srv := httptest.NewServer(answer)
	defer srv.Close()
	out, err := Run(context.Background(), Load{
		Workload: traffic.Workload{ISL: 8, OSL: 4, Concurrency: 1, Requests: 1, Timeout: 5 * time.Minute},
		URL:      srv.URL, Model: "m",
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Requests[0]
}

const done = "data: [DONE]\n\n"

func chunk(text string) string {
	return `data: {"choices":[{"text":"` + text + `"}]}` + "\n\n"
}

// An event may be longer than any buffer.
func TestLongEvents(t *testing.T) {
	for _, size := range []int{100, 4 << 10, 5 << 10, 100 << 10, 8 << 20} {
		got := answered(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, chunk("a"), chunk(strings.Repeat("b", size)), chunk("c"), done)
		})
		if !got.OK || got.Out != 3 {
			t.Errorf("%d bytes: %+v", size, got)
		}
	}
}

func TestAnswersThatDoNotEnd(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"chunks": {func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := fmt.Fprint(w, chunk("a")); err != nil {
					return
				}
			}
		}, "does not end"},
		"one line": {func(w http.ResponseWriter, _ *http.Request) {
			_, err := fmt.Fprint(w, "data: ")
			for err == nil {
				_, err = fmt.Fprint(w, strings.Repeat("x", 1<<16))
			}
		}, "longer than"},
		"headers": {func(w http.ResponseWriter, _ *http.Request) {
			for range 60 {
				w.Header().Add("X-Flood", strings.Repeat("x", 60000))
			}
			fmt.Fprint(w, chunk("a"), done)
		}, "headers"},
		"after the end": {func(w http.ResponseWriter, _ *http.Request) {
			_, err := fmt.Fprint(w, chunk("a"), done)
			for err == nil {
				_, err = fmt.Fprint(w, strings.Repeat("x", 1<<16))
			}
		}, ""},
	} {
		began := time.Now()
		got := answered(t, c.answer)
		if got.OK != (c.want == "") || !strings.Contains(got.Error, c.want) || time.Since(began) > 2*time.Minute {
			t.Errorf("%s: ok %v, %q after %s", name, got.OK, got.Error, time.Since(began))
		}
	}
}
