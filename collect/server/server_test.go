package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/tool"
)

func request(name, device string) Request {
	var s plan.ServerName
	if err := s.UnmarshalText([]byte(name)); err != nil {
		panic(err)
	}
	p := plan.Plan{}
	p.Model.Name = "m"
	return Request{System: plan.System{Model: "acme/m", Device: device}, Options: plan.ServerOptions{Name: s}, Plan: p}
}

// A kind that nobody starts is refused: it must never become the simulator, whatever the device is called.
func TestNewRefusesUnknownKinds(t *testing.T) {
	for _, device := range []string{"simulated", "n150"} {
		r := request("sim", device)
		r.Options.Name.Kind = "slurm"
		if s, err := New(r); err == nil || !strings.Contains(err.Error(), `"slurm"`) {
			t.Errorf("%s: %v %v", device, s, err)
		}
	}
}

// The server that --server names is started.
func TestNew(t *testing.T) {
	if s, err := New(request("http://h:1/v1", "d")); err != nil || s.(*Attached).URL != "http://h:1" {
		t.Error(s, err)
	}
	s, err := New(request("command vllm serve m --port 9", "d"))
	if c := s.(*Command); err != nil || c.URL != "http://127.0.0.1:9" ||
		strings.Join(c.CommandLine(), " ") != "vllm serve m --port 9" {
		t.Errorf("%+v %v", s, err)
	}
	s, err = New(request("sim", "simulated"))
	if sim := s.(*Simulated); err != nil || !sim.Virtual || sim.Config.Model != "m" {
		t.Errorf("%+v %v", s, err)
	}
	if _, err := New(request("sim", "n150")); !errors.As(err, &plan.UsageError{}) {
		t.Errorf("a device on the simulator: %v", err)
	}
	r := request("sim", "simulated")
	vllm, _ := tool.Named("vllm")
	r.Plan.Tools = []tool.Tool{tool.Builtin(), {Adapter: vllm}}
	if s, err = New(r); err != nil || s.(*Simulated).Virtual {
		t.Errorf("a tool cannot reach a simulator without an address: %+v %v", s, err)
	}
	offline, _ := tool.Named("throughput")
	r.Plan.Tools = []tool.Tool{{Adapter: offline, Release: "0.5"}}
	if s, err = New(r); err != nil || s.(NoServer).Stack.Engine != "vllm" || s.(NoServer).Stack.Version != "0.5" {
		t.Errorf("%+v %v", s, err)
	}
}

// The simulator of a demo release is that release's.
func TestDemoSimulator(t *testing.T) {
	r := request("sim", "simulated")
	r.System.Release, r.Plan.Model.Name = "v0.6.0", "sim-8b"
	s, err := New(r)
	if c := s.(*Simulated).Config; err != nil || c.ChunkTokens != 320 || c.Version != "v0.6.0" {
		t.Errorf("%+v %v", s, err)
	}
	r.Plan.Model.Name = "other"
	if s, _ = New(r); s.(*Simulated).Config.ChunkTokens == 320 {
		t.Error("another model got the demo's simulator")
	}
}

// A container gets what its device needs; other devices do not get it.
func TestContainerArguments(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".env"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HF_TOKEN", "hf_secret")
	t.Setenv("JWT_SECRET", "")
	r := request("docker", "n150")
	r.Dir, r.Plan.NoWarmup = dir, true
	r.Options.Image, r.Options.ContainerEngine, r.Options.Port, r.Options.ContainerPort = "img", "docker", 8123, 80
	r.Options.DeviceIDs, r.Options.NoAuth = "0,1", true
	r.Options.Volumes, r.Options.RunArgs = []string{"/a:/b"}, []string{"--network=host"}
	s, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Join(s.(*Container).CommandLine(), " ")
	for _, want := range []string{
		"docker run --name ttreport-", "-p 127.0.0.1:8123:80 --ipc host --device /dev/tenstorrent/0 --device " +
			"/dev/tenstorrent/1",
		"volume_id_tt_transformers-m:/home", "--env-file " + dir +
			"/.env --env HF_TOKEN --volume /a:/b --network=host img --model " +
			"acme/m --tt-device n150",
		"--no-auth --disable-trace-capture --service-port 8123",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("%q is not in %s", want, line)
		}
	}
	if strings.Contains(line, "hf_secret") || strings.Contains(line, "JWT_SECRET") {
		t.Errorf("a secret, or one that is not set: %s", line)
	}
	r.System.Device, r.Options.Args = "h100", []string{"--x"}
	if s, err = New(r); err != nil || !strings.HasSuffix(strings.Join(s.(*Container).CommandLine(), " "),
		":80 --volume /a:/b --network=host img --x") {
		t.Errorf("%v %v", s.(*Container).CommandLine(), err)
	}
	r.Options.Image = ""
	if _, err := New(r); err == nil || !strings.Contains(err.Error(), "needs --image") {
		t.Error(err)
	}
}

