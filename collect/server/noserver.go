package server

import (
	"context"

	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// NoServer takes the place of a server if the tools of the plan have their own engine.
type NoServer struct {
	Model string
	Stack manifest.Stack // of the tool, which is the engine
}

// Start returns an endpoint without an address.
func (n NoServer) Start(context.Context, string) (Endpoint, error) {
	return Endpoint{Model: n.Model, Stack: n.Stack}, nil
}

// Stop does nothing.
func (NoServer) Stop() {}

// Died is never closed.
func (NoServer) Died() <-chan struct{} { return nil }

// LastLogLines returns nothing.
func (NoServer) LastLogLines() []string { return nil }
