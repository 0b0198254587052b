package collect

import (
	"context"

	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Engineless stands for a server where there is none: the tools of the plan bring their own engine.
type Engineless struct {
	Model string
	Stack manifest.Stack // of the tool, which is the engine
}

// Start returns an endpoint without an address.
func (e Engineless) Start(context.Context, string) (Endpoint, error) {
	return Endpoint{Model: e.Model, Stack: e.Stack}, nil
}

// Stop has nothing to end.
func (Engineless) Stop() {}

// Died is never closed.
func (Engineless) Died() <-chan struct{} { return nil }

// LastWords are none.
func (Engineless) LastWords() []string { return nil }
