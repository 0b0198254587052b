package builtin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect/tool/builtin"
)

// Functions are offered in the form of their endpoint, and an answer counts as a call only where it has one: a server
// that takes tool_choice and answers with text measured something else, and says so.
func TestToolsAreOffered(t *testing.T) {
	const event = "data: {\"choices\":[{\"delta\":{%s}}]}\n\n"
	call := fmt.Sprintf(event, `"tool_calls":[{"index":0,"function":{"name":"search_1","arguments":""}}]`)
	argument := fmt.Sprintf(event, `"tool_calls":[{"index":0,"function":{"arguments":"{"}}]`)
	text := fmt.Sprintf(event, `"content":"no"`)
	for _, c := range []struct {
		fields, answer string
		ok             bool
		called         string
	}{
		{"endpoint=chat tools=2 tool_choice=required", call + argument, true, "4"},
		{"endpoint=chat tools=2 tool_choice=required", text + text, false, "0"},
		{"endpoint=chat tools=2", text + text, true, "0"}, {"endpoint=chat tools=2", text + call, true, "4"},
		{"endpoint=chat", text, true, ""},
	} {
		var body struct {
			Tools []struct {
				Type     string
				Function struct{ Name string }
			}
			Choice string `json:"tool_choice"`
		}
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, c.answer, "data: [DONE]\n\n")
		}))
		l := drawn(t, c.fields, 4)
		l.URL, l.Model, l.Concurrency = srv.URL, "m", 1
		out, err := builtin.Run(t.Context(), l)
		srv.Close()
		if err != nil {
			t.Fatal(err)
		}
		offered, required := strings.Contains(c.fields, "tools=2"), strings.Contains(c.fields, "required")
		if offered != (len(body.Tools) == 2 && body.Tools[1].Function.Name == "search_2") ||
			required != (body.Choice == "required") {
			t.Errorf("%s: the body has %+v", c.fields, body)
		}
		if q := out.Requests[0]; q.OK != c.ok || !c.ok && !strings.Contains(q.Error, "calls no tool") {
			t.Errorf("%s, %.60s: %+v", c.fields, c.answer, q)
		}
		if got := out.Client(l)["tools_called"]; got != c.called {
			t.Errorf("%s, %.60s: %q answers call a tool, want %q", c.fields, c.answer, got, c.called)
		}
	}
}
