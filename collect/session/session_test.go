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
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/session"
	"github.com/ttreport/ttreport/ingest/schema"
)

// none are targets of a workspace without target files.
func none(schema.Model, string) (plan.TargetPlan, error) { return plan.TargetPlan{}, nil }

// request asks for a model on a device; what is said is kept.
func request(t *testing.T, device string, name plan.ServerName) (session.Request, *[]string) {
	t.Helper()
	for _, v := range []string{"OPENAI_API_KEY", "JWT_SECRET", "API_KEY", "HF_TOKEN"} {
		t.Setenv(v, "")
	}
	var said []string
	r := session.Request{
		Dir: t.TempDir(), Targets: none,
		Ask:  func(name, _ string) (string, bool) { said = append(said, "ask "+name); return "typed", true },
		Warn: func(s string) { said = append(said, s) },
		Note: func(n plan.Note) { said = append(said, n.Text) },
	}
	r.Options.System = plan.System{Model: "m", Device: device}
	r.Options.Server.Name, r.Options.Measure.Repeat = name, 1
	return r, &said
}

// Nothing but a model and the simulator's device is needed: the simulator serves, without a key.
func TestSimulator(t *testing.T) {
	r, said := request(t, "simulated", plan.ServerName{})
	s, err := session.New(context.Background(), r)
	if err != nil || len(s.Plan.Workloads) == 0 || s.Options.Server.Name.Kind != plan.ServerSim {
		t.Fatalf("%+v %v", s, err)
	}
	if release, err := s.Lock(); err != nil {
		t.Error(err)
	} else {
		release()
	}
	if _, detaches := s.Server.(server.Detacher); detaches {
		t.Error("the simulator can be left running")
	}
	if len(*said) > 0 {
		t.Errorf("%q", *said)
	}
}

// A server that wants a key gets the one that is typed; one that refuses it too is denied. What it takes of context
// bounds the plan.
func TestKeyIsAskedFor(t *testing.T) {
	wants := "Bearer typed"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != wants {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"m","max_model_len":300}]}`))
	}))
	defer srv.Close()
	r, said := request(t, "n150", plan.ServerName{Kind: plan.ServerURL, URL: srv.URL})
	r.Options.Measure.Sweep = "standard"
	s, err := session.New(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range s.Plan.Workloads {
		if w.ISL+w.OSL > 300 {
			t.Errorf("%+v is more than the server takes", w)
		}
	}
	if !strings.Contains(strings.Join(*said, "\n"), "ask OPENAI_API_KEY") {
		t.Errorf("%q", *said)
	}
	wants = "Bearer another"
	if _, err := session.New(context.Background(), r); !errors.Is(err, server.ErrDenied) {
		t.Errorf("%v", err)
	}
}

// Mistakes in a request are mistakes of usage: no device, a specification that cannot be read, a .env that is none.
func TestMistakes(t *testing.T) {
	url := plan.ServerName{Kind: plan.ServerURL, URL: "http://127.0.0.1:1"}
	for name, change := range map[string]func(*session.Request){
		"no device":        func(r *session.Request) { r.Options.System.Device = "" },
		"no specification": func(r *session.Request) { r.Spec = filepath.Join(r.Dir, "missing.json") },
		"a damaged .env": func(r *session.Request) {
			if err := os.WriteFile(filepath.Join(r.Dir, ".env"), []byte("sk-planted\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		r, _ := request(t, "n150", url)
		r.DryRun = true
		change(&r)
		var usage plan.UsageError
		if _, err := session.New(context.Background(), r); !errors.As(err, &usage) ||
			strings.Contains(err.Error(), "planted") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
