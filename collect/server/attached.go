package server

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

	"github.com/ttreport/ttreport/collect/origin"
	"github.com/ttreport/ttreport/ingest/redact"
)

// Attached is a server that runs already.
type Attached struct {
	URL    string
	Model  string // served name; "" takes the only one that the server lists
	APIKey string
	Wait   time.Duration // how long to wait for it to be ready; 0: a minute
	// Waiting is called every five seconds with how long it has waited and why; may be nil.
	Waiting func(time.Duration, error)
}

// Start waits until the server is ready and reads what it states about itself. The rest stays unknown.
func (a *Attached) Start(ctx context.Context, _ string) (Endpoint, error) {
	wait := a.Wait
	if wait == 0 {
		wait = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var last error
	began := time.Now()
	next := began
	for {
		end, err := a.ready(ctx)
		if err == nil {
			return end, nil
		}
		if errors.Is(err, ErrDenied) || errors.Is(err, ErrOtherModel) || errors.Is(err, origin.ErrElsewhere) {
			return Endpoint{}, err // waiting would not help
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		if a.Waiting != nil && time.Now().After(next) {
			a.Waiting(time.Since(began), err)
			next = time.Now().Add(5 * time.Second)
		}
		select {
		case <-ctx.Done():
			return Endpoint{}, fmt.Errorf("%w after %s at %s: %w", ErrNotReady, wait, redact.URL(a.URL), last)
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// Stop does nothing: the server is not ours.
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
	if end.Context == 0 {
		end.Context = a.slot(ctx)
	}
	var version struct {
		Version string `json:"version"`
	}
	if a.get(ctx, "/version", &version) == nil {
		end.Stack.Version = version.Version
	}
	return end, nil
}

// slot returns the tokens of one request by llama.cpp's /props, which divides its context among slots; 0 for a server
// without that path.
func (a *Attached) slot(ctx context.Context) int {
	var props struct {
		Defaults struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if a.get(ctx, "/props", &props) != nil {
		return 0
	}
	return max(0, props.Defaults.Context)
}

// Probe reads a server's model and context length without a completion.
func (a *Attached) Probe(ctx context.Context) (Endpoint, error) {
	ctx, cancel := context.WithTimeout(ctx, Unresponsive)
	defer cancel()
	return a.identify(ctx)
}

// tryOne completes one small request: a server can be healthy and still unable to answer.
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
	resp, err := origin.Client(0).Do(req)
	if err != nil {
		return origin.Words(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return origin.Words(err)
	}
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		return fmt.Errorf("%w: %s %s: HTTP %d", ErrDenied, method, path, resp.StatusCode)
	}
	if resp.StatusCode != http.StatusOK {
		answer := redact.Text(string(bytes.TrimSpace(text[:min(len(text), 200)])))
		return fmt.Errorf("%s %s: HTTP %d: %s", method, path, resp.StatusCode, answer)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
