package builtin_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/ttreport/ttreport/collect/tool/builtin"
)

// Each request of a load names an adapter in the model's place, as often as was asked; a conversation has one. What is
// asked of the server itself, such as how it counts tokens, names the model.
func TestAdaptersAreNamed(t *testing.T) {
	for fields, want := range map[string]map[string]float64{
		"endpoint=chat lora=a+b+c":              {"a": 100, "b": 100, "c": 100},
		"endpoint=chat lora=random(a+b+c)":      {"a": 100, "b": 100, "c": 100},
		"endpoint=chat lora=zipf(a+b+c)":        {"a": 164, "b": 82, "c": 54},
		"endpoint=chat lora=a+b turns=3":        {"a": 150, "b": 150},
		"endpoint=completions lora=org/one+two": {"org/one": 150, "two": 150},
		"endpoint=chat":                         {"m": 300},
	} {
		var mu sync.Mutex
		got := map[string]float64{}
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var body struct {
				Model string
				Max   int `json:"max_tokens"`
			}
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			mu.Lock()
			if body.Max == 12 { // what the load asks for
				got[body.Model]++
			}
			mu.Unlock()
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"text\":\"x\"}]}\n\n", "data: [DONE]\n\n")
		}))
		l := drawn(t, fields, 300)
		l.URL, l.Model, l.Concurrency, l.Warmups = srv.URL, "m", 4, 0
		_, err := builtin.Run(t.Context(), l)
		srv.Close()
		if err != nil {
			t.Fatal(err)
		}
		for name, n := range want {
			if math.Abs(got[name]-n) > 4*math.Sqrt(n) || len(got) != len(want) {
				t.Errorf("%s: %v, want about %v", fields, got, want)
			}
		}
	}
}