func TestIsTenstorrent(t *testing.T) {
	for device, want := range map[string]bool{"n150": true, "N300": true, "t3k": true, "p150x4": true, "h100": false,
		"cpu": false} {
		if IsTenstorrent(device) != want {
			t.Errorf("%s: %v", device, !want)
		}
	}
}

func TestCommitsInTag(t *testing.T) {
	got := tagged.FindStringSubmatch("registry.example/img:0.5.0-25305db-6e67d2d@sha256:aa")
	if len(got) != 4 || got[1] != "0.5.0" || got[2] != "25305db" || got[3] != "6e67d2d" {
		t.Error(got)
	}
	if tagged.MatchString("img:latest") {
		t.Error("a tag without commits")
	}
}

// The last log lines of a server come with advice, where it is known.
func TestLastLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "server.log")
	for _, tt := range []struct{ text, want string }{
		{"", "it printed nothing"},
		{"a\nb\n", "last log lines: / a / b"},
		{"starting\nCUDA Out Of Memory\n", "a lower concurrency"},
	} {
		if err := os.WriteFile(log, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := LastLog(log, " / "); !strings.Contains(got, tt.want) {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// A server states what it serves; the rest stays unknown.
func TestProbe(t *testing.T) {
	models := map[string]any{"data": []any{map[string]any{"id": "acme/m", "owned_by": "vllm", "max_model_len": 4096}}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer k":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/v1/models":
			_ = json.NewEncoder(w).Encode(models)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer srv.Close()
	ctx := context.Background()
	end, err := (&Attached{URL: srv.URL, Model: "m", APIKey: "k"}).Probe(ctx)
	if err != nil || end.Model != "acme/m" || end.Context != 4096 || end.Stack.Engine != "vllm" ||
		end.Stack.Version != "" {
		t.Errorf("%+v %v", end, err)
	}
	if _, err := (&Attached{URL: srv.URL}).Probe(ctx); !errors.Is(err, ErrDenied) {
		t.Error(err)
	}
	if _, err := (&Attached{URL: srv.URL, Model: "x", APIKey: "k"}).Probe(ctx); !errors.Is(err, ErrOtherModel) {
		t.Error(err)
	}
}

// The simulator on its own clock has no address, and its clock begins at the given time.
func TestVirtualSimulator(t *testing.T) {
	begin := time.Unix(1e9, 0)
	s := &Simulated{Virtual: true, Begin: begin}
	end, err := s.Start(context.Background(), "")
	if err != nil || end.URL != "" || end.Stack.Engine != SimEngine || !s.Clock.Time().Equal(begin) {
		t.Errorf("%+v %v", end, err)
	}
	s.Stop()
}

// A request to llama.cpp gets one slot of its context, which only /props states; what a server lists has precedence.
func TestContextOfASlot(t *testing.T) {
	for _, tt := range []struct {
		models, props string
		want          int
	}{
		{`{"data":[{"id":"m"}]}`, `{"default_generation_settings":{"n_ctx":4096},"total_slots":4}`, 4096},
		{`{"data":[{"id":"m","max_model_len":2048}]}`, `{"default_generation_settings":{"n_ctx":4096}}`, 2048},
		{`{"data":[{"id":"m"}]}`, `{"default_generation_settings":{"n_ctx":-1}}`, 0},
		{`{"data":[{"id":"m"}]}`, "", 0},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text := map[string]string{"/v1/models": tt.models, "/props": tt.props}[r.URL.Path]
			if text == "" {
				w.WriteHeader(http.StatusNotFound)
			}
			_, _ = w.Write([]byte(text))
		}))
		end, err := (&Attached{URL: srv.URL, Model: "m"}).Probe(context.Background())
		srv.Close()
		if err != nil || end.Context != tt.want {
			t.Errorf("%+v: %d %v", tt, end.Context, err)
		}
	}
}
