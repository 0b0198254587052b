package server

import (
	"context"

	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// NoServer is the place of a server where the tools of the plan bring their own engine.
type NoServer struct {
	Model string
	Stack manifest.Stack // of the tool, which is the engine
}

// Start returns an endpoint without an address.
func (n NoServer) Start(context.Context, string) (Endpoint, error) {
	return Endpoint{Model: n.Model, Stack: n.Stack}, nil
}

// Stop has nothing to end.
func (NoServer) Stop() {}

// Died is never closed.
func (NoServer) Died() <-chan struct{} { return nil }

// LastLogLines are none.
func (NoServer) LastLogLines() []string { return nil }
