package collect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Attached is a server that somebody else runs.
type Attached struct {
	URL    string
	Model  string // served name; "" takes the only one that the server lists
	APIKey string
	Wait   time.Duration // how long to wait for it to be ready; 0: a minute
	// Waiting is called every five seconds with the reason for the wait; may be nil.
	Waiting func(error)
}

// ErrOtherModel is returned for a server that serves, and not what is to be measured.
var ErrOtherModel = errors.New("another model is served")

// ErrNotReady is returned for a server that does not become ready in time.
var ErrNotReady = errors.New("the server is not ready")

// Start waits until the server is ready and asks it who it is. What it does not say stays unknown.
func (a *Attached) Start(ctx context.Context, _ string) (Endpoint, error) {
	wait := a.Wait
	if wait == 0 {
		wait = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var last error
	next := time.Now()
	for {
		end, err := a.ready(ctx)
		if err == nil {
			return end, nil
		}
		if errors.Is(err, ErrDenied) || errors.Is(err, ErrOtherModel) {
			return Endpoint{}, err // waiting changes nothing
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		if a.Waiting != nil && time.Now().After(next) {
			a.Waiting(err)
			next = time.Now().Add(5 * time.Second)
		}
		select {
		case <-ctx.Done():
			return Endpoint{}, fmt.Errorf("%w after %s at %s: %w", ErrNotReady, wait, a.URL, last)
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// Stop leaves the server alone: it is not ours.
func (a *Attached) Stop() {}

func (a *Attached) ready(ctx context.Context) (Endpoint, error) {
	end, err := a.identify(ctx)
	if err != nil {
		return end, err
	}
	return end, a.tryOne(ctx, end.Model)
}

func (a *Attached) identify(ctx context.Context) (Endpoint, error) {
	end := Endpoint{URL: strings.TrimSuffix(a.URL, "/"), Model: a.Model, APIKey: a.APIKey}
	var models struct {
		Data []struct {
			ID      string `json:"id"`
			OwnedBy string `json:"owned_by"`
			Context int    `json:"max_model_len"`
		} `json:"data"`
	}
	if err := a.get(ctx, "/v1/models", &models); err != nil {
		return end, err
	}
	if len(models.Data) == 0 {
		return end, errNoModel
	}
	found := false
	for _, m := range models.Data {
		if a.Model == "" || m.ID == a.Model || strings.HasSuffix(m.ID, "/"+a.Model) {
			end.Model, end.Stack.Engine, end.Context, found = m.ID, m.OwnedBy, m.Context, true
			break
		}
	}
	if !found {
		return end, fmt.Errorf("%w: the server does not serve %q; it lists %q", ErrOtherModel, a.Model, models.Data[0].ID)
	}
	var version struct {
		Version string `json:"version"`
	}
	if a.get(ctx, "/version", &version) == nil {
		end.Stack.Version = version.Version
	}
	return end, nil
}

// Look asks a server that runs already who it is and what it can take, without a completion.
func (a *Attached) Look(ctx context.Context) (Endpoint, error) {
	ctx, cancel := context.WithTimeout(ctx, deaf)
	defer cancel()
	return a.identify(ctx)
}

// tryOne completes one small request: a server can be healthy and unable to answer.
func (a *Attached) tryOne(ctx context.Context, model string) error {
	body, err := json.Marshal(map[string]any{"model": model, "prompt": "the", "max_tokens": 1})
	if err != nil {
		return err
	}
	return a.do(ctx, http.MethodPost, "/v1/completions", body, nil)
}

func (a *Attached) get(ctx context.Context, path string, into any) error {
	return a.do(ctx, http.MethodGet, path, nil, into)
}

func (a *Attached) do(ctx context.Context, method, path string, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(a.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("server address: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if a.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+a.APIKey)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		return fmt.Errorf("%w: %s %s: HTTP %d", ErrDenied, method, path, resp.StatusCode)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: HTTP %d: %s", method, path, resp.StatusCode, redact.Text(string(bytes.TrimSpace(text[:min(len(text), 200)]))))
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Simulated is the embedded simulator as a server of ours.
type Simulated struct {
	Config sim.Config
	server *sim.Server
}

// Start starts the simulator and checks it like any other server.
func (s *Simulated) Start(ctx context.Context, dir string) (Endpoint, error) {
	srv, err := sim.Start(s.Config)
	if err != nil {
		return Endpoint{}, err
	}
	s.server = srv
	end, err := (&Attached{URL: srv.URL(), Wait: 30 * time.Second}).Start(ctx, dir)
	end.Stack = manifest.Stack{Engine: simEngine, Version: end.Stack.Version}
	return end, err
}

// Stop ends the simulator.
func (s *Simulated) Stop() {
	if s.server != nil {
		s.server.Stop()
		s.server = nil
	}
}
